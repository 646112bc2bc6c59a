#!/usr/bin/env python3
"""Checks every verdict of the symbolic proofs with neither E nor cvc5, and prints a row for each.

A claim that holds has a finite model: tables in which every clause is true and the goal is never reached. So no number of
runs derives the goal. An attack or a run has a derivation: steps, each a clause and its variables' values.
Usage: check.py [--refute]   With --refute, E must also refute each attack and run, from the clauses of its derivation.
Each row: the claim's name, its text, the expected verdict, the verdict, and seconds. Exit status 1: one is not as expected.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from claims import CLAIMS, Claim
from protocol import Clause, parse, show

FOLDER = Path(__file__).parent


def value(term, functions: dict, size: int, variables: dict) -> int:
    """Returns the element that a term stands for. A function's table is a flat list, with the last argument fastest."""
    if isinstance(term, str):
        return variables[term]
    index = 0
    for argument in term[1:]:
        index = index * size + value(argument, functions, size, variables)
    return functions[term[0]][index]


def is_true(clause: Clause, model: dict) -> bool:
    """Whether a clause is true in a model, for every value of its variables."""
    size, functions = model["size"], model["functions"]
    facts = {name: set(rows) for name, rows in model["facts"].items()}

    def holds(fact, variables) -> bool:
        arguments = [value(argument, functions, size, variables) for argument in fact[1:]]
        return arguments[0] == arguments[1] if fact[0] == "=" else "".join(map(str, arguments)) in facts.get(fact[0], ())

    names = clause.variables
    # The facts of the body that can be evaluated once the first i variables have values.
    ready = [[] for _ in range(len(names) + 1)]
    for fact in clause.body:
        ready[max((names.index(name) + 1 for name in Clause("", "", (fact,), None).variables), default=0)].append(fact)

    def from_variable(i: int, variables: dict) -> bool:
        if not all(holds(fact, variables) for fact in ready[i]):
            return True  # The body is false, so the clause is true.
        if i == len(names):
            return clause.head is not None and holds(clause.head, variables)
        return all(from_variable(i + 1, {**variables, names[i]: element}) for element in range(size))

    return from_variable(0, {})


def instance(term, values: dict):
    """Returns a term with its variables replaced, and the arguments of each dh in one order (the clause `commute`)."""
    if isinstance(term, str):
        return values[term]
    arguments = [instance(argument, values) for argument in term[1:]]
    return (term[0], *(sorted(arguments, key=show) if term[0] == "dh" else arguments))


def is_derived(claim: Claim, steps: list[str]) -> bool:
    """Whether the steps, such as `left X=d Y=evil`, derive the claim's goal. A value has no variables."""
    clauses = {clause.name: clause for clause in claim.clauses()}
    derived = set()
    for step in steps:
        name, *assignments = step.split()
        if name not in clauses or name == "commute":
            return False
        values = {variable: instance(parse(text)[0], {}) for variable, text in (a.split("=") for a in assignments)}
        if set(values) != set(clauses[name].variables):
            return False
        if not all(instance(fact, values) in derived for fact in clauses[name].body):
            return False
        if clauses[name].head is None:
            return True
        derived.add(instance(clauses[name].head, values))
    return False


def tptp(clauses: list[Clause]) -> str:
    """Returns the clauses as text for E."""

    def text(fact) -> str:
        return f"{show(fact[1])} = {show(fact[2])}" if fact[0] == "=" else show(fact)

    return "".join(
        f"cnf(c{i}, axiom, {' | '.join([*([text(c.head)] if c.head else []), *('~' + text(fact) for fact in c.body)])}).\n"
        for i, c in enumerate(clauses))


def is_refuted(clauses: list[Clause], seconds: int = 10) -> bool:
    """Whether E derives a contradiction."""
    command = ["eprover", "--auto", "--silent", f"--cpu-limit={seconds}"]
    return "SZS status Unsatisfiable" in subprocess.run(
        command, input=tptp(clauses), capture_output=True, text=True, check=False).stdout


def is_refuted_in_halves(claim: Claim, steps: list[str]) -> bool:
    """Whether E derives the derivation's first fact that isn't `att`, and from this fact the goal."""
    clauses = {clause.name: clause for clause in claim.clauses()}
    sources: dict = {}  # A fact's clause and body. The goal's fact is None.
    for step in steps:
        name, *assignments = step.split()
        values = {variable: instance(parse(text)[0], {}) for variable, text in (a.split("=") for a in assignments)}
        head = clauses[name].head
        sources[head and instance(head, values)] = name, [instance(fact, values) for fact in clauses[name].body]
    middle = next((fact for fact in sources if fact and fact[0] != "att"), None)

    def used(fact, known) -> set[str]:
        name, body = sources[fact]
        return {"commute", name}.union(*(used(part, known) for part in body if part != known))

    return middle is not None and all(
        is_refuted([*(clause for clause in clauses.values() if clause.name in names), extra])
        for extra, names in ((Clause("", "", (middle,), None), used(middle, None)),
                             (Clause("", "", (), middle), used(None, middle))))


def derivations() -> dict[str, list[str]]:
    """Reads `derivations.txt`: a claim's name in brackets, and its steps, one a line."""
    result: dict[str, list[str]] = {}
    for line in (FOLDER / "derivations.txt").read_text().splitlines():
        if line.startswith("["):
            steps = result[line[1:-1]] = []
        elif line:
            steps.append(line)
    return result


def models() -> dict[str, dict]:
    """Reads `models.json`."""
    return json.loads((FOLDER / "models.json").read_text())


def verdict(claim: Claim, model: dict | None, steps: list[str] | None) -> str:
    """Returns `holds`, `attack`, `runs`, or `unknown` with a clause that its model does not make true."""
    if claim.expected != "holds":
        return claim.expected if steps and is_derived(claim, steps) else "unknown"
    if not model or any(element not in range(model["size"]) for table in model["functions"].values() for element in table):
        return "unknown"
    for clause in claim.clauses():
        try:
            if not is_true(clause, model):
                return f"unknown: {clause.name}"
        except (KeyError, IndexError):  # A table is missing or too short.
            return f"unknown: {clause.name}"
    return "holds"


def has_twins(claim: Claim) -> bool:
    """Whether a claim that holds has its run in the same world, and an attack on the same goal with more additions."""
    named = {other.name: other for other in CLAIMS}
    run, attack = named.get(claim.run), named.get(claim.attack)
    return bool(
        run and attack and run.expected == "runs" and attack.expected == "attack"
        and run.world == attack.world == claim.world and attack.goal == claim.goal
        and set(run.additions) <= set(claim.additions) < set(attack.additions))


def main() -> int:
    refute = "--refute" in sys.argv[1:]
    found, steps = models(), derivations()
    status = 0
    for claim in CLAIMS:
        start = time.monotonic()
        actual = verdict(claim, found.get(claim.name), steps.get(claim.name))
        if claim.expected == "holds" and not has_twins(claim):
            actual = "no twins"
        if refute and actual in ("attack", "runs"):
            used = {"commute", *(step.split()[0] for step in steps[claim.name])}
            clauses = [clause for clause in claim.clauses() if clause.name in used]
            if not is_refuted(clauses) and not is_refuted_in_halves(claim, steps[claim.name]):
                actual = "not refuted"
        status |= actual != claim.expected
        print(claim.name, claim.text, claim.expected, actual, f"{time.monotonic() - start:.2f}", sep="\t")
    return status


if __name__ == "__main__":
    sys.exit(main())
