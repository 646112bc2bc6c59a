#!/usr/bin/env python3
"""Removes and alters each clause in every place, and prints the changes that no verdict notices.

- A clause is removed, or a name or variable of its head becomes another name: an attack or a run must be lost.
- A variable becomes the name that honest runs use: a run or an attack that uses another one must be lost.
- A fact of its body is dropped, or a name, or one of a variable's places in the body, becomes a new variable, so that the
  clause checks less: a claim that holds must fall. An addition is a leak or a broken rule already, so it is only
  removed.
Usage: mutate.py [CLAUSE...]   Needs eprover; takes minutes. Exit status 1: a change is unnoticed, and UNNOTICED does not
argue for it.
"""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import replace

from check import derivations, instance, is_refuted, is_true, models
from claims import CLAIMS, Claim
from protocol import ADDITIONS, CLAUSES, Clause, parse, show
from search import Derivation

# Names that stand for fresh values: any other is as good.
FRESH = (("e",), ("w",), ("number",))
# The usual values of variables.
USUAL = {"A": "alice", "C": "two", "E": "e", "J": "number", "K": "hk", "O": "app", "S": "kdf(s,scalar)", "T": "app", "W": "w",
         "X": "d", "Y": "ea"}
# The key of a message of suite 0x01, in the one app that withdraws.
KEY = "kdf(pair(dh(e,X),dh(kdf(s,scalar),X)),pair(message,app))"
# Changes that may go unnoticed, each with its reason.
UNNOTICED: dict[str, str] = {
    "kdf: without att(Y)": "only the first input is ever secret",
    "accept-01: d free in att(aead(kdf(pair(dh(E,NEW),dh(S,d)),pair(message,T)),pair(J,M)))": "dh(S,d) authenticates",
    "accept-03: hx free in att(aead(kdf(pair(pair(dh(E,NEW),dh(S,hx)),kem(hk,W)),pair(message,T)),pair(J,M)))":
        "dh(S,hx) authenticates",
    "accept-03: hk free in att(aead(kdf(pair(pair(dh(E,hx),dh(S,hx)),kem(NEW,W)),pair(message,T)),pair(J,M)))":
        "dh(S,hx) authenticates",
    "enrollment-key: removed": "the attacker also reads it in challenges to itself",
    "enrollment-key: Y changed in att(pub(changed))": "the attacker also reads it in challenges to itself",
    "enrollment-key: Y only ea": "the attacker also reads it in challenges to itself",
    **{f"{name}: X only d": "it is the world's only device" for name in (
        "seal-01-chosen", "seal-02", "seal-text", "withdraw", "withdraw-thread", "withdrawal")},
    **{f"seal-03-chosen: {only}": "it is the world's only device" for only in ("X only hx", "K only hk")},
    **{f"device-key-0{suite}: {only}": "no attack needs another device's public key" for suite, only in (
        (1, "X only d"), (3, "X only hx"), (3, "K only hk"))},
    "decapsulate: W only w": "the attacker encapsulates with its own W",
    "encapsulate: K only hk": "the attacker decapsulates with its own K",
    "public-record: A only alice": "Mallory signs his own records",
    "receipt: S only kdf(s,scalar)": "another sender's receipt keys are its own",
    **{f"{name}: J only number": "a sender may always choose this number" for name in (
        "answer-01", "answer-03", "receipt", "withdrawal", "reply")},
    **{f"{kind}-{place}: A only alice": "an account's name may be any" for kind in ("issue", "state") for place in (
        "there", "other")},
    **{f"issued: {change}": "no attack needs a state's content" for change in (
        "removed", "issued changed in att(changed)")},
    f"withdraw: noon changed in att(aead({KEY},pair(number,pair(withdraw,pair(pair(id,gone),pair(changed,nine))))))":
        "only a thread's withdrawal depends on its time",
    **{f"identifier: {change}": "any topic's IDs do" for change in (
        "T changed in att(kdf(kdf(s,pair(ids,changed)),pair(identifier,pair(R,M))))", "T only app")},
    **{f"member-{name}: {change}": "the attacker also reads it in withdrawals to itself"
       for name in ("withdraw", "id", "thread", "noon") for change in ("removed", f"{name} changed in att(changed)")},
    **{f"identifier: without att({part})": "an ID says nothing about what it hashes" for part in "RM"},
    "recipient-hint: first changed in att(kdf(recipient,pair(changed,pub(X))))": "enc may be any",
    "recipient-hint: X only d": "no attack needs another device's hint",
    "sender-hint: first changed in att(kdf(sender,pair(changed,pair(pub(X),pub(kdf(s,scalar))))))": "enc may be any",
    "sender-hint: X only d": "no attack needs another device's hint",
    "find: recipient free in att(kdf(NEW,pair(second,pub(X))))": "no other hash has this form",
    "find-sender: sender free in att(kdf(NEW,pair(second,pair(pub(X),pub(S)))))": "no other hash has this form",
    "find-sender: S free in att(kdf(sender,pair(second,pair(pub(X),pub(NEW)))))": "the attacker lacks the recipient",
    "identifier: identifier changed in att(kdf(kdf(s,pair(ids,T)),pair(changed,pair(R,M))))": "any other label does",
    "fingerprint: without att(R)": "a fingerprint says nothing about what it hashes",
    "own-fingerprint: without att(M)": "a fingerprint says nothing about what it hashes",
    **{f"own-fingerprint: {change}": "any topic, and any other key, does" for change in (
        "T changed in att(kdf(kdf(s,pair(ids,changed)),pair(content,pair(own,M))))", "T only app",
        "own changed in att(kdf(kdf(s,pair(ids,T)),pair(content,pair(changed,M))))")},
    "compare: ids free in att(kdf(kdf(s,pair(NEW,T)),pair(content,pair(request,M))))": "together-guess/any-key-id has it",
    "compare: T free in att(kdf(kdf(s,pair(ids,NEW)),pair(content,pair(request,M))))": "no topic's key has hashed this",
    **{f"kind-names: {change}": "an entry's kind suffices" for change in ("removed", "F changed in att(changed)")},
    "row-entry: A only alice": "any device does",
    "row-entry: without att(A)": "the attacker may choose any device",
    "row-entry: without att(M)": "a sealed payload hides its content",
    **{f"row-{age}: without kind(F)": "no entry has such a value" for age in ("newest", "older")},
    "row-own: without att(X)": "a code says nothing about what it covers",
    "next-record: d changed in att(sign(ea,pair(record,pair(three,pub(changed)))))": "any recipient does",
    "leave-other: other changed in att(sign(ec,pair(leaving,pair(three,changed))))": "any other topic does",
    "forget: leaving free in att(sign(Y,pair(NEW,pair(C,app))))": "leave/any-leaving-label has it",
    "withdrawal: T free in trusts(NEW,S)": "this world's senders are trusted in every app",
    "leave-there: there changed in att(sign(ec,pair(leaving,pair(three,pair(changed,app)))))": "any other service does",
    **{f"forget-here: {change}": f"{claim} has it" for change, claim in (
        ("leaving free in att(sign(Y,pair(NEW,pair(C,pair(here,app)))))", "leave/any-leaving-label"),
        ("C free in att(sign(Y,pair(leaving,pair(NEW,pair(here,app)))))", "leave/old-leaving"),
        ("app free in att(sign(Y,pair(leaving,pair(C,pair(here,NEW)))))", "leave-topic/any-leaving-topic"),
        ("without higher(C)", "leave/old-leaving"))},
    "withdrawal-former: J only number": "a sender may always choose this number",
    **{f"withdrawal-former: {change}": "only the sender matters here; the world of withdrawals has it" for change in (
        "d free in accept(NEW,S,app,J,pair(withdraw,pair(id,I)))", "app free in accept(d,S,NEW,J,pair(withdraw,pair(id,I)))",
        "withdraw free in accept(d,S,app,J,pair(NEW,pair(id,I)))", "id free in accept(d,S,app,J,pair(withdraw,pair(NEW,I)))",
        "I free in accept(d,S,app,J,pair(withdraw,pair(id,NEW)))")},
    **{f"remove-former: {change}": "the attacker is trusted, and withdraws anything" for change in (
        "without withdraws(S,I)", "I free in withdraws(S,NEW)")},
    "also-enrolls: T only app": "a record taken as a set could only make a sender trusted in its own topic",
    "number: removed": "the attacker also reads it in messages to itself",
    **{f"issue-{place}: without att(A)": "an account's name may be any" for place in ("here", "there", "other")},
    **{f"state-{place}: without att(A)": "an account's name may be any" for place in ("there", "other")},
    **{f"state-{place}: without att(X)": "the attacker chooses X" for place in ("there", "other")},
    **{f"{kind}-{change}{end}": "any other service or app is as good" for kind, label, end in (
        ("issue", "logins", ",A))"), ("state", "state", ",pair(A,X)))")) for change in (
        f"there: there changed in att(kdf(kdf(s,pair({label},pair(app,changed)))",
        f"other: other changed in att(kdf(kdf(s,pair({label},pair(changed,here)))")},
    **{f"prove: {change}": "only an enrolled recipient is asked" for change in (
        "without enrolled(A,Y,X)", "A free in enrolled(NEW,Y,X)", "Y free in enrolled(A,NEW,X)", "X free in enrolled(A,Y,NEW)")},
    **{f"ask: {change}": "only an enrolled recipient is proven" for change in (
        "without enrolled(A,Y,X)", "A free in enrolled(NEW,Y,X)", "Y free in enrolled(A,NEW,X)", "X free in enrolled(A,Y,NEW)")},
    **{f"ask: {old} changed in given(A,aead(kdf(pair(dh(e,X),dh({new},X)),pair(challenge,app)),"
       "pair(number,pair(question(A,Y,X),pub(Y)))))": "the phone answers as if it could open anything"
       for old, new in (("s", "kdf(changed,scalar)"), ("scalar", "kdf(s,changed)"))},
    "prove: A free in in(NEW,kdf(question(A,Y,X),answer))": "the phone's duty of 11.5.8 suffices",
    **{f"{name}: record free in in(A,sign(Y,pair(NEW,pair(C,pub(X)))))": "an enrollment key signs no sender set"
       for name in ("enroll", "list")},
    "receipt: I free in accept(X,S,T,J,pair(NEW,K))": "a sender's messages to a device in an app carry one key",
    "prove: answer free in in(A,kdf(question(A,Y,X),NEW))": "nothing else is derived from a question",
    "answer-01: d free in att(aead(kdf(pair(dh(E,NEW),dh(S,d)),pair(challenge,T)),pair(J,pair(R,pub(ea)))))":
        "dh(S,d) authenticates",
    "answer-03: hx free in att(aead(kdf(pair(pair(dh(E,NEW),dh(S,hx)),kem(hk,W)),pair(challenge,T)),pair(J,pair(R,pub(ea)))))":
        "dh(S,hx) authenticates",
    "answer-03: hk free in att(aead(kdf(pair(pair(dh(E,hx),dh(S,hx)),kem(NEW,W)),pair(challenge,T)),pair(J,pair(R,pub(ea)))))":
        "dh(S,hx) authenticates",
    "accept-02: d free in att(aead(kdf(dh(E,NEW),box),pair(T,M)))": "anyone may seal any known text to d",
    "accept-02: box free in att(aead(kdf(dh(E,d),NEW),pair(T,M)))": "no other key has this form",
}


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


def altered(clause: Clause):
    """Yields the clause with an altered head, or None for none at all, and what was done."""
    yield None, "removed"
    for path, term in places(clause.head) if clause.name != "commute" else ():
        if term in FRESH:
            continue
        head = put(clause.head, path, ("changed",))
        yield replace(clause, head=head), f"{show(term)} changed in {show(head)}"


def narrowed(clause: Clause):
    """Yields the clause for the usual value of a variable only, and what was done."""
    for name in clause.variables:
        if name in USUAL:
            usual = parse("hx" if name == "X" and "K" in clause.variables else USUAL[name])[0]
            values = {other: other for other in clause.variables} | {name: usual}
            body, head = (tuple(instance(fact, values) for fact in part) for part in (clause.body, (clause.head,)))
            yield replace(clause, body=body, head=head[0]), f"{name} only {show(usual)}"


def weakened(clause: Clause):
    """Yields the clause with a check less, and what was done."""
    for i, fact in enumerate(clause.body):
        before, after = clause.body[:i], clause.body[i + 1:]
        yield replace(clause, body=before + after), f"without {show(fact)}"
        for path, term in places(fact):
            count = sum(other == term for part in (*clause.body, clause.head) for _, other in places(part))
            # A variable of its own checks nothing, and a fact of nothing else is no fact.
            if len(fact) > 2 or len(path) > 1:
                if not isinstance(term, str) or count > 1:
                    new = put(fact, path, "NEW")
                    yield replace(clause, body=(*before, new, *after)), f"{show(term)} free in {show(new)}"


def reaches(claim: Claim, predicate: str) -> bool:
    """Whether more facts of a predicate can lead to the claim's goal."""
    led = {fact[0] for fact in parse(claim.goal)}
    while more := {fact[0] for c in claim.clauses() if c.head and c.head[0] in led for fact in c.body} - led:
        led |= more
    return predicate in led


def main() -> int:
    found, steps = models(), derivations()
    total = unnoticed = 0

    def is_reached(claim, clauses, seconds: int = 8) -> bool:
        def stop(*_):
            raise TimeoutError

        signal.signal(signal.SIGVTALRM, stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            return bool(Derivation(claim, clauses).run(seconds))
        except TimeoutError:
            return False
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def loses(name: str, changed: Clause | None) -> bool:
        users = [claim for claim in CLAIMS if any(step.split()[0] == name for step in steps.get(claim.name, []))]
        if name == "commute":  # The derivations use it silently, so only E can do without it.
            users = [claim for claim in CLAIMS if claim.expected != "holds"]
            return any(not is_refuted([c for c in claim.clauses() if c.name != name], 1) for claim in users)
        return any(
            not is_reached(claim, clauses) and not is_refuted(clauses, 1)
            for claim in sorted(users, key=lambda claim: len(steps[claim.name]))
            for clauses in [[changed if c.name == name else c for c in claim.clauses() if changed or c.name != name]])

    def falls(name: str, changed: Clause) -> bool:
        claims = [
            claim for claim in sorted(CLAIMS, key=lambda claim: (
                parse(claim.goal)[0][0] != changed.head[0], len(claim.additions), len(claim.clauses())))
            if claim.expected == "holds" and any(c.name == name for c in claim.clauses())
            and reaches(claim, changed.head[0]) and not is_true(changed, found[claim.name])]
        end = time.process_time() + 90
        return any(
            time.process_time() < end and test(claim, [changed if c.name == name else c for c in claim.clauses()])
            for test in (lambda claim, clauses: is_reached(claim, clauses, 20), lambda _, clauses: is_refuted(clauses, 1))
            for claim in claims)

    for name, clause in CLAUSES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        is_addition = any(name == row[0] for row in ADDITIONS)
        for test, changes in ((loses, [(None, "removed")]),) if is_addition else (
                (loses, altered(clause)), (loses, narrowed(clause)), (falls, weakened(clause))):
            for changed, text in changes:
                total += 1
                if not test(name, changed):
                    reason = UNNOTICED.get(f"{name}: {text}")
                    print(f"{name}: {text}", reason or "unnoticed", sep="\t", flush=True)
                    unnoticed += reason is None
    print(f"{total} changes, {unnoticed} unnoticed")
    return unnoticed > 0


if __name__ == "__main__":
    sys.exit(main())
