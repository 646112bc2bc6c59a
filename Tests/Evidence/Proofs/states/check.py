#!/usr/bin/env python3
"""Checks the models of this folder with SPIN, and checks that each of their lines matters.

For each model, SPIN visits every state of the honest model: no claim may fail, no process may get stuck, no line may be
unreachable. There must be as many states as the model's first comment says, so a change that narrows the world is noticed.
Then it visits the model again with one line removed or altered at a time: a claim must fail. Prints one row for each
verdict, separated by tabs: model, claim, expected, verdict, seconds. Exits with 1 if a verdict isn't the expected.

A line that ends with a paragraph's number is a rule of the protocol. These alterations of it are tried:

    :: guard -> a; b    the guard is false (never), or true (always); each comparison moves by one; a or b is left out
    a; b;               a or b is left out

A line that ends with `env` and a number is what the world does. Without it, some broken variant must no longer be found,
or a line that ends with `reached` and a colon is not reached. SPIN must not merge statements (-o3), or it would not report each line.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
MODELS = ("ledger", "rotation", "leases", "enrollment", "leaving")
MARK = re.compile(r"^(\s*)(.*?)\s*/\* ((?:env )?(?:[A-Z]\w+ )?\d+(?:\.\d+)*(?: .*)?) \*/$")
COMPARISON = re.compile(r"<=|>=|(?<![-<])>(?!=)|<(?!=)")
SHIFTED = {"<=": "<", "<": "<=", ">=": ">", ">": ">="}
EXEMPT = re.compile(r"\(harmless: (.*)\)$")

# The alteration to apply is read when the program starts, so that each model is compiled once.
SWITCH = r"""c_decl {
\#include <stdlib.h>
static int first, second;
__attribute__((constructor)) static void choose(void) {
    char *a = getenv("FIRST"), *b = getenv("SECOND"); first = a ? atoi(a) : 0; second = b ? atoi(b) : 0; }
}
"""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One alteration of one line."""

    number: int
    line: int
    label: str
    change: str
    harmless: bool

    @property
    def is_world(self) -> bool:
        return self.label.startswith("env")

    def __str__(self) -> str:
        return f"{self.label}, line {self.line}: {self.change}"


def pieces(text: str, separator: str) -> list[str]:
    """Splits at a separator outside of parentheses and braces."""
    found, depth, start, index = [], 0, 0, 0
    while index < len(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(text[index], 0)
        if depth == 0 and text.startswith(separator, index):
            found.append(text[start:index].strip())
            start = index = index + len(separator)
        else:
            index += 1
    return found + [text[start:].strip()]


class Model:
    """A model with its alterations, each behind a switch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.variants: list[Variant] = []
        text = (FOLDER / f"{name}.pml").read_text()
        self.states = int(re.search(r"There are ([\d,]+) states\.", text).group(1).replace(",", ""))
        lines = text.splitlines()
        self.witnesses = {number for number, text in enumerate(lines, 1) if "/* reached: " in text}
        self.source = SWITCH + "\n".join(self._line(text, number) for number, text in enumerate(lines, 1)) + "\n"

    def _line(self, text: str, number: int) -> str:
        mark = MARK.match(text)
        if not mark:
            return text
        indent, code, label = mark.groups()
        harmless = EXEMPT.search(label)
        allowed = harmless.group(1).split(":")[0].split(", ") if harmless else []
        label = EXEMPT.sub("", label).strip()

        def switch(change: str) -> str:
            self.variants.append(Variant(len(self.variants) + 1, number, label, change, change in allowed))
            count = len(self.variants)
            return f"c_expr {{ first == {count} || second == {count} }}"

        def statements(code: str) -> str:
            kept = []
            for statement in pieces(code, ";"):
                if statement and not statement.startswith("assert") and statement != "skip":
                    statement = f"if :: {switch('without ' + statement)} :: else -> {statement} fi"
                kept.append(statement)
            return "; ".join(kept)

        option = re.match(r":: ((?:atomic|step|d_step) \{ )?", code)
        if not option:
            end = "}" if code.endswith("}") and code.count("}") == code.count("{") + 1 else ""
            code = code.removesuffix(end).rstrip()
            if code.count("{") != code.count("}"):
                raise SystemExit(f"{self.name}.pml:{number}: a rule of several statements needs a line of its own")
            return f"{indent}{statements(code)} {end}"
        opening, rest = option.group(0), code[option.end():]
        closing = "}" if option.group(1) and rest.endswith("}") and rest.count("{") < rest.count("}") else ""
        guard, *action = pieces(rest[: len(rest) - len(closing)], "->")
        written = guard
        if guard not in ("true", "else"):
            if not label.startswith("env"):
                for found in COMPARISON.finditer(written):
                    moved = written[: found.start()] + SHIFTED[found.group()] + written[found.end():]
                    guard = f"({switch(f'{moved}')} -> ({moved}) : ({guard}))"
                guard = f"({switch('always')} || ({guard}))"
            guard = f"(!{switch('never')} && ({guard}))"
        elif not action:
            raise SystemExit(f"{self.name}.pml:{number}: nothing to alter")
        if action and not label.startswith("env"):
            action = [statements(" -> ".join(action))]
        return f"{indent}{opening}{' -> '.join([guard] + action)} {closing}"

    def build(self, folder: pathlib.Path) -> None:
        self.folder = folder
        (folder / "model.pml").write_text(self.source)
        for command in (
            ["spin", "-a", "-o3", "model.pml"],
            ["gcc", "-O1", "-w", "-DSAFETY", "-DNOFAIR", "-DVECTORSZ=1024", "-o", "pan", "pan.c"],
        ):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{self.name}: {' '.join(command)}\n{done.stdout}{done.stderr}")

    def verdict(self, first: int = 0, second: int = 0) -> tuple[str, str]:
        """Returns `holds`, `fails`, or `unknown`, and what the search said."""
        choice = os.environ | {"FIRST": str(first), "SECOND": str(second)}
        done = subprocess.run(
            ["./pan", "-w22", "-m1000000"], cwd=self.folder, capture_output=True, text=True, env=choice,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))  # Not of the clock: the machine may be busy.
        if done.returncode < 0:
            return "unknown", "more than 60 seconds"
        errors = re.search(r"errors: (\d+)", done.stdout)
        reason = re.search(r"pan:1: (.*) \(at depth", done.stdout)
        if errors and int(errors.group(1)):
            return "fails", reason.group(1) if reason else done.stdout
        isWhole = errors and "Search not completed" not in done.stdout
        return ("holds", done.stdout) if isWhole else ("unknown", done.stdout[:200])


def unreached(model: Model, output: str) -> list[str]:
    """Returns the lines that no instance of them reaches: SPIN expands an inline wherever it is used."""
    table = subprocess.run(["./pan", "-d"], cwd=model.folder, capture_output=True, text=True).stdout
    instances = collections.Counter(re.findall(r"state\s+\d+ -\(.*\] \S+?:(\d+) => (.*)", table))
    missed = collections.Counter(re.findall(r"^\s+\S+?:(\d+), state \d+, \"(.*)\"$", output, re.M))
    return [f"{line - SWITCH.count(chr(10))}: {text}" for (line, text), count in
            sorted(((int(line), text), count) for (line, text), count in missed.items())
            if text != "-end-" and "first ==" not in text and text != "else" and count >= instances[str(line), text]]


def row(model: str, claim: str, expected: str, verdict: str, start: float) -> bool:
    print(f"{model}\t{claim}\t{expected}\t{verdict}\t{time.monotonic() - start:.1f}", flush=True)
    return verdict == expected


def check(model: Model, everything: bool, verbose: bool) -> bool:
    start = time.monotonic()
    model.build(pathlib.Path(tempfile.mkdtemp(dir=model.scratch)))
    verdict, output = model.verdict()
    if verdict == "holds":
        states = int(re.search(r"(\d+) states, stored", output).group(1))
        verdict = "holds" if states == model.states else f"{states:,} states"
        missing = unreached(model, output)
        good = row(model.name, f"every claim, in {model.states:,} states", "holds", verdict, start)
        good &= row(model.name, "every line is reached", "holds", "; ".join(missing) or "holds", start)
    else:
        return row(model.name, "every claim", "holds", f"{verdict}: {output}", start)
    found, reasons = [], {}
    start = time.monotonic()
    rules = [variant for variant in model.variants if not variant.is_world]
    if not everything:
        rules = list({variant.line: variant for variant in reversed(rules) if not variant.harmless}.values())[::-1]
    for variant in rules:
        one = time.monotonic()
        verdict, reason = model.verdict(variant.number)
        if verdict == "fails":
            found.append(variant)
            reasons.setdefault(reason, []).append(variant)
        if verbose or not everything or (verdict == "fails") == variant.harmless:
            good &= row(model.name, str(variant), "holds" if variant.harmless else "fails", verdict, one)
    row(model.name, f"{len(found)} of {len(rules)} alterations are found", "-", "-", start)
    if verbose:
        for reason, variants in reasons.items():
            print(f"{model.name}\t{len(variants)} by {reason}")
    if not everything:
        return good
    for variant in model.variants:
        if variant.is_world and not variant.harmless:
            one = time.monotonic()
            verdict, output = model.verdict(0, variant.number)
            noticed = "the honest model" if verdict == "fails" else next(
                (line for line in unreached(model, output) if int(line.split(":")[0]) in model.witnesses), None) or next(
                (other for other in found if model.verdict(other.number, variant.number)[0] == "holds"), None)
            good &= row(model.name, str(variant), "matters", "matters" if noticed else "dead", one)
            if verbose and noticed:
                print(f"{model.name}\t  hides {noticed}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--mutate", action="store_true", help="also remove what the world does: some variant must hide")
    parser.add_argument("--verbose", action="store_true", help="print a row for each alteration")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.models:
            model = Model(name)
            model.scratch = scratch
            good &= check(model, options.mutate, options.verbose)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
