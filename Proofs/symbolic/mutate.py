#!/usr/bin/env python3
"""Removes each clause in turn, and generalizes each in every place; prints the changes that no verdict notices.

A removed clause must cost an attack or a run. A generalized clause (a fact of its body dropped; a name, or one of a
variable's places, replaced by a new variable) must break a claim that holds. Needs eprover; takes minutes.
Usage: mutate.py [CLAUSE...]   Exit status 1: a change is unnoticed, and UNNOTICED does not argue for it.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from check import derivations, is_refuted, is_true, models
from protocol import CLAIMS, CLAUSES, Clause, show
from search import Derivation

# Changes that may go unnoticed, each with its reason.
UNNOTICED: dict[str, str] = {}


def places(term, path=()):
    """Yields the path and the subterm of each variable and each name without arguments."""
    if isinstance(term, str) or len(term) == 1:
        yield path, term
    else:
        for i, argument in enumerate(term[1:], 1):
            yield from places(argument, (*path, i))


def put(term, path, new):
    """Returns the term with the subterm at a path replaced."""
    return (*term[:path[0]], put(term[path[0]], path[1:], new), *term[path[0] + 1:]) if path else new


def generalizations(clause: Clause):
    """Yields a clause's generalizations, with a text for each."""
    if clause.name == "commute" or not clause.variables:  # A fact about the participants is no rule.
        return
    for fact in clause.body:
        yield f"without {show(fact)}", replace(clause, body=tuple(other for other in clause.body if other != fact))
    for i, fact in enumerate((*clause.body, clause.head)):
        for path, term in places(fact):
            count = sum(other == term for part in (*clause.body, clause.head) for _, other in places(part))
            if len(fact) == 2 and len(path) == 1 and i < len(clause.body):
                continue  # This is the same as without the fact.
            if path and (not isinstance(term, str) or count > 1):
                new = put(fact, path, "NEW")
                text = f"{show(term)} free in {show(new)}"
                if i < len(clause.body):
                    yield text, replace(clause, body=(*clause.body[:i], new, *clause.body[i + 1:]))
                else:
                    yield text, replace(clause, head=new)


def main() -> int:
    found, steps = models(), derivations()
    unnoticed = 0
    total = 0
    for name, clause in CLAUSES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        start = time.monotonic()
        claims = [claim for claim in CLAIMS if any(c.name == name for c in claim.clauses())]

        def noticed_removal() -> bool:
            users = [claim for claim in claims if any(s.split()[0] == name for s in steps.get(claim.name, []))]
            if name == "commute":
                users = [claim for claim in claims if claim.expected != "holds"]
            for claim in sorted(users, key=lambda claim: len(steps[claim.name])):
                rest = [c for c in claim.clauses() if c.name != name]
                if not (name != "commute" and Derivation(claim, rest).run(5)) and not is_refuted(rest, 1):
                    return True
            return False

        def noticed(changed: Clause) -> bool:
            for claim in claims:
                model = found.get(claim.name)
                if claim.expected == "holds" and model and not is_true(changed, model):
                    clauses = [changed if c.name == name else c for c in claim.clauses()]
                    if Derivation(claim, clauses).run(8) or is_refuted(clauses, 1):
                        return True
            return False

        for text, notice in [("removed", noticed_removal), *(
                (text, lambda changed=changed: noticed(changed)) for text, changed in generalizations(clause))]:
            total += 1
            if not notice():
                reason = UNNOTICED.get(f"{name}: {text}")
                print(f"{name}: {text}", reason or "unnoticed", sep="\t", flush=True)
                unnoticed += reason is None
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{total} changes, {unnoticed} unnoticed")
    return unnoticed > 0


if __name__ == "__main__":
    sys.exit(main())
