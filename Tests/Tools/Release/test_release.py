"""Runs Scripts/release in a small repository, as a dry run, and in full with stand-ins for what builds Swift. Run by ReleaseTests."""

import json
import os
import re
import shutil
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

import made
from test_repository import OTHER, OWN, Apt, key

PAGE = (made.CHECKOUT / "Docs/Releasing.md").read_text()
VERSION = re.search(
    r'let number = "(.*)"', (made.CHECKOUT / "Sources/Commands/CommandSupport/Version.swift").read_text())[1]
CHANGES = f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-01-31\n\n### Added\n- The first thing.\n\n## [0.0.1] - 2025-01-31\n- Old.\n"


class ReleaseTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The environment's packages, which the small repository shares.
        made.run("bash", made.CHECKOUT / "Scripts/setup-python", check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"
        self.checkout = self.folder / "checkout"
        (self.folder / "scratch").mkdir()
        for name in ("Clients", "Packaging", "Scripts"):
            shutil.copytree(made.CHECKOUT / name, self.checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Docs/Dependencies.md", "Tests/Vectors/README.md", "Sources/Commands/CommandSupport/Version.swift", ".gitignore"):
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made.CHECKOUT / name, self.checkout / name)
        (self.checkout / ".build").mkdir()
        (self.checkout / ".build/python").symlink_to(made.CHECKOUT / ".build/python")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.write("CHANGELOG.md", CHANGES)
        # A release must not build Swift in these tests.
        made.stand_in(self.folder / "bin/swift", f"touch '{self.folder}/swift-was-called'")

    def tearDown(self):
        self.assertFalse((self.folder / "swift-was-called").exists())
        self.assertEqual([path.name for path in (self.folder / "scratch").iterdir()], [], "a secret key may be left behind")

    def git(self, *words):
        user = ("-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "core.hooksPath=/dev/null")
        return made.run("git", *user, "-C", self.checkout, *words, check=True).stdout.strip()

    def write(self, name, text):
        """Commits a file."""
        path = self.checkout / name
        executable = path.exists() and os.access(path, os.X_OK)
        path.write_text(text)
        path.chmod(0o755 if executable else 0o644)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"Change {name}")

    @property
    def commit(self):
        return self.git("rev-parse", "HEAD")[:12]

    def call(self, *words):
        environment = os.environ | {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "TMPDIR": str(self.folder / "scratch"),
            "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Test",
            "GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "test@localhost"}
        return made.run(*words, env=environment, cwd=self.folder)

    def release(self, *words, version=VERSION, dry=True):
        return self.call("bash", self.checkout / "Scripts/release", version, self.out, *words, *(["--dry-run"] if dry else []))

    def documented(self, words):
        """Runs a command of Docs/Releasing.md for this version."""
        [command] = [line.strip() for line in PAGE.splitlines() if line.strip().startswith("Scripts/release ") and words in line]
        self.assertIn(" 0.1.0 ", command)
        return self.call("bash", "-c", f"'{self.checkout}'/{command.replace(' 0.1.0 ', f' {VERSION} ')}")

    def packages(self, architecture, name="packages", **details):
        details = {"version": VERSION, "commit": self.commit} | details
        return made.packages(self.folder / f"{name}-{architecture}", architecture, **details)

    def files(self):
        return sorted(path.name for path in self.out.iterdir() if path.is_file())

    def verify(self, public_key):
        """Checks the checksums and their signature as Docs/Install.md says."""
        made.run("minisign", "-V", "-m", "SHA256SUMS", "-p", public_key, cwd=self.out, check=True)
        made.run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.out, check=True)
        listed = [line.split("  ")[1] for line in (self.out / "SHA256SUMS").read_text().splitlines()]
        self.assertEqual(sorted(listed), [name for name in self.files() if not name.startswith("SHA256SUMS")])

    clients = [f"sealed-push-{VERSION}.tgz", f"sealed_push-{VERSION}-py3-none-any.whl", f"sealed_push-{VERSION}.tar.gz"]

    # What it makes

    def test_a_dry_run_makes_everything_but_what_builds_swift_and_tags_nothing(self):
        result = self.documented("--dry-run")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.out = self.checkout / ".build/release-files"
        self.assertEqual(self.files(), ["SHA256SUMS", "SHA256SUMS.minisig", "dry-run.pub", *self.clients])
        self.verify(self.out / "dry-run.pub")
        for script in ("Scripts/package", "Scripts/docs"):
            self.assertRegex(result.stdout, rf"skipped, since it builds Swift \({script}")
        self.assertIn("let package = Package(", (self.out / "device/Package.swift").read_text())
        self.assertIn("Nothing was uploaded", result.stdout)
        self.assertEqual(self.git("tag"), "")
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_packages_of_two_architectures_get_into_the_release_and_its_repository(self):
        folders = [self.packages(name) for name in (OWN, OTHER)]
        result = self.release("--packages", folders[0], "--packages", folders[1])
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        expected = {path.name for folder in folders for path in folder.iterdir()} | {*self.clients, "SHA256SUMS.minisig", "dry-run.pub"}
        self.assertEqual(set(self.files()), expected)
        self.assertEqual(len(expected), 8 + 1 + 3 + 2)
        self.verify(self.out / "dry-run.pub")
        self.assertNotIn("(Scripts/package", result.stdout)
        for name in (OWN, OTHER):
            apt = Apt(self.folder / f"apt-{name}", self.out / "apt", self.out / "apt/sealed-push.gpg", name)
            self.assertTrue(apt.update()[0])
            self.assertEqual(apt("download", "sealed-push", "device-simulator").returncode, 0)

    def test_a_release_contains_the_builds_is_signed_with_the_given_keys_and_tagged_last(self):
        built = self.packages(OWN, "built")
        built_files = sorted(path.name for path in built.iterdir())
        made.run("minisign", "-G", "-W", "-p", self.folder / "public", "-s", self.folder / "minisign.key", check=True)
        apt_key = key(self.folder, "maintainer").rename(self.folder / "archive-key.gpg")
        # The stand-ins are part of the commit, so the packages are made again, of that commit.
        for name, script in {
            "package": f"[ \"$2 $3\" = \"--commit $(git rev-parse HEAD)\" ] && [ -z \"$(git tag)\" ] && cp -r '{built}' \"$1\"",
            "docs": "mkdir -p .build/documentation && echo page >.build/documentation/index.html",
            "device-package": "[ ! -e fails ] && git rev-parse --verify --quiet \"refs/tags/$3\" && mkdir \"$1\" && echo \"$2\" >\"$1/made\"",
        }.items():
            made.stand_in(self.checkout / "Scripts" / name, script)
        self.write("CHANGELOG.md", CHANGES)
        shutil.rmtree(built)
        self.packages(OWN, "built")
        # As the page calls it.
        self.packages(OTHER).rename(self.folder / "packages-arm64")
        self.out = self.folder / "dist"
        result = self.documented("--packages")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.verify(self.folder / "public")
        with tarfile.open(self.out / f"sealed-push-documentation_{VERSION}.tar.xz") as archive:
            self.assertIn("./index.html", archive.getnames())
        self.assertEqual((self.out / "device/made").read_text(), "--tag\n")
        self.assertTrue(set(built_files) <= set(self.files()))
        self.assertEqual(self.git("rev-parse", f"{VERSION}^{{commit}}"), self.git("rev-parse", "HEAD"))
        self.assertEqual(
            self.git("tag", "--list", "--format", "%(contents)", VERSION),
            f"Sealed Push {VERSION}\n\n### Added\n- The first thing.")
        # The repository of the next release keeps this one's packages.
        before = {path.name for path in (self.out / "apt/pool").iterdir()}
        self.assertEqual(len(before), 4)
        repository = self.folder / "published"
        shutil.copytree(self.out / "apt", repository)
        shutil.rmtree(self.out)
        for name in ("Sources/Commands/CommandSupport/Version.swift", "Clients/Node/package.json", "Clients/Python/src/sealed_push/__init__.py"):
            self.write(name, (self.checkout / name).read_text().replace(f'"{VERSION}"', '"99.0.0"'))
        self.write("CHANGELOG.md", CHANGES.replace(f"[{VERSION}]", "[99.0.0]"))
        next_packages = self.packages(OWN, "next", version="99.0.0")
        keys = ("--key", self.folder / "minisign.key", "--apt-key", apt_key)
        result = self.release(
            *keys, "--packages", next_packages, "--repository", repository, version="99.0.0", dry=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(len({path.name for path in (self.out / "apt/pool").iterdir()} - before), 2)
        self.assertEqual(self.git("tag"), f"{VERSION}\n99.0.0")
        # A release that fails at its end leaves no tag.
        self.git("tag", "--delete", "99.0.0")
        shutil.rmtree(self.out)
        self.write(".gitignore", "/.build\n/fails\n")
        (self.checkout / "fails").touch()
        shutil.rmtree(next_packages)
        next_packages = self.packages(OWN, "next", version="99.0.0")
        result = self.release(*keys, "--packages", next_packages, version="99.0.0", dry=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("is ready", result.stdout)
        self.assertEqual(self.git("tag"), VERSION)

    def test_the_clients_packages_are_the_same_each_time_and_have_the_version_and_the_readme(self):
        folders = [self.folder / name for name in ("a", "b")]
        for folder in folders:
            result = made.run("bash", self.checkout / "Scripts/client-packages", folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout.split(), self.clients)
        for name in self.clients:
            self.assertEqual(*((folder / name).read_bytes() for folder in folders))
        with tarfile.open(folders[0] / self.clients[0]) as archive:
            manifest = json.load(archive.extractfile("package/package.json"))
            self.assertEqual((manifest["name"], manifest["version"]), ("sealed-push", VERSION))
            names = set(archive.getnames())
            self.assertTrue({"package/README.md", "package/src/index.js", "package/src/index.d.ts"} <= names)
            # Tests, benchmarks, and secrets of a checkout aren't published.
            self.assertTrue(all(re.fullmatch(r"package/(src/.*|README\.md|package\.json)", name) for name in names))
        with zipfile.ZipFile(folders[0] / self.clients[1]) as archive:
            metadata = archive.read(f"sealed_push-{VERSION}.dist-info/METADATA").decode()
            self.assertIn(f"\nName: sealed-push\nVersion: {VERSION}\n", metadata)
            self.assertIn("sealed_push/py.typed", archive.namelist())
        with tarfile.open(folders[0] / self.clients[2]) as archive:
            self.assertIn(f"sealed_push-{VERSION}/tests/vectors/README.md", archive.getnames())

    # What it refuses

    def refused(self, *words, says, version=VERSION, status=65):
        result = self.release(*words, version=version)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertEqual(self.git("tag", "--list", version), "" if "The tag" not in "".join(says) else version)
        if self.out.exists():
            self.assertNotIn("SHA256SUMS", self.files())
            shutil.rmtree(self.out)

    def test_it_names_everything_that_is_not_ready_at_once(self):
        self.git("tag", "99.0.0")
        (self.checkout / "CHANGELOG.md").write_text(CHANGES + "- More.\n")
        self.refused(version="99.0.0", says=[
            "There are uncommitted changes.", "The tag 99.0.0 exists.", f"Version.swift has the version {VERSION}.",
            'CHANGELOG.md doesn\'t begin with "## [99.0.0] - YYYY-MM-DD"'])

    def test_a_changelog_without_the_versions_dated_entry_is_refused(self):
        for changes in (
            CHANGES.replace("- 2026-01-31", "- soon"),
            CHANGES.replace("[Unreleased]\n", "[Unreleased]\n- Not yet released.\n"),
            CHANGES.replace("- The first thing.\n", ""),
            CHANGES.replace(f"## [{VERSION}] - 2026-01-31\n", ""),
            CHANGES.replace("## [Unreleased]\n", "## [99.0.0] - 2026-02-01\n- Later.\n"),
            CHANGES.replace(f"[{VERSION}]", f"[{VERSION}1]"),
        ):
            with self.subTest(changes):
                self.write("CHANGELOG.md", changes)
                self.refused(says=["CHANGELOG.md doesn't begin with"])
        self.write("CHANGELOG.md", CHANGES.replace("## [Unreleased]\n", ""))
        self.assertEqual(self.release().returncode, 0)

    def test_a_client_with_another_version_is_refused(self):
        name = "Clients/Node/package.json"
        self.write(name, (self.checkout / name).read_text().replace(f'"{VERSION}"', '"99.0.0"'))
        self.refused(says=[f"Clients doesn't give sealed-push-{VERSION}.tgz"])

    def test_packages_of_another_commit_or_version_or_altered_ones_are_refused(self):
        def altered(folder):
            path = folder / f"sealed-push_{VERSION}_{OTHER}.deb"
            path.write_bytes(path.read_bytes()[:-1] + b"x")

        def added(folder):
            (folder / "more.deb").write_text("")

        def removed(folder):
            next(folder.glob("*.oci.tar")).unlink()

        def unlisted(folder):
            (folder / "SHA256SUMS").unlink()

        def renamed(folder):
            (folder / "notes.txt").write_text("")
            made.run("sh", "-c", "rm SHA256SUMS; sha256sum -- * >../sums; mv ../sums SHA256SUMS", cwd=folder, check=True)

        for attack, says in (
            (altered, "don't match"), (added, "doesn't list"), (removed, "don't match"), (unlisted, "don't match"),
            (renamed, "notes.txt isn't a file of Scripts/package"),
        ):
            with self.subTest(attack.__name__):
                folder = self.packages(OTHER, attack.__name__)
                attack(folder)
                self.refused("--packages", folder, says=[says])
        for name, details in {"commit": {"commit": "0" * 12}, "version": {"version": "99.0.0"}}.items():
            folder = self.packages(OTHER, name, **details)
            self.refused("--packages", folder, says=["doesn't have packages of version"])
        folder = self.packages(OTHER, "twice")
        self.refused("--packages", folder, "--packages", folder, says=["Two folders have"])

    def test_a_release_needs_keys_and_a_version_of_three_numbers(self):
        self.assertEqual(self.release(dry=False).returncode, 64)
        for version in ("1.0", f"v{VERSION}", "1.0.0-beta", "01.0.0", "1.0.0.0", ""):
            self.assertEqual(self.release(version=version).returncode, 64, version)
        self.out.mkdir()
        (self.out / "mine").write_text("mine")
        self.assertEqual(self.release().returncode, 74)
        self.assertEqual((self.out / "mine").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
