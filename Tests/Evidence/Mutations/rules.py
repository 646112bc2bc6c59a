"""Checks that the vectors notice when an implementation forgets a rule of the protocol.

Breaks Clients/Python in one place at a time, and runs its vector tests on the broken copy. Each rule of rules.txt is a
paragraph (of another document, with its name: EnrollmentHTTP_6.1) and what it says, followed by breaks: a file of sealed_push/protocol, the original text, and the text that
replaces it. A rule fails that has a break that no vector notices. Rules that no vector can express follow in the last
section, each with the reason.

    rules.py            breaks each rule, and writes the vectors that noticed into Tests/Vectors/Rules.md
    rules.py --check    only checks that each break has its place and that Rules.md lists the rules; takes a second

Needs the packages of Clients/Python, such as in the environment that Scripts/setup-python makes.
"""

import argparse
import multiprocessing
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CLIENT = ROOT / "Clients" / "Python"
PROTOCOL = "src/sealed_push/protocol"
MOST_NAMES = 3
LIST = pathlib.Path(__file__).with_name("rules.txt")
TABLE = ROOT / "Tests" / "Vectors" / "Rules.md"
HEAD = """# Rules and their vectors
For each rule, some vectors that fail in an implementation that forgets it. `Tests/Evidence/Mutations/rules.py` writes this
page: it breaks Clients/Python rule by rule. Sections 14 to 21 and 26 are in [ContentParts](../../Docs/ContentParts.md), those from 22 to 25 in
[Grants](../../Docs/Grants.md), and the others in the [Specification](../../Docs/Specification.md). A name without a folder is in this one.

| paragraph | rule | vectors |
|---|---|---|
"""
FOLDERS = {
    "test_pushes": "", "test_hybrid": "Hybrid/", "test_hybrid_records": "Hybrid/", "test_records_and_challenges": "Records/",
    "test_leavings": "Leavings/", "test_receipts": "Receipts/", "test_attachments": "Attachments/", "test_charts": "Charts/",
    "test_grants": "Grants/",
    "test_what_a_sender_takes": "Sealing/", "test_alerts_in_the_clear": "Text/alerts.tsv", "test_sizes": "Text/sizes.tsv",
    "test_fingerprints": "Text/fingerprints.tsv", "test_key_texts": "Text/keys.tsv",
    "test_visible_scalars": "Text/invisible.txt", "test_members_that_look_misspelled": "Members/suspects.tsv",
}  # fmt: skip
# The tests that are likely to notice a break in a file. If they don't, all are run.
LIKELY = {
    "chart.py": "charts", "receipts.py": "receipts", "visible.py": "alerts_in_the_clear visible_scalars",
    "files.py": "attachments what_a_sender_takes", "urls.py": "receipts attachments grants",
    "fingerprint.py": "fingerprints", "records.py": "records_and_challenges leavings",
    "content.py": "what_a_sender_takes members_that_look_misspelled pushes", "opening.py": "pushes", "grants.py": "grants",
    "key_text.py": "key_texts records_and_challenges hybrid_records",
}  # fmt: skip


def read():
    """Returns the rules, each as its paragraph, its text, and its breaks; and the rules without vectors, with reasons."""
    text, _, without = LIST.read_text(encoding="utf-8").partition("\n== ")
    rules = []
    for paragraph in text.split("\n\n")[1:]:
        first, *lines = paragraph.strip("\n").split("\n")
        number, _, rule = first.partition(" ")
        breaks = []
        for line in lines:
            file, _, change = line.strip().partition(": ")
            old, arrow, new = change.partition(" =>")
            if not arrow:
                sys.exit(f"{number}: a break has the form FILE: OLD => NEW, not: {line}")
            breaks.append((file + ".py", old, new[1:]))
        rules.append((number, rule, breaks))
    return rules, [line.split(" ", 1) for line in without.split("\n")[1:] if line]


def broken(file, old, new):
    text = (CLIENT / PROTOCOL / file).read_text(encoding="utf-8")
    old = old.replace("\\n", "\n")
    if text.count(old) != 1:
        sys.exit(f"rules.txt: {file} has this text {text.count(old)} times, not once: {old}")
    return text.replace(old, new.replace("\\n", "\n"))


class Enough(BaseException):
    """Enough cases have failed."""


class Result(unittest.TestResult):
    """The names of the first cases that fail."""

    def __init__(self):
        super().__init__()
        self.names = []

    def note(self, name):
        self.names.append(name)
        if len(self.names) >= MOST_NAMES:
            raise Enough

    def addFailure(self, test, error):  # noqa: N802
        self.note(test.id().rpartition(".")[2])

    addError = addFailure  # noqa: N815

    def addSubTest(self, test, subtest, error):  # noqa: N802
        if error:
            self.note(f"{test.id().rpartition('.')[2]}:{subtest._message}")


def noticed(change):
    """Returns the names of cases that fail with a break. Called in a process of its own."""
    file, old, new = change
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "sealed_push"
        shutil.copytree(CLIENT / "src" / "sealed_push", copy, ignore=shutil.ignore_patterns("__pycache__"))
        if file:
            (copy / "protocol" / file).write_text(broken(file, old, new), encoding="utf-8")
            shutil.copy(LIST.with_name("loose.py"), copy / "protocol")
        sys.dont_write_bytecode = True
        sys.path[:0] = [folder, str(CLIENT)]
        # Before the tests, which would import the client next to them.
        __import__("sealed_push.testing")
        result = Result()
        try:
            for tests in (*(f".Vectors.test_{name}" for name in LIKELY.get(file, "").split()), ""):
                unittest.defaultTestLoader.loadTestsFromName("tests.test_vectors" + tests).run(result)
                if result.names:
                    break
        except Enough:
            pass
    return result.names


def case(name):
    test, _, case = name.partition(":")
    folder = FOLDERS.get(test, test)
    return folder + case if folder == "" or folder.endswith("/") else folder


def row(number, rule, names):
    cases = list(dict.fromkeys(map(case, names)))
    # A test that fails as a whole is named only if no case is.
    cases = [each for each in cases if each and not each.endswith("/")] or cases
    own = [each for each in cases if not each.startswith("Hybrid/")] or cases
    few = sorted(own, key=lambda each: (each.startswith("good-"), len(each), each))[:3]
    return f"| {number.replace('_', ' ')} | {rule} | {', '.join(f'`{each}`' for each in few)} |\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true")
    options.add_argument("--only", metavar="PARAGRAPH")
    options = options.parse_args()
    rules, without = read()
    for number, rule, breaks in rules:
        for change in breaks:
            broken(*change)
    if options.check:
        listed = re.findall(r"^\| ((?:\w+ )?[0-9.]+) \| (.*?) \|", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
        if listed[: len(rules)] != [(number.replace("_", " "), rule) for number, rule, _ in rules]:
            sys.exit("Tests/Vectors/Rules.md doesn't list the rules of rules.txt; run rules.py")
        return
    rules = [each for each in rules if options.only is None or each[0] == options.only]
    missed, table = 0, HEAD
    for module in ("cryptography.hazmat.primitives.asymmetric.x25519", "nacl.public", "nacl.signing", "json", "hashlib"):
        __import__(module)
    # Each process is forked, with the packages loaded, and runs one break.
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        if pool.apply(noticed, [(None, None, None)]):
            sys.exit("the vectors fail in the unbroken client")
        runs = {change: pool.apply_async(noticed, [change]) for _, _, breaks in rules for change in breaks}
        for number, rule, breaks in rules:
            names = []
            for change in breaks:
                found = runs[change].get()
                names += found
                if not found:
                    missed += 1
                    print(f"no vector notices: {number} {rule}: {change[0]}: {change[1]} => {change[2]}", flush=True)
            table += row(number, rule, names)
    print(f"{len(rules)} rules, {len(runs)} breaks, {missed} unnoticed")
    if options.only is None:
        table += "\n## Without vectors\n| paragraph | why |\n|---|---|\n"
        table += "".join(f"| {number} | {why} |\n" for number, why in without)
        TABLE.write_text(table, encoding="utf-8")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
