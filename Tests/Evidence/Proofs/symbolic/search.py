#!/usr/bin/env python3
"""Searches anew for what check.py checks: models with cvc5, and derivations by a search of its own.

Usage: search.py [models] [derivations] [new] [CLAIM...]   With `new`, keeps what check.py accepts. Models need PyPI's
cvc5 (1.4.2), in a virtual environment.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator

from check import FOLDER, derivations, instance, is_derived, models, value, verdict
from claims import CLAIMS, Claim
from protocol import parse, show, variables

# A model's size, and how many of its elements the attacker knows; tried in order.
SIZES = [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3), (5, 4), (5, 3), (5, 2), (6, 4), (6, 3)]


def find_model(claim: Claim, size: int, known: int, seconds: int) -> dict | None:
    """Asks cvc5 for a model in which the attacker knows exactly the first `known` elements.

    So that it is quick, some secret names are the last element, some public names are the first, and dh and kem are the first if
    the attacker knows an argument. check.py trusts none of this.
    """
    import cvc5
    from cvc5 import Kind

    clauses = claim.clauses()
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("produce-models", "true")
    solver.setOption("tlimit-per", str(seconds * 1000))
    solver.setLogic("QF_UF")
    sort, boolean = manager.mkUninterpretedSort("U"), manager.getBooleanSort()
    elements = [manager.mkConst(sort, f"e{i}") for i in range(size)]
    solver.assertFormula(manager.mkTerm(Kind.DISTINCT, *elements))

    symbols: dict[str, int] = {}
    predicates: dict[str, int] = {}

    def collect(term):
        if not isinstance(term, str):
            symbols[term[0]] = len(term) - 1
            for argument in term[1:]:
                collect(argument)

    for c in clauses:
        for fact in (*c.body, *([c.head] if c.head else [])):
            if fact[0] != "=":
                predicates[fact[0]] = len(fact) - 1
            for argument in fact[1:]:
                collect(argument)
    public = {c.head[1][0] for c in clauses if c.head and not c.body and c.head[0] == "att" and len(c.head[1]) == 1}
    goal = set(show(parse(claim.goal)[0]).replace("(", ",").replace(")", ",").split(","))
    free = set(symbols) - {"d", "hx", "hk", "s", "z", "e", "w", "app", "nobody", "scalar", "box", "number", "message"} - (
        {"evil"} - goal)
    fixed: dict[tuple, int] = {}
    for name, arity in symbols.items():
        if arity == 0 and name not in free:
            fixed[name,] = 0 if name in public or name == "nobody" else size - 1
        if name == "forged" and known > 1:
            fixed[name,] = 1
        if name in ("dh", "kem"):
            for cell in itertools.product(range(size), repeat=2):
                fixed[name, *cell] = 0 if min(cell) < known else size - 1

    def constant(name: str, arity: int, kind):
        return manager.mkConst(manager.mkFunctionSort([sort] * arity, kind) if arity else kind, name)

    functions = {name: constant(name, arity, sort) for name, arity in symbols.items()}
    tables = {name: constant("is-" + name, arity, boolean) for name, arity in predicates.items() if name != "att"}

    def apply(function, arguments):
        terms = [elements[argument] if isinstance(argument, int) else argument for argument in arguments]
        return manager.mkTerm(Kind.APPLY_UF, function, *terms) if terms else function

    for name, arity in symbols.items():
        for cell in itertools.product(range(size), repeat=arity):
            choices = [fixed[name, *cell]] if (name, *cell) in fixed else range(size)
            equal = [manager.mkTerm(Kind.EQUAL, apply(functions[name], cell), elements[i]) for i in choices]
            solver.assertFormula(equal[0] if len(equal) == 1 else manager.mkTerm(Kind.OR, *equal))

    def build(term, values):
        """Returns a term's element, if it is fixed, or cvc5's term."""
        if isinstance(term, str):
            return values[term]
        arguments = [build(argument, values) for argument in term[1:]]
        if all(isinstance(argument, int) for argument in arguments) and (term[0], *arguments) in fixed:
            return fixed[term[0], *arguments]
        return apply(functions[term[0]], arguments)

    def literal(fact, values):
        """Returns whether a fact is true, if that is fixed, or cvc5's term."""
        arguments = [build(argument, values) for argument in fact[1:]]
        if fact[0] != "att":
            return apply(tables[fact[0]], arguments)
        if isinstance(arguments[0], int):
            return arguments[0] < known
        equal = [manager.mkTerm(Kind.EQUAL, arguments[0], element) for element in elements[:known]]
        return equal[0] if len(equal) == 1 else manager.mkTerm(Kind.OR, *equal)

    seen = set()
    for c in clauses:
        if c.name == "commute":
            continue
        for chosen in itertools.product(range(size), repeat=len(c.variables)):
            values = dict(zip(c.variables, chosen))
            facts = [(False, literal(fact, values)) for fact in c.body]
            facts += [(True, literal(c.head, values))] if c.head else []
            if any(fact is sign for sign, fact in facts):
                continue
            terms = frozenset(
                fact if sign else manager.mkTerm(Kind.NOT, fact) for sign, fact in facts if not isinstance(fact, bool))
            if not terms:
                return None
            if terms not in seen:
                seen.add(terms)
                solver.assertFormula(next(iter(terms)) if len(terms) == 1 else manager.mkTerm(Kind.OR, *terms))
    if not solver.checkSat().isSat():
        return None
    numbers = {str(solver.getValue(element)): i for i, element in enumerate(elements)}
    return closed(claim, {"size": size, "functions": {
        name: [numbers[str(solver.getValue(apply(functions[name], cell)))]
               for cell in itertools.product(range(size), repeat=arity)]
        for name, arity in sorted(symbols.items())}})


def closed(claim: Claim, model: dict) -> dict:
    """Returns the model with the fewest facts that make its clauses true."""
    size, functions = model["size"], model["functions"]
    facts: set[tuple] = set()
    instances = []
    for c in claim.clauses():
        if c.name == "commute" or not c.head:
            continue
        for chosen in itertools.product(range(size), repeat=len(c.variables)):
            values = dict(zip(c.variables, chosen))
            body, head = ([(fact[0], *(value(a, functions, size, values) for a in fact[1:])) for fact in part]
                          for part in (c.body, [c.head]))
            instances.append((body, head[0]))
    instances = [(set(body), head) for body, head in dict.fromkeys((frozenset(body), head) for body, head in instances)]
    while new := {head for body, head in instances if head not in facts and body <= facts}:
        facts |= new
    tables: dict[str, list[str]] = {}
    for name, *arguments in sorted(facts):
        tables.setdefault(name, []).append("".join(map(str, arguments)))
    return {**model, "facts": tables}


def search_models(claims: list[Claim]):
    try:
        found = models()
    except FileNotFoundError:
        found = {}
    for claim in claims:
        if claim.expected != "holds":
            continue
        if "new" in sys.argv and verdict(claim, found.get(claim.name), None) == "holds":
            continue
        start = time.monotonic()
        for seconds in (40, 300):
            model = next(filter(None, (find_model(claim, *size, seconds) for size in SIZES)), None)
            if model:
                break
        print(claim.name, f"{model['size']} elements" if model else "no model", f"{time.monotonic() - start:.1f} s",
              flush=True)
        if model:
            found[claim.name] = model
        found = {c.name: found[c.name] for c in CLAIMS if c.name in found and c.expected == "holds"}
        lines = [f"{json.dumps(name)}: {json.dumps(model)}" for name, model in found.items()]
        (FOLDER / "models.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


# The values that a derivation's search tries for a variable, besides the constants of the goal.
VALUES = {
    "A": "alice mallory authority former forged", "B": "forged", "C": "one two three", "D": "there", "E": "e evil", "J": "number forged",
    "F": "pin address entry enrollment", "G": "pair(pub(ea),pub(kdf(s,scalar)))", "H": "chat forged", "I": "first second stays gone forged", "K": "hk evil",
    "M": "forged s m(evil,app) h(evil,evil,app) pair(withdraw,pair(id,stays)) pair(withdraw,pair(pair(id,stays),forged)) "
        "pair(withdraw,pair(pair(thread,forged),pair(evening,forged)))", "N": "state logins receipts ids identifier address", "O": "app other",
    "P": "pub(evil)", "Q": "pair(id,stays) pair(thread,chat)", "R": "request own forged question(mallory,evil,d) question(mallory,ea,d)", "S": "evil kdf(f,scalar) kdf(z,scalar)", "T": "app other", "U": "noon evening",
    "V": "morning noon", "W": "w evil", "X": "d hx old evil", "Y": "ea eb evil",
}


def matches(pattern, term, values: dict) -> Iterator[dict]:
    """Yields the values of variables with which a pattern is a term."""
    if isinstance(pattern, str):
        if pattern not in values or values[pattern] == term:
            yield {**values, pattern: term}
    elif pattern[0] == term[0] and len(pattern) == len(term):
        orders = {term[1:], term[:0:-1]} if term[0] == "dh" else {term[1:]}
        for arguments in orders:
            results = [values]
            for part, argument in zip(pattern[1:], arguments):
                results = [result for before in results for result in matches(part, argument, before)]
            yield from results


class Derivation:
    """Derives facts: forward by the clauses that take terms apart, and backward by those that only compose."""

    def __init__(self, claim: Claim, clauses: list | None = None):
        clauses = [c for c in clauses or claim.clauses() if c.name != "commute"]
        self.goal = clauses[-1]
        self.extra = [parse(name)[0] for name in claim.goal.replace("(", " ").replace(")", " ").replace(",", " ").split()
                      if name[0].islower()]
        small = {c for c in clauses if c.head and c.head[0] != "given" and all(
            fact[0] in ("att", "login") and isinstance(fact[1], str) and set(variables(fact)) <= set(variables(c.head)) for fact in c.body)}
        self.composing = [c for c in clauses if c in small]
        self.forward = self.relevant([c for c in clauses if c not in small and c.head])
        self.steps: dict[tuple, tuple] = {}  # A fact's clause, values, and body.
        self.failed: set[tuple] = set()
        for c in self.composing:  # The facts without a body, and what senders seal.
            if not c.body or c.head[0] == "att" and c.head[1][0] == "aead" and c.name != "seal":
                for values in self.choices(c.variables, {}):
                    if all(self.derive(instance(fact, values)) for fact in c.body):
                        self.add(c, values)

    def relevant(self, clauses) -> list[tuple]:
        """Returns the clauses that the goal may need, each with the values that the goal gives to its variables."""
        result = []
        used = {fact[0] for c in self.composing for fact in c.body}
        while more := [c for c in clauses if c.head[0] in used | {"att"} and (c, {}) not in result]:
            result += [(c, {}) for c in more]
            used |= {fact[0] for c in more for fact in c.body}
        for c in clauses:
            for goal in self.goal.body:
                values: dict | None = {}
                if (c, {}) in result or c.head[0] != goal[0]:
                    continue
                for part, argument in zip(c.head[1:], goal[1:]):
                    if values is not None and not variables(("", argument)):
                        values = next(matches(part, instance(argument, {}), values), None)
                if values is not None:
                    result.append((c, values))
                    used |= {fact[0] for fact in c.body}
        while more := [c for c in clauses if c.head[0] in used and (c, {}) not in result]:
            result += [(c, {}) for c in more]
            used |= {fact[0] for c in more for fact in c.body}
        return result

    def choices(self, names, values) -> Iterator[dict]:
        """Yields values for each of the variables that has none."""
        missing = [name for name in names if name not in values]
        options = [list(dict.fromkeys([*(parse(v)[0] for v in VALUES.get(name, "forged evil").split()), *(
            c for c in self.extra if len(c) == 1 and name not in "ACTO")])) for name in missing]
        for chosen in itertools.product(*options):
            yield {**values, **dict(zip(missing, chosen))}

    def add(self, c, values) -> bool:
        head = instance(c.head, values)
        if head in self.steps:
            return False
        self.steps[head] = (c, values, [instance(fact, values) for fact in c.body])
        self.failed.clear()
        return True

    def derive(self, fact) -> bool:
        """Whether a ground fact is known, or can be composed."""
        if fact in self.steps:
            return True
        if fact in self.failed:
            return False
        for c in self.composing:
            for values in matches(c.head, fact, {}):
                if all(self.derive(instance(part, values)) for part in c.body):
                    return self.add(c, values) or True
        self.failed.add(fact)
        return False

    def solutions(self, body, values) -> Iterator[dict]:
        """Yields the values with which all of a clause's body is derived."""
        if not body:
            yield values
            return
        fact, rest = body[0], body[1:]
        tried = set()
        if any(name not in values for name in variables(fact)):
            for known in list(self.steps):
                if known[0] == fact[0]:
                    for found in matches(fact, known, values):
                        tried.add(known)
                        yield from self.solutions(rest, found)
        for chosen in self.choices(variables(fact), values):
            if time.process_time() > self.end:
                return
            ground = instance(fact, chosen)
            if ground not in tried and self.derive(ground):
                yield from self.solutions(rest, chosen)

    def run(self, seconds: float) -> list[str] | None:
        """Returns the steps to the goal."""
        self.end = time.process_time() + seconds  # Not of the clock: the machine may be busy.
        while time.process_time() < self.end:
            for values in self.solutions(self.goal.body, {}):
                return self.listed(values)
            added = False
            for c, fixed in self.forward:
                # The largest fact first, because it gives the most variables a value.
                body = sorted(c.body, key=lambda fact: (fact[0] == "att", -len(show(fact))))
                for values in list(self.solutions(body, fixed)):
                    for complete in self.choices(c.variables, values):
                        added |= time.process_time() < self.end and self.add(c, complete)
            if not added:
                return None
        return None

    def listed(self, values) -> list[str]:
        lines: dict[str, None] = {}

        def visit(fact):
            c, chosen, body = self.steps[fact]
            for part in body:
                visit(part)
            lines[" ".join([c.name, *(f"{name}={show(chosen[name])}" for name in c.variables)])] = None

        for fact in self.goal.body:
            visit(instance(fact, values))
        return [*lines, " ".join(["goal", *(f"{name}={show(values[name])}" for name in self.goal.variables)])]


def search_derivations(claims: list[Claim]):
    try:
        found = derivations()
    except FileNotFoundError:
        found = {}
    for claim in claims:
        if claim.expected == "holds" or "new" in sys.argv and found.get(claim.name) and is_derived(claim, found[claim.name]):
            continue
        start = time.monotonic()
        # A smaller world's steps are steps of a larger one.
        steps = next((known for known in found.values() if is_derived(claim, known)), None) or Derivation(claim).run(120)
        good = bool(steps) and is_derived(claim, steps)
        print(claim.name, f"{len(steps)} steps" if good else "no derivation", f"{time.monotonic() - start:.1f} s", flush=True)
        if good:
            found[claim.name] = steps
    found = {c.name: found[c.name] for c in CLAIMS if c.name in found and c.expected != "holds"}
    (FOLDER / "derivations.txt").write_text("".join(f"[{name}]\n" + "".join(s + "\n" for s in steps) for name, steps in found.items()))


if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if a not in ("models", "derivations", "new")]
    chosen = [claim for claim in CLAIMS if not names or claim.name in names]
    if "models" in sys.argv or "derivations" not in sys.argv:
        search_models(chosen)
    if "derivations" in sys.argv or "models" not in sys.argv:
        search_derivations(chosen)
