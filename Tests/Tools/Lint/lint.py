"""Checks the words, names, and structure of the checkout. Called by Scripts/lint, which documents it.

Each rule is a function of a Tree that yields findings: the file, and what is wrong in it. Each rule has samples, small trees
in which it must find something; every run tests them first, so a rule that finds nothing can't go unnoticed.
"""

import subprocess
import sys
from pathlib import Path

import architecture
import documents
import english
import examples


class Tree:
    """The texts of a checkout's files, by their paths."""

    def __init__(self, texts):
        self.texts = texts

    @classmethod
    def checkout(cls):
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True,
            text=True).stdout.split("\0")
        texts = {}
        for name in sorted(set(names)):
            if name and Path(name).is_file():
                try:
                    texts[name] = Path(name).read_text()
                except UnicodeDecodeError:
                    texts[name] = ""
        return cls(texts)

    def files(self, folder="", ending=""):
        """Yields the paths and texts of the files below a folder, or in the checkout, with an ending."""
        for path, text in self.texts.items():
            if path.startswith(folder + "/" if folder else "") and path.endswith(ending):
                yield path, text

    def exists(self, path):
        """Whether a file or a folder has this path."""
        path = path.rstrip("/")
        return path in self.texts or any(name.startswith(path + "/") for name in self.texts)


def place(tree, path, problem):
    """Returns the file and, if the file contains what the problem quotes or ends with, its line."""
    text = tree.texts.get(path, "")
    for words in (problem.partition("“")[2].partition("”")[0], problem.rpartition(": ")[2], problem.rpartition(" ")[2]):
        if words and words in text:
            return f"{path}:{text[:text.index(words)].count(chr(10)) + 1}"
    return path


def forgotten():
    """Returns a finding for each file of the tests' data that git ignores and doesn't have, such as a keyring's."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", "Tests/Data", "Tests/Vectors"],
        check=True, capture_output=True, text=True).stdout.split("\0")
    return [f"{name}: git ignores it, so a clone lacks it; use `git add --force`" for name in names if name]


def main():
    rules = [rule for module in (english, documents, architecture, examples) for rule in module.RULES]
    for rule, samples in rules:
        for sample in samples:
            if not list(rule(Tree(sample))):
                sys.exit(f"lint: the rule {rule.__module__}.{rule.__name__} finds nothing in its sample {sample}")
    tree = Tree.checkout()
    findings = [
        f"{place(tree, path, problem)}: {problem}" for rule, _ in rules for path, problem in rule(tree)] + forgotten()
    print("\n".join(findings + [f"{len(rules)} rules, {len(tree.texts)} files, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
