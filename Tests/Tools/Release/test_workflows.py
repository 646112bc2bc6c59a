"""Checks what each workflow may do, and how the one that publishes does it. Run by ReleaseTests with the Python of
Scripts/setup-python. AppleProjectTests compares their form with GitHub's schema."""

import re
import unittest

import made
from ruamel.yaml import YAML

FOLDER = made.CHECKOUT / ".github/workflows"
TEXTS = {path.name: path.read_text() for path in sorted(FOLDER.iterdir())}
DOCUMENTED = re.findall(
    r"\[([\w-]+)\]\(https://github\.com/([\w./-]+)\)\s+([\d.]+)\b",
    (made.CHECKOUT / "Docs/Dependencies.md").read_text().partition("\n## In CI\n")[2].partition("\n## ")[0])
TAGS = {"push": {"tags": ["[0-9]+.[0-9]+.[0-9]+"]}}
PUBLISHING = {"pypi", "npm"}


def findings(name, text):
    """Yields what is wrong with a workflow."""
    # Version 1.2 of YAML reads `on` as text.
    flow = YAML(typ="safe").load(text)
    if flow.get("permissions") != {"contents": "read"}:
        yield "a workflow may only read the repository"
    if "pull_request_target" in flow["on"] or "workflow_run" in flow["on"]:
        yield "others' code could run with this repository's rights"
    if re.search(r"\$\{\{[^}]*\bsecrets\b|secrets: inherit", text):
        yield "a workflow needs no secret"
    for line in text.split("\n"):
        if "uses:" not in line:
            continue
        match = re.fullmatch(r" *(?:- )?uses: ([\w./-]+)@[0-9a-f]{40}  # v([\d.]+)", line)
        if not match:
            yield f"an action must be pinned by its commit, with its version as a comment: {line.strip()}"
        elif match.groups() not in {(path, version) for _, path, version in DOCUMENTED}:
            yield f"Docs/Dependencies.md doesn't list {match[1]} {match[2]}"
    for key, job in flow["jobs"].items():
        if not isinstance(job.get("timeout-minutes"), int):
            yield f"{key} has no timeout"
        if "latest" in str(job.get("runs-on")) + str(job.get("container")) + str(job.get("strategy")):
            yield f"{key} runs on a moving image"
        allowed = {"id-token": "write"} if name == "publish.yml" and key in PUBLISHING else None
        if job.get("permissions") != allowed:
            yield f"{key} has the wrong permissions"
        for step in job["steps"]:
            action = step.get("uses", "").partition("@")[0]
            if action == "actions/checkout" and step.get("with", {}).get("persist-credentials") is not False:
                yield f"{key} leaves the checkout's token behind"
            # A name that an outsider chose would become part of the script.
            for expression in re.findall(r"\$\{\{(.*?)\}\}", step.get("run", "")):
                if not expression.strip().startswith("matrix."):
                    yield f"{key} puts {expression.strip()} into a script; pass it as a variable"
    if name == "publish.yml":
        yield from publishing(flow)


def publishing(flow):
    """Yields what is wrong with how the clients are published."""
    if flow["on"] != TAGS:
        yield "only a version's tag may publish"
    jobs = flow["jobs"]
    if set(jobs) != {"build", *PUBLISHING}:
        yield "one job builds, and one publishes for each registry"
        return
    scripts = "\n".join(step.get("run", "") for step in jobs["build"]["steps"])
    for words in ('merge-base --is-ancestor "$GITHUB_SHA" origin/main', 'Scripts/client-packages dist --commit "$GITHUB_SHA"',
                  "sealed-push-$GITHUB_REF_NAME.tgz", "sealed_push-$GITHUB_REF_NAME-py3-none-any.whl"):
        if words not in scripts:
            yield f"build doesn't contain {words}"
    if "publish " in scripts:
        yield "build must not publish"
    for name in PUBLISHING:
        job, steps = jobs[name], jobs[name]["steps"]
        if job.get("needs") != "build" or job.get("environment") != name:
            yield f"{name} must wait for the build and for its environment's approval"
        if steps[0].get("uses", "").partition("@")[0] != "actions/download-artifact" or steps[0]["with"]["name"] != name:
            yield f"{name} must publish what was built"
        others = [step.get("run") or step["uses"].partition("@")[0] for step in steps[1:]]
        expected = {
            "pypi": ["pypa/gh-action-pypi-publish"],
            "npm": ["actions/setup-node", "npm publish ./npm/*.tgz --provenance --access public --ignore-scripts"],
        }[name]
        if others != expected:
            yield f"{name} may only publish: {others}"
        options = steps[-1].get("with", {})
        if name == "pypi" and options != {"packages-dir": "pypi", "attestations": True}:
            yield "pypi must publish with attestations, to PyPI itself, and without a password"
    node = jobs["npm"]["steps"][1].get("with", {})
    if node.get("registry-url") != "https://registry.npmjs.org" or int(node["node-version"].split(".")[0]) < 24:
        yield "npm publishes to npm's own registry, with a Node whose npm supports trusted publishing"


class WorkflowTests(unittest.TestCase):
    def test_each_workflow_is_pinned_and_may_do_no_more_than_it_needs(self):
        self.assertGreaterEqual(set(TEXTS), {"apple.yml", "evidence.yml", "linux.yml", "packages.yml", "publish.yml"})
        for name, text in TEXTS.items():
            self.assertEqual(list(findings(name, text)), [], name)

    def test_each_mistake_in_a_workflow_is_found(self):
        self.assertEqual(len(DOCUMENTED), 5)
        for name, old, new in (
            ("linux.yml", "  contents: read", "  contents: write"),
            ("linux.yml", "  pull_request:", "  pull_request_target:"),
            ("linux.yml", "@34e114876b0b11c390a56381ad16ebd13914f8d5  # v4.3.1", "@v4"),
            ("linux.yml", "  # v4.3.1", "  # v4.3.0"),
            ("linux.yml", "    timeout-minutes: 60\n", ""),
            ("linux.yml", "runs-on: ubuntu-24.04", "runs-on: ubuntu-latest"),
            ("linux.yml", "persist-credentials: false", "persist-credentials: true"),
            ("linux.yml", "run: Scripts/demo", "run: echo ${{ github.head_ref }}"),
            ("linux.yml", "run: Scripts/demo", "run: echo ${{ secrets.TOKEN }}"),
            ("publish.yml", '  push:\n    tags: ["[0-9]+.[0-9]+.[0-9]+"]', "  push:\n    branches: [main]"),
            ("publish.yml", "    environment: pypi\n", ""),
            ("publish.yml", "    environment: npm\n", "    environment: pypi\n"),
            ("publish.yml", "      id-token: write", "      id-token: write\n      contents: write"),
            ("publish.yml", "    permissions:\n      id-token: write\n", ""),
            ("publish.yml", "          attestations: true", "          attestations: false"),
            ("publish.yml", "          attestations: true", "          password: x"),
            ("publish.yml", " --provenance", ""),
            ("publish.yml", "    needs: build\n", ""),
            ("publish.yml", " origin/main", " HEAD"),
            ("publish.yml", "      - name: Publish\n", "      - run: ./install\n      - name: Publish\n"),
            ("publish.yml", "https://registry.npmjs.org", "https://registry.example.com"),
            ("publish.yml", "          name: npm\n          path: npm\n      # T", "          name: pypi\n          path: npm\n      # T"),
        ):
            with self.subTest(f"{name}: {new}"):
                self.assertIn(old, TEXTS[name])
                # The last place alone.
                start, _, end = TEXTS[name].rpartition(old)
                self.assertNotEqual(list(findings(name, start + new + end)), [])


if __name__ == "__main__":
    unittest.main()
