"""The symbolic model of the protocol: one table of clauses, weaknesses, and claims.

A clause is `fact & fact -> fact`; variables begin with a capital letter, and stand for every term. `att(X)` says that the
attacker knows X. The Specification's paragraph stands beside each clause ("HTTP" is EnrollmentHTTP, "0040" a decision).
The derivable facts are what can happen in any number of runs, with an attacker who controls the network.

Merging names and leaving out inputs gives the attacker more; perfect ciphers, missing equations, and a fixed newest
counter give it less:
- Every public key, except in `hints`, and every ML-KEM ciphertext is known. `dh(X,Y)` is the X25519 result of the secrets X and Y, and
  `kem(K,W)` is the secret that key K decapsulates from a ciphertext of randomness W.
- `kdf(K,X)` stands for every derivation, hash, and MAC. Inputs that no verdict needs are left out, such as kem_context,
  enc_pq, and the keys inside an answer. `aead(K,X)` is a ciphertext; nonces are perfect.
- A name such as `e(N)` is fresh only by N, so runs may share it. A fact is never withdrawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Term = "str | tuple"  # A variable, or a symbol and its arguments.


def parse(text: str) -> list:
    """Returns the terms of a conjunction, such as `att(X) & trusts(T,S)`."""
    tokens = re.findall(r"\w+|[(),&=]", text)
    position = 0

    def term():
        nonlocal position
        name = tokens[position]
        position += 1
        if name[0].isupper():
            return name
        arguments = []
        if position < len(tokens) and tokens[position] == "(":
            while tokens[position] != ")":
                position += 1
                arguments.append(term())
            position += 1
        return (name, *arguments)

    terms = []
    while position < len(tokens):
        terms.append(term())
        if position < len(tokens) and tokens[position] == "=":
            position += 1
            terms.append(("=", terms.pop(), term()))
        assert position == len(tokens) or tokens[position] == "&", text
        position += 1
    return terms


def show(term) -> str:
    """Returns a term as text."""
    if isinstance(term, str):
        return term
    return term[0] + (f"({','.join(map(show, term[1:]))})" if term[1:] else "")


def variables(term) -> list[str]:
    """Returns the term's variables, in order, each once."""
    if isinstance(term, str):
        return [term]
    return list(dict.fromkeys(name for argument in term[1:] for name in variables(argument)))


@dataclass(frozen=True)
class Clause:
    """`body -> head`. Without a head, it is a goal: the claim is that its body is never derivable."""

    name: str
    paragraph: str
    body: tuple
    head: tuple | None

    @property
    def variables(self) -> list[str]:
        return variables(("", *self.body, *((self.head,) if self.head else ())))


def clause(name: str, paragraph: str, text: str) -> Clause:
    body, head = text.split("->")
    heads = parse(head)
    assert len(heads) <= 1, text
    return Clause(name, paragraph, tuple(parse(body)), heads[0] if heads else None)


# Keys, by the Specification's formulas. `s` is the honest sender's seed, `z` that of another trusted sender.
S, Z = "kdf(s,scalar)", "kdf(z,scalar)"
H = "pair(hx,hk)"  # The hybrid device's key: its X25519 half and its ML-KEM half (3.8.2).


def key1(e: str, s: str, r: str, label: str, topic: str = "T") -> str:
    """3.4.2 to 3.4.4: both Diffie-Hellman results, and info."""
    return f"kdf(pair(dh({e},{r}),dh({s},{r})),pair({label},{topic}))"


def key3(e: str, s: str, x: str, k: str, w: str, label: str, topic: str = "T") -> str:
    """3.8.3: those, ML-KEM's secret as the psk, and info."""
    return f"kdf(pair(pair(dh({e},{x}),dh({s},{x})),kem({k},{w})),pair({label},{topic}))"


GROUPS: dict[str, list[tuple[str, str, str]]] = {
    "attacker": [
        ("pair", "1.2", "att(X) & att(Y) -> att(pair(X,Y))"),
        ("left", "1.2", "att(pair(X,Y)) -> att(X)"),
        ("right", "1.2", "att(pair(X,Y)) -> att(Y)"),
        ("kdf", "3.4.1", "att(X) & att(Y) -> att(kdf(X,Y))"),
        ("seal", "3.4.7", "att(K) & att(X) -> att(aead(K,X))"),
        ("open", "3.4.7", "att(K) & att(aead(K,X)) -> att(X)"),
        ("x25519", "3.4.2", "att(Y) -> att(dh(X,Y))"),
        ("commute", "3.4.2", "-> dh(X,Y) = dh(Y,X)"),
        ("own-secret", "1.1", "-> att(evil)"),
        ("own-text", "1.1", "-> att(forged)"),
        ("topic", "1.1", "-> att(app)"),
        ("label-scalar", "3.7.1", "-> att(scalar)"),
        ("label-message", "3.4.4", "-> att(message)"),
    ],
    "messages": [
        # The attacker's other tools.
        ("decapsulate", "3.8.3", "att(K) -> att(kem(K,W))"),
        ("encapsulate", "3.8.3", "att(W) -> att(kem(K,W))"),
        ("label-box", "3.6.2", "-> att(box)"),
        ("label-challenge", "11.5.1", "-> att(challenge)"),
        ("other-topic", "1.1", "-> att(other)"),
        ("number", "3.1.2", "-> att(number)"),
        # Trust: the honest sender, and one whose seed the attacker has.
        ("trust", "1.1", f"-> trusts(T,{S})"),
        ("trust-insider", "1.1", f"-> trusts(T,{Z})"),
        ("insider", "1.1", "-> att(z)"),
        # Suite 0x01: to any recipient X, the message m(X,T,I), or any pair that the attacker writes.
        ("seal-01", "3.4.7", f"-> att(aead({key1('e', S, 'X', 'message')},pair(number,m(X,T))))"),
        ("seal-01-chosen", "3.4.7",
         f"att(A) & att(B) -> att(aead({key1('e', S, 'X', 'message')},pair(number,pair(A,B))))"),
        ("accept-01", "6.1",
         f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'message')},pair(J,M))) -> accept(d,S,T,J,M)"),
        # Suite 0x02: from a sender without a key. The topic is in the content.
        ("seal-02", "3.6.2", "att(T) -> att(aead(kdf(dh(e,X),box),pair(T,a(X,T))))"),
        ("accept-02", "6.4", "att(aead(kdf(dh(E,d),box),pair(T,M))) -> accept(d,nobody,T,number,M)"),
        # Suite 0x03: to any recipient X, K.
        ("seal-03", "3.8.3",
         f"-> att(aead({key3('e', S, 'X', 'K', 'w', 'message')},pair(number,h(X,K,T))))"),
        ("seal-03-chosen", "3.8.3",
         f"att(A) & att(B) -> att(aead({key3('e', S, 'X', 'K', 'w', 'message')},pair(number,pair(A,B))))"),
        ("accept-03", "3.8.4",
         f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'message')},pair(J,M))) "
         f"-> accept({H},S,T,J,M)"),
        # Challenges, for any recipient and enrollment key. `question` is the 32 random bytes r.
        ("ask-01", "11.5.1", f"-> att(aead({key1('e', S, 'X', 'challenge')},pair(number,pair(question(X,T,Y),pub(Y)))))"),
        ("ask-03", "11.5.1",
         f"-> att(aead({key3('e', S, 'X', 'K', 'w', 'challenge')},pair(number,pair(questions(X,K,T,Y),pub(Y)))))"),
        ("enrollment-key", "11.4.1", "-> att(pub(Y))"),
        ("answer-01", "11.5.3",
         f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'challenge')},pair(J,pair(R,pub(ea))))) -> answer(d,S,T,R)"),
        ("answer-03", "11.5.3",
         f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'challenge')},pair(J,pair(R,pub(ea))))) -> answer({H},S,T,R)"),
    ],
    "withdrawals": [
        # The honest sender shows any text, and at noon withdraws its message `gone` and its thread `chat`.
        ("seal-text", "4.6",
         f"att(M) -> att(aead({key1('e', S, 'X', 'message')},pair(number,pair(alert,M))))"),
        ("withdraw", "21.1", f"-> att(aead({key1('e', S, 'X', 'message', 'app')},"
         "pair(number,pair(withdraw,pair(pair(id,gone),pair(noon,nine))))))"),
        ("withdraw-thread", "21.1", f"-> att(aead({key1('e', S, 'X', 'message', 'app')},"
         "pair(number,pair(withdraw,pair(pair(thread,chat),pair(noon,ten))))))"),
        *((f"member-{name}", "21.1", f"-> att({name})") for name in ("withdraw", "id", "thread", "stays", "noon", "evening")),
        ("withdrawal", "21.2", "accept(X,S,T,J,pair(withdraw,M)) & trusts(T,S) -> withdraws(T,S,M)"),
        ("remove", "21.5", "withdraws(T,S,pair(pair(id,I),M)) -> removed(T,S,I)"),
        ("clear", "21.5", "withdraws(T,S,pair(pair(thread,H),pair(U,B))) & earlier(V,U) -> cleared(T,S,H,V)"),
        ("set-badge", "21.5", "withdraws(T,S,pair(Q,pair(U,B))) -> badge(T,B)"),
        ("morning", "21.5", "-> earlier(morning,noon)"),
        ("noon", "21.5", "-> earlier(noon,evening)"),
    ],
    "signatures": [
        ("sign", "11.2.1", "att(K) & att(X) -> att(sign(K,X))"),
        ("signed", "11.1.4", "att(sign(K,X)) -> att(X)"),
        ("public-key", "11.4.1", "-> att(pub(X))"),
        ("newest", "11.3.1", "-> current(two)"),
    ],
    "enrollment": [
        # A login: M arrives in account A's login. The attacker has one, and reads everything (HTTP 1).
        ("login", "HTTP 1", "login(A) & att(X) -> in(A,X)"),
        ("login-mallory", "HTTP 1", "-> att(kdf(kdf(s,pair(logins,pair(app,here))),mallory))"),
        ("public-record", "11.1.4", "in(A,X) -> att(X)"),
        ("label-answer", "11.5.2", "-> att(answer)"),
        ("asked-label", "11.5.1", "-> att(challenge)"),
        # Alice's phone: its enrollment key is ea; its recipients are old, then d.
        ("record-old", "11.4.1", "-> in(alice,sign(ea,pair(record,pair(one,pub(old)))))"),
        ("record-new", "11.4.1", "-> in(alice,sign(ea,pair(record,pair(two,pub(d)))))"),
        # As if it could open anything, it answers each challenge in its login that names its enrollment key.
        ("reply", "11.5.3", "given(alice,aead(K,pair(J,pair(R,pub(ea))))) -> in(alice,kdf(R,answer))"),
        # The server.
        ("enroll", "11.4.2", "in(A,sign(Y,pair(record,pair(C,pub(X))))) -> enrolled(A,Y,X)"),
        ("ask", "11.5.1",
         f"enrolled(A,Y,X) -> given(A,aead({key1('e', S, 'X', 'challenge', 'app')},"
         "pair(number,pair(question(A,Y,X),pub(Y)))))"),
        ("public-challenge", "11.5.4", "given(A,X) -> att(X)"),
        ("prove", "11.5.6", "enrolled(A,Y,X) & in(A,kdf(question(A,Y,X),answer)) -> proven(A,Y,X)"),
        ("list", "11.4.3", "current(C) & in(A,sign(Y,pair(record,pair(C,pub(X))))) -> listed(A,X)"),
        ("send", "11.4.4",
         f"proven(A,Y,X) & listed(A,X) -> att(aead({key1('e', S, 'X', 'message', 'app')},pair(number,for(A))))"),
    ],
    "leavings": [
        # Alice's phone left, and enrolled again. Its next record, with the counter three, is held up. Two others only left.
        ("leave-old", "HTTP 6.1", "-> att(sign(ea,pair(leaving,pair(one,app))))"),
        ("next-record", "11.4.1", "-> att(sign(ea,pair(record,pair(three,pub(d)))))"),
        ("leave", "HTTP 6.1", "-> att(sign(eb,pair(leaving,pair(three,app))))"),
        ("leave-other", "HTTP 6.1", "-> att(sign(ec,pair(leaving,pair(three,other))))"),
        ("higher", "HTTP 6.1", "-> higher(three)"),
        ("forget", "HTTP 6.2", "att(sign(Y,pair(leaving,pair(C,app)))) & higher(C) -> gone(Y)"),
    ],
    "sets": [
        ("pinned", "11.6.1", "-> pinned(authority)"),
        ("stolen-sender", "11.6.3", "-> att(q)"),
        ("old-set", "11.6.2", "-> att(sign(authority,pair(set,pair(app,pair(one,pub(kdf(q,scalar)))))))"),
        ("new-set", "11.6.2", f"-> att(sign(authority,pair(set,pair(app,pair(two,pub({S}))))))"),
        ("insider-set", "11.6.2", f"-> att(sign(authority,pair(set,pair(app,pair(two,pub({Z}))))))"),
        ("other-set", "11.3.1", "-> att(sign(authority,pair(set,pair(other,pair(two,pub(kdf(y,scalar)))))))"),
        ("other-sender", "11.3.1", "-> att(y)"),
        ("also-enrolls", "11.2.2", "att(T) -> att(sign(authority,pair(record,pair(T,pair(two,pub(X))))))"),
        ("former-authority", "11.6.4", "-> att(former)"),
        ("believe", "11.6.2",
         "pinned(A) & current(C) & att(sign(A,pair(set,pair(T,pair(C,pub(S)))))) -> trusts(T,S)"),
    ],
    "receipts": [
        ("first-id", "16.2", "-> att(first)"),
        ("second-id", "16.2", "-> att(second)"),
        ("show-first", "16.7", "-> shows(app,first)"),
        ("show-second", "16.7", "-> shows(other,second)"),
        ("receipt", "16.7", "shows(T,I) & accept(X,S,T,J,pair(I,K)) -> att(kdf(K,I))"),
        ("label-receipts", "3.7.1", "-> att(receipts)"),
    ],
    "receipts of a suite": [
        ("request-01", "16.1",
         f"att(I) -> att(aead({key1('e', S, 'X', 'message')},pair(number,pair(I,kdf(kdf(s,pair(receipts,T)),pub(X))))))"),
        ("request-03", "16.1",
         f"att(I) -> att(aead({key3('e', S, 'X', 'K', 'w', 'message')},"
         "pair(number,pair(I,kdf(kdf(s,pair(receipts,T)),pubs(X,K))))))"),
        ("count-01", "16.5", "att(kdf(kdf(kdf(s,pair(receipts,T)),pub(X)),I)) -> counts(X,T,I)"),
        ("count-03", "16.5", "att(kdf(kdf(kdf(s,pair(receipts,T)),pubs(X,K)),I)) -> counts(pair(X,K),T,I)"),
        ("device-key-01", "16.4", "-> att(pub(X))"),
        ("device-key-03", "16.4", "-> att(pubs(X,K))"),
    ],
    "logins": [
        ("name", "HTTP 1", "-> att(alice)"),
        ("own-name", "HTTP 1", "-> att(mallory)"),
        ("label-login", "3.7.1", "-> att(logins)"),
        ("label-state", "3.7.1", "-> att(state)"),
        ("this-service", "3.7.1", "-> att(here)"),
        ("issue-there", "3.7.1", "att(A) -> att(kdf(kdf(s,pair(logins,pair(app,there))),A))"),
        ("issue-other", "3.7.1", "att(A) -> att(kdf(kdf(s,pair(logins,pair(other,here))),A))"),
        ("issue-here", "3.7.1", "att(A) -> att(kdf(kdf(s,pair(logins,pair(app,here))),pair(user,A)))"),
        ("enter", "HTTP 1", "att(kdf(kdf(s,pair(logins,pair(app,here))),A)) -> login(A)"),
        ("state-there", "HTTP 3.3", "att(A) & att(X) -> att(kdf(kdf(s,pair(state,pair(app,there))),pair(A,X)))"),
        ("state-other", "HTTP 3.3", "att(A) & att(X) -> att(kdf(kdf(s,pair(state,pair(other,here))),pair(A,X)))"),
        ("state-here", "HTTP 3.3", "-> att(kdf(kdf(s,pair(state,pair(app,here))),pair(mallory,issued)))"),
        ("issued", "HTTP 3.3", "-> att(issued)"),
        ("return", "HTTP 3.3", "att(kdf(kdf(s,pair(state,pair(app,here))),pair(A,X))) -> returned(A,X)"),
    ],
    "identifiers": [
        # The attacker reads each push's IDs, and an outbox's fingerprints: of `hidden` content, and of its own, under its own
        # idempotency key. `guess` is a guess at other content, and `request` is the tag of that message's idempotency key.
        *((f"id-{name}", "2.7", f"-> att({name})") for name in ("ids", "content", "request", "guess")),
        ("identifier", "2.8", "att(R) & att(M) -> att(kdf(kdf(s,pair(ids,T)),pair(identifier,pair(R,M))))"),
        ("fingerprint", "2.7", "att(R) -> att(kdf(kdf(s,pair(ids,T)),pair(content,pair(R,hidden))))"),
        ("own-fingerprint", "2.7", "att(M) -> att(kdf(kdf(s,pair(ids,T)),pair(content,pair(own,M))))"),
        ("compare", "2.7", "att(kdf(kdf(s,pair(ids,T)),pair(content,pair(request,M)))) -> tested(T,M)"),
    ],
    "hints": [
        # Each recipient's pushes under the key `first` are seen. None under `second` is, so those hints must be computed.
        *((f"hint-{name}", "3.2.1", f"-> att({name})") for name in ("recipient", "sender", "first", "second")),
        ("recipient-hint", "3.2.1", "-> att(kdf(recipient,pair(first,pub(X))))"),
        ("sender-hint", "3.2.1", f"-> att(kdf(sender,pair(first,pair(pub(X),pub({S})))))"),
        ("public-sender", "3.2.2", f"-> att(pub({S}))"),
        ("own-recipient", "3.2.2", "att(X) -> att(pub(X))"),
        ("find", "3.2.3", "att(kdf(recipient,pair(second,pub(X)))) -> finds(X)"),
        ("find-sender", "3.2.3", "att(kdf(sender,pair(second,pair(pub(X),pub(S))))) -> names(X,S)"),
    ],
    "rows": [
        # An intruder reads and writes the database. Mallory registers anything for himself, and sends any text to anyone.
        *((f"kind-{kind}", "0040", f"-> kind({kind})") for kind in ("address", "pin", "enrollment")),
        ("kind-names", "0040", "kind(F) -> att(F)"),
        ("kind-entry", "0040", "-> att(entry)"),
        ("row-entry", "0040", "att(A) & att(M) -> att(kdf(o,pair(entry,pair(A,sealed(M)))))"),
        ("row-newest", "0040", "kind(F) -> att(kdf(o,pair(F,pair(alice,newest(F)))))"),
        ("row-older", "0040", "kind(F) -> att(kdf(o,pair(F,pair(alice,older(F)))))"),
        ("row-own", "0040", "kind(F) & att(X) -> att(kdf(o,pair(F,pair(mallory,X))))"),
        ("use-row", "0040", "att(kdf(o,pair(F,pair(A,X)))) -> uses(F,A,X)"),
    ],
}

# What a claim may add: leaks, and rules that an implementation breaks.
ADDITIONS: list[tuple[str, str, str]] = [
    ("leak-seed", "3.7.1", "-> att(s)"),
    ("leak-d", "1.1", "-> att(d)"),
    ("leak-hx", "3.8.2", "-> att(hx)"),
    ("leak-hk", "3.8.2", "-> att(hk)"),
    ("leak-ephemeral", "3.4.2", "-> att(e)"),
    ("leak-scalar", "3.7.1", f"-> att({S})"),
    ("any-topic-01", "3.4.4",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'message', 'O')},pair(J,M))) -> accept(d,S,T,J,M)"),
    ("any-topic-02", "6.4", "att(aead(kdf(dh(E,d),box),pair(O,M))) -> accept(d,nobody,T,number,M)"),
    ("any-topic-03", "3.8.3",
     f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'message', 'O')},pair(J,M))) "
     f"-> accept({H},S,T,J,M)"),
    ("any-topic-ask-01", "11.5.1",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'challenge', 'O')},pair(J,pair(R,pub(ea))))) -> answer(d,S,T,R)"),
    ("any-topic-ask-03", "11.5.1",
     f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'challenge', 'O')},pair(J,pair(R,pub(ea))))) "
     f"-> answer({H},S,T,R)"),
    ("any-number-01", "3.4.6",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'message')},pair(I,M))) -> accept(d,S,T,J,M)"),
    ("any-number-03", "3.8.3",
     f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'message')},pair(I,M))) "
     f"-> accept({H},S,T,J,M)"),
    ("any-label-01", "11.5.1",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'challenge')},pair(J,M))) -> accept(d,S,T,J,M)"),
    ("any-label-03", "3.8.3",
     f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'challenge')},pair(J,M))) "
     f"-> accept({H},S,T,J,M)"),
    ("any-label-ask-01", "11.5.1",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'message')},pair(J,pair(R,pub(ea))))) -> answer(d,S,T,R)"),
    ("any-label-ask-03", "3.8.3",
     f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'message')},pair(J,pair(R,pub(ea))))) "
     f"-> answer({H},S,T,R)"),
    ("any-sender-01", "6.1", f"att(aead({key1('E', 'S', 'd', 'message')},pair(J,M))) -> accept(d,S,T,J,M)"),
    ("any-sender-03", "6.1",
     f"att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'message')},pair(J,M))) -> accept({H},S,T,J,M)"),
    ("any-sender-ask-01", "11.5.3",
     f"att(aead({key1('E', 'S', 'd', 'challenge')},pair(J,pair(R,pub(ea))))) -> answer(d,S,T,R)"),
    ("any-sender-ask-03", "11.5.3",
     f"att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'challenge')},pair(J,pair(R,pub(ea))))) -> answer({H},S,T,R)"),
    ("any-enrollment-01", "11.5.3",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'd', 'challenge')},pair(J,pair(R,P)))) -> answer(d,S,T,R)"),
    ("any-enrollment-03", "11.5.3",
     f"trusts(T,S) & att(aead({key3('E', 'S', 'hx', 'hk', 'W', 'challenge')},pair(J,pair(R,P)))) -> answer({H},S,T,R)"),
    ("opens-01", "3.8.5",
     f"trusts(T,S) & att(aead({key1('E', 'S', 'hx', 'message')},pair(J,M))) -> accept({H},S,T,J,M)"),
    ("falls-back", "3.8.6",
     f"-> att(aead({key1('e', S, 'X', 'message')},pair(number,h(X,K,T))))"),
    ("anonymous-withdrawal", "21.2", "accept(X,nobody,T,J,pair(withdraw,M)) & trusts(T,S) -> withdraws(T,S,M)"),
    ("any-withdrawal", "21.5", f"accept(X,{Z},T,J,pair(withdraw,M)) -> withdraws(T,{S},M)"),
    ("any-member", "21.1", "accept(X,S,T,J,pair(alert,I)) & trusts(T,S) -> withdraws(T,S,pair(pair(id,I),I))"),
    ("any-time", "21.5", "withdraws(T,S,pair(pair(thread,H),pair(U,B))) -> cleared(T,S,H,V)"),
    ("any-key", "3.7.1", "att(kdf(kdf(s,pair(N,pair(app,here))),A)) -> login(A)"),
    ("any-state-key", "3.7.1", "att(kdf(kdf(s,pair(N,pair(app,here))),pair(A,X))) -> returned(A,X)"),
    ("any-app", "3.7.1", "att(kdf(kdf(s,pair(logins,pair(T,here))),A)) -> login(A)"),
    ("any-service", "3.7.1", "att(kdf(kdf(s,pair(logins,pair(app,D))),A)) -> login(A)"),
    ("any-app-state", "3.7.1", "att(kdf(kdf(s,pair(state,pair(T,here))),pair(A,X))) -> returned(A,X)"),
    ("any-service-state", "3.7.1", "att(kdf(kdf(s,pair(state,pair(app,D))),pair(A,X))) -> returned(A,X)"),
    ("any-use", "3.7.1", "att(kdf(kdf(s,pair(N,T)),A)) -> login(A)"),
    ("any-device-01", "16.4", "att(kdf(kdf(kdf(s,pair(receipts,T)),pub(Y)),I)) -> counts(X,T,I)"),
    ("any-device-03", "16.4", "att(kdf(kdf(kdf(s,pair(receipts,T)),pubs(Y,L)),I)) -> counts(pair(X,K),T,I)"),
    ("leak-login", "HTTP 1", "-> att(kdf(kdf(s,pair(logins,pair(app,here))),alice))"),
    ("leak-old", "11.4.3", "-> att(old)"),
    ("leak-enrollment", "11.4.1", "-> att(ea)"),
    ("old-counter", "11.3.1", "-> current(one)"),
    ("any-channel", "11.5.8", "att(X) -> given(alice,X)"),
    ("any-enrollment", "11.5.4", "given(alice,aead(K,pair(J,pair(R,P)))) -> in(alice,kdf(R,answer))"),
    ("old-leaving", "HTTP 6.2", "-> higher(one)"),
    ("any-leaving-topic", "HTTP 6.1", "att(sign(Y,pair(leaving,pair(C,O)))) & higher(C) -> gone(Y)"),
    ("any-leaving-label", "HTTP 6.1", "att(sign(Y,pair(record,pair(C,X)))) & higher(C) -> gone(Y)"),
    ("any-record-label", "11.2.1", "in(A,sign(Y,pair(leaving,pair(C,T)))) & att(pub(X)) -> enrolled(A,Y,X)"),
    ("any-id", "2.7", "att(kdf(kdf(s,pair(ids,T)),pair(N,pair(request,M)))) -> tested(T,M)"),
    ("any-request", "2.7", "att(kdf(kdf(s,pair(ids,T)),pair(content,pair(R,M)))) -> tested(T,M)"),
    ("leak-record", "11.1.4", "-> att(pub(d))"),
    ("any-enc", "3.2.1", "att(kdf(recipient,pair(E,pub(X)))) -> finds(X)"),
    ("plain-sender-hint", "3.2.1", "att(kdf(sender,pair(second,pub(S)))) -> names(X,S)"),
    ("leak-outbox", "0040", "-> att(o)"),
    ("any-kind", "0040", "att(kdf(o,pair(N,pair(A,X)))) -> uses(F,A,X)"),
    ("any-row", "0040", "att(kdf(o,pair(F,pair(A,X)))) -> uses(F,alice,X)"),
    ("leak-authority", "11.6.1", "-> att(authority)"),
    ("pin-former", "11.6.4", "-> pinned(former)"),
    ("any-set-topic", "11.3.1",
     "pinned(A) & current(C) & att(sign(A,pair(set,pair(O,pair(C,pub(S)))))) -> trusts(T,S)"),
    ("any-type", "11.2.2",
     "pinned(A) & current(C) & att(sign(A,pair(record,pair(T,pair(C,pub(S)))))) -> trusts(T,S)"),
]

# Each world: groups, and single clauses of other groups.
TRUST = ["trust", "trust-insider", "insider"]
COMMON = [*TRUST, "number", "label-challenge", "other-topic", "enrollment-key"]
WITHDRAWN = ["number", "label-box", "other-topic", "accept-01", "accept-02"]
ENROLLED = [*TRUST, "number", "accept-01", "name", "label-login", "this-service", "enter"]
WORLDS = {
    "messages": ["attacker", "messages"],
    "suite-01": ["attacker", *COMMON, "seal-01", "seal-01-chosen", "accept-01", "ask-01", "answer-01"],
    "suite-03": ["attacker", *COMMON, "seal-03", "seal-03-chosen", "accept-03", "ask-03", "answer-03", "decapsulate",
                 "encapsulate"],
    "withdrawals": ["attacker", "withdrawals", *TRUST, *WITHDRAWN],
    "withdrawals-alone": ["attacker", "withdrawals", "trust", *WITHDRAWN],
    "enrollment": ["attacker", "signatures", "enrollment", *ENROLLED],
    "leavings": ["attacker", "signatures", "enrollment", *ENROLLED, "leavings"],
    "sets": ["attacker", "signatures", "sets", "insider", "seal-01", "accept-01", "number"],
    "sets-asks": ["attacker", "signatures", "sets", "insider", "ask-01", "answer-01", "number", "label-challenge",
                  "enrollment-key"],
    "sets-03": ["attacker", "signatures", "sets", "insider", "seal-03", "accept-03", "number", "decapsulate", "encapsulate"],
    "sets-asks-03": ["attacker", "signatures", "sets", "insider", "ask-03", "answer-03", "number", "label-challenge",
                     "enrollment-key", "decapsulate", "encapsulate"],
    "receipts-01": ["attacker", "receipts", *TRUST, "request-01", "count-01", "device-key-01", "number",
                    "accept-01"],
    "receipts-03": ["attacker", "receipts", *TRUST, "request-03", "count-03", "device-key-03", "number",
                    "accept-03", "decapsulate", "encapsulate"],
    "logins": ["attacker", "logins"],
    "keys": ["attacker", "logins", "receipts", "identifiers", *TRUST, "request-01", "device-key-01", "number", "accept-01"],
    "identifiers": ["attacker", "identifiers"],
    "hints": ["attacker", "hints"],
    "rows": ["attacker", "rows", "name", "own-name"],
    # All of it, with suite 0x01 and the sets' trust: one sender, authority, and phone, with all of their keys.
    "together": ["attacker", "signatures", "enrollment", "leavings", "sets", "withdrawals", "receipts", "request-01", "count-01",
                 "logins", "identifiers", "rows", "number", "insider", "accept-01"],
}

QUANTUM = ["leak-d", "leak-hx", "leak-ephemeral", "leak-scalar"]  # Every Diffie-Hellman exponent.
LEAKS = {
    "nothing": [],
    "seed": ["leak-seed"],
    "x25519": ["leak-d", "leak-hx"],
    "ml-kem": ["leak-hk"],
    "seed+ml-kem": ["leak-seed", "leak-hk"],
    "both": ["leak-d", "leak-hx", "leak-hk"],
    "quantum": QUANTUM,
    "quantum+ml-kem": [*QUANTUM, "leak-hk"],
    "everything": ["leak-seed", *QUANTUM, "leak-hk"],
}


@dataclass(frozen=True)
class Claim:
    """`expected` is `holds` (a model shows it), `attack`, or `runs` (a derivation shows it). A claim that holds names its
    twins: a run of the same world, and an attack on the same goal with more additions."""

    name: str
    text: str
    world: str
    additions: tuple
    goal: str
    expected: str
    run: str = ""
    attack: str = ""

    def clauses(self) -> list[Clause]:
        """Returns the claim's clauses, the goal last."""
        names = [*WORLDS[self.world], *self.additions]
        chosen = [CLAUSES[name] for entry in names for name in (
            [row[0] for row in GROUPS[entry]] if entry in GROUPS else [entry])]
        return [*chosen, clause("goal", "", self.goal + " ->")]


CLAUSES = {row[0]: clause(*row) for rows in (*GROUPS.values(), ADDITIONS) for row in rows}
CLAIMS: list[Claim] = []


def claim(name, text, world, additions, goal, expected, run="", attack=""):
    CLAIMS.append(Claim(name, text, world, tuple(additions), goal, expected, run, attack))


SUITES = [  # The suite, its recipient, its sender as the device sees it, its honest message.
    ("01", "d", S, "m(d,app)"),
    ("02", "d", "nobody", "a(d,app)"),
    ("03", H, S, "h(hx,hk,app)"),
]
SENDER = set(LEAKS) - {"nothing", "ml-kem"}  # The leaks that let an attacker pose as the sender.
for suite, device, sender, message in SUITES:
    claim(f"run-{suite}", "an honest message is accepted", "messages", [],
          f"accept({device},{sender},app,number,{message})", "runs")
    # For each leak, whether the secrecy and the sender fall.
    falls = {
        "01": ({"x25519", "both", "quantum", "quantum+ml-kem", "everything"}, SENDER),
        "02": ({"x25519", "both", "quantum", "quantum+ml-kem", "everything"}, set(LEAKS)),
        "03": ({"both", "quantum+ml-kem", "everything"}, SENDER),
    }[suite]
    for goal, text, fact, fallen in (
            ("secret", "the message stays secret", f"att({message})", falls[0]),
            ("sender", "a message that the sender did not seal is refused",
             f"accept({device},{sender},app,L,forged)", falls[1])):
        for leak, additions in LEAKS.items():
            claim(f"{goal}-{suite}/{leak}", f"{text}; leaked: {leak}", "messages", additions, fact,
                  *(("attack",) if leak in fallen else ("holds", f"run-{suite}", f"{goal}-{suite}/everything")))


def pair_of_claims(name, text, world, additions, goal, run, twin, twin_text):
    """Adds a claim that holds, and its attack twin: the same goal with more additions."""
    claim(name, text, world, additions, goal, "holds", run, f"{name}/{'+'.join(twin)}")
    claim(f"{name}/{'+'.join(twin)}", twin_text, world, [*additions, *twin], goal, "attack")


for suite, device, message in (("01", "d", "m(d,other)"), ("02", "d", "a(d,other)"), ("03", H, "h(hx,hk,other)")):
    sender = "nobody" if suite == "02" else S
    pair_of_claims(f"topic-{suite}", "a message for another topic is refused", "messages", [],
                   f"accept({device},{sender},app,L,{message})", f"run-{suite}",
                   [f"any-topic-{suite}"], "a device ignores the topic")
for suite, device, elsewhere in (("01", "d", "m(evil,O)"), ("03", H, "h(evil,evil,O)")):
    question = "question(d,{},{})" if suite == "01" else "questions(hx,hk,{},{})"
    pair_of_claims(f"number-{suite}", "a message is refused under another number", "messages", [],
                   f"accept({device},{S},T,forged,M)", f"run-{suite}",
                   [f"any-number-{suite}"], "the tag does not cover the number")
    claim(f"number-thief-{suite}", "a seed's thief chooses the number", "messages", ["leak-seed"],
          f"accept({device},{S},T,forged,M)", "attack")
    claim(f"run-chosen-{suite}", "a message with text that the attacker chose is accepted", "messages", [],
          f"accept({device},{S},app,number,pair(forged,evil))", "runs")
    claim(f"run-chosen-{suite}/other", "so is one in another app", "messages", [],
          f"accept({device},{S},other,number,pair(forged,evil))", "runs")
    claim(f"run-ask-{suite}", "an honest challenge is answered", f"suite-{suite}", [],
          f"answer({device},{S},app,{question.format('app', 'ea')})", "runs")
    claim(f"run-ask-{suite}/other", "so is one in another app", f"suite-{suite}", [],
          f"answer({device},{S},other,{question.format('other', 'ea')})", "runs")
    pair_of_claims(f"redirect-{suite}", "a message to another device is refused", "messages", [],
                   f"accept({device},{S},T,L,{elsewhere})", f"run-{suite}", ["leak-seed"], "the seed leaks")
    pair_of_claims(f"redirect-ask-{suite}", "a challenge to another device is not answered", f"suite-{suite}", [],
                   f"answer({device},{S},T,{question.replace('(d,', '(evil,').replace('(hx,hk,', '(evil,evil,').format('app', 'ea')})",
                   f"run-ask-{suite}", ["leak-seed"], "the seed leaks")
    pair_of_claims(f"ask-as-message-{suite}", "a challenge is refused as a message", f"suite-{suite}", [],
                   f"accept({device},{S},T,L,pair({question.format('O', 'Y')},P))", f"run-ask-{suite}",
                   [f"any-label-{suite}"], "a device ignores info's label")
    pair_of_claims(f"message-as-ask-{suite}", "a message is refused as a challenge", f"suite-{suite}", [],
                   f"answer({device},{S},T,forged)", f"run-ask-{suite}",
                   [f"any-label-ask-{suite}"], "a device ignores info's label")
    claim(f"ask-forged-{suite}", "a seed's thief asks challenges", f"suite-{suite}", ["leak-seed"],
          f"answer({device},{S},T,forged)", "attack")
    pair_of_claims(f"ask-topic-{suite}", "a challenge for another topic is not answered", f"suite-{suite}", [],
                   f"answer({device},{S},app,{question.format('other', 'ea')})", f"run-ask-{suite}",
                   [f"any-topic-ask-{suite}"], "a device ignores the topic")
    pair_of_claims(f"ask-enrollment-{suite}", "a challenge for another enrollment key is not answered", f"suite-{suite}", [],
                   f"answer({device},S,T,{question.format('O', 'evil')})", f"run-ask-{suite}",
                   [f"any-enrollment-{suite}"], "a device skips step 5")
    pair_of_claims(f"untrusted-{suite}", "a stranger's message is refused", "messages", [],
                   f"accept({device},evil,T,L,M)", f"run-{suite}", [f"any-sender-{suite}"], "a device trusts every sender")
    pair_of_claims(f"untrusted-ask-{suite}", "a stranger's challenge is not answered", f"suite-{suite}", [],
                   f"answer({device},evil,T,R)", f"run-ask-{suite}", [f"any-sender-ask-{suite}"],
                   "a device trusts every sender")
pair_of_claims("question-03", "a quantum computer reads no hybrid challenge", "suite-03", QUANTUM,
               "att(questions(hx,hk,app,ea))", "run-ask-03", ["leak-hk"], "the ML-KEM secret leaks, too")
for suite, fact, leaks, twin in (("01", "question(d,app,ea)", ["leak-seed"], "leak-d"),
                                 ("03", "questions(hx,hk,app,ea)", ["leak-seed", "leak-hk"], "leak-hx")):
    pair_of_claims(f"question-thief-{suite}", "a seed's thief reads no challenge", f"suite-{suite}", leaks,
                   f"att({fact})", f"run-ask-{suite}", [twin], "the device's X25519 secret leaks, too")
claim("run-02/other", "a message without a sender is accepted in another app", "messages", [],
      "accept(d,nobody,other,number,a(d,other))", "runs")
claim("other-topic", "a seed's thief sends in each of the sender's apps", "messages", ["leak-seed"],
      f"accept(d,{S},other,L,forged)", "attack")
pair_of_claims("downgrade-03", "a hybrid device opens no message of suite 0x01", "messages", [],
               f"accept({H},S,T,L,m(hx,O))", "run-03", ["opens-01"], "it opens suite 0x01 with its X25519 half")
pair_of_claims("fallback-03", "a quantum computer reads no message to a hybrid device", "messages", QUANTUM,
               "att(h(hx,hk,T))", "run-03", ["falls-back"], "a sender falls back to suite 0x01")
claim("insider-topic", "another trusted sender sends in each app", "messages", [], f"accept(d,{Z},other,L,forged)", "attack")
claim("run-remove", "an honest withdrawal removes a message", "withdrawals", [], f"removed(app,{S},gone)", "runs")
claim("run-clear", "one of a thread removes an earlier message", "withdrawals", [], f"cleared(app,{S},chat,morning)", "runs")
claim("run-badge", "it sets the badge", "withdrawals-alone", [], "badge(app,nine)", "runs")
claim("run-badge-thread", "so does one of a thread", "withdrawals-alone", [], "badge(app,ten)", "runs")
claim("run-text", "text that the attacker chose is accepted", "withdrawals", [],
      f"accept(d,{S},other,number,pair(alert,forged))", "runs")
for name, text, world, goal, run, twin, twin_text in (
        ("insider", "another trusted sender removes no message", "withdrawals", f"removed(app,{S},stays)", "run-remove",
         "any-withdrawal", "a device ignores the withdrawal's sender"),
        ("topic", "a withdrawal in another app removes no message", "withdrawals", f"removed(other,{S},gone)", "run-remove",
         "any-topic-01", "a device ignores the topic"),
        ("anonymous", "a stranger removes no message", "withdrawals", f"removed(app,{S},stays)", "run-remove",
         "anonymous-withdrawal", "an anonymous withdrawal counts"),
        ("text", "text that the attacker chose removes no message", "withdrawals", f"removed(app,{S},forged)", "run-remove",
         "any-member", "a device takes any text for a withdrawal"),
        ("thread", "a thread's withdrawal removes no later message", "withdrawals", f"cleared(app,{S},chat,noon)", "run-clear",
         "any-time", "a device ignores when it was sent"),
        ("other-thread", "nor one in another thread", "withdrawals", f"cleared(app,{S},forged,V)", "run-clear",
         "any-withdrawal", "a device ignores the withdrawal's sender"),
        ("badge", "a stranger does not set the badge", "withdrawals-alone", "badge(T,forged)", "run-badge",
         "anonymous-withdrawal", "an anonymous withdrawal counts")):
    pair_of_claims(f"withdraw-{name}", text, world, [], goal, run, [twin], twin_text)
claim("run-remove-own", "another trusted sender removes its own message", "withdrawals", [], f"removed(app,{Z},stays)",
      "runs")
claim("run-clear-own", "and its own thread", "withdrawals", [], f"cleared(other,{Z},forged,noon)", "runs")
claim("badge-insider", "any trusted sender sets the badge", "withdrawals", [], "badge(other,forged)", "attack")
claim("withdraw-thief", "a seed's thief removes any message", "withdrawals", ["leak-seed"],
      f"removed(app,{S},stays)", "attack")

claim("run-enroll", "a message for Alice is shown on her phone", "enrollment", [], f"accept(d,{S},app,J,for(alice))", "runs")
claim("run-old", "her phone's earlier recipient was proven", "enrollment", [], "proven(alice,ea,old)", "runs")
claim("run-mallory", "Mallory enrolls his own phone", "enrollment", [], "proven(mallory,evil,evil)", "runs")
claim("run-public", "he knows the public key of her phone", "enrollment", [], "att(pub(ea))", "runs")
for name, text, goal, additions, twin, twin_text in (
        ("enroll-secret", "only Alice's phone gets her messages", "att(for(alice))", [], ["leak-login"],
         "Alice's login leaks"),
        ("enroll-key", "her enrollment key alone does not help its thief", "att(for(alice))",
         ["leak-enrollment"], ["leak-d"], "her recipient's secret leaks"),
        ("old-record", "an old record brings no stolen recipient back", "att(for(alice))", ["leak-old"],
         ["old-counter"], "the server accepts a lower counter"),
        ("stranger", "Mallory's key is not enrolled for Alice", "proven(alice,evil,X)", [], ["leak-login"],
         "Alice's login leaks"),
        ("stranger-record", "nor does the server take a record of his for her", "enrolled(alice,evil,X)", [], ["leak-login"],
         "her login leaks"),
        ("foreign-record", "Mallory proves no recipient for Alice's enrollment key", "proven(mallory,ea,X)", [],
         ["leak-enrollment"], "Alice's enrollment key leaks"),
        ("victims-key", "Mallory's enrollment does not prove Alice's recipient", "proven(mallory,evil,d)",
         ["any-channel"], ["any-enrollment"], "her phone skips step 5"),
        ("victims-key-stolen", "the same, with the channel of 11.5.8", "proven(mallory,evil,d)", [], ["leak-d"],
         "her recipient's secret leaks"),
        ("victims-record", "Alice's record proves nothing for Mallory's account", "proven(mallory,ea,d)", [],
         ["any-channel"], "her phone answers challenges from elsewhere"),
        ("other-account", "no message for Mallory is shown on Alice's phone", f"accept(d,{S},T,J,for(mallory))", [],
         ["any-channel"], "her phone answers challenges from elsewhere")):
    pair_of_claims(name, text, "enrollment", additions, goal, "run-enroll", twin, twin_text)
pair_of_claims("enroll-topic", "her messages are shown in no other app", "enrollment", [], f"accept(d,{S},other,J,for(alice))",
               "run-enroll", ["any-topic-01"], "a device ignores the topic")
pair_of_claims("enroll-ask", "the server's challenge is not shown", "enrollment", [],
               f"accept(d,{S},app,L,pair(question(A,Y,X),P))", "run-enroll", ["any-label-01"],
               "a device ignores info's label")
for name, goal in (("enroll-seed", "att(for(alice))"), ("stranger-seed", "proven(alice,evil,X)")):
    claim(name, "a seed's thief makes Alice's login", "enrollment", ["leak-seed"], goal, "attack")

claim("run-set", "a listed sender's message is accepted", "sets", [], f"accept(d,{S},app,L,m(d,app))", "runs")
claim("run-set-insider", "so is one of the attacker that the set lists", "sets", [], f"accept(d,{Z},app,L,forged)", "runs")
claim("run-other-set", "another app's sender is believed there", "sets", [],
      "accept(d,kdf(y,scalar),other,L,forged)", "runs")
for name, text, goal, twin, twin_text in (
        ("stolen-sender", "a sender that the newest set omits is refused", "accept(d,kdf(q,scalar),T,L,M)",
         ["old-counter"], "a device accepts an older set again"),
        ("other-set", "a set for another topic is refused", "accept(d,kdf(y,scalar),app,L,M)",
         ["any-set-topic"], "a device ignores the set's topic"),
        ("own-set", "only the authority makes a sender trusted", "accept(d,evil,T,L,M)",
         ["leak-authority"], "the authority's secret leaks"),
        ("former-authority", "a former authority's set is ignored", "accept(d,evil,T,L,M)",
         ["pin-former"], "it is still pinned"),
        ("record-as-set", "a device record is refused as a sender set", "accept(d,evil,T,L,M)",
         ["any-type"], "a device ignores the record's type")):
    pair_of_claims(name, text, "sets", [], goal, "run-set", twin, twin_text)
claim("run-set-ask", "a listed sender's challenge is answered", "sets-asks", [],
      f"answer(d,{S},app,question(d,app,ea))", "runs")
pair_of_claims("stolen-sender-ask", "nor is its challenge answered", "sets-asks", [], "answer(d,kdf(q,scalar),T,R)",
               "run-set-ask", ["old-counter"], "a device accepts an older set again")
pair_of_claims("other-set-ask", "it lets no one challenge, either", "sets-asks", [], "answer(d,kdf(y,scalar),app,R)",
               "run-set-ask", ["any-set-topic"], "a device ignores the set's topic")
claim("run-set-03", "a listed sender's message is accepted", "sets-03", [],
      f"accept({H},{S},app,L,h(hx,hk,app))", "runs")
pair_of_claims("other-set-03", "a set for another topic is refused", "sets-03", [],
               f"accept({H},kdf(y,scalar),app,L,M)", "run-set-03", ["any-set-topic"], "a device ignores the set's topic")
claim("run-set-ask-03", "a listed sender's challenge is answered", "sets-asks-03", [],
      f"answer({H},{S},app,questions(hx,hk,app,ea))", "runs")
pair_of_claims("other-set-ask-03", "it lets no one challenge, either", "sets-asks-03", [],
               f"answer({H},kdf(y,scalar),app,R)", "run-set-ask-03", ["any-set-topic"], "a device ignores the set's topic")

for suite, device, own in (("01", "d", "evil"), ("03", H, "pair(evil,evil)")):
    claim(f"run-receipt-{suite}", "a shown message's receipt counts", f"receipts-{suite}", [],
          f"counts({device},app,first)", "runs")
    claim(f"run-receipt-{suite}/other", "so does another app's", f"receipts-{suite}", [],
          f"counts({device},other,second)", "runs")
    for leak, additions in (("nothing", []), *([("quantum", QUANTUM)] if suite == "03" else [])):
        pair_of_claims(f"receipt-{suite}/{leak}", f"no receipt counts for a message not shown; leaked: {leak}",
                       f"receipts-{suite}", additions, f"counts({device},app,second)", f"run-receipt-{suite}",
                       ["leak-seed"], "the sender's seed leaks")
    claim(f"receipt-{suite}/own", "a device's owner makes its receipts", f"receipts-{suite}", [],
          f"counts({own},app,second)", "attack")
    claim(f"receipt-{suite}/any-device", "a receipt key is the same for every device", f"receipts-{suite}",
          [f"any-device-{suite}"], f"counts({device},app,second)", "attack")
claim("receipt-01/quantum", "a quantum computer reads the receipt key in suite 0x01", "receipts-01", QUANTUM,
      "counts(d,app,second)", "attack")

claim("run-login", "a login at this service counts here", "logins", [], "login(pair(user,forged))", "runs")
claim("run-state", "a returned state counts for its account", "logins", [], "returned(mallory,issued)", "runs")
pair_of_claims("login", "a login at another service or app does not count", "logins", [], "login(alice)",
               "run-login", ["leak-seed"], "the sender's seed leaks")
pair_of_claims("login-state", "a state is not a login", "logins", [], "login(pair(mallory,issued))",
               "run-login", ["any-key"], "a login's key ignores its label")
pair_of_claims("state-login", "a login is not a state", "logins", [], "returned(user,X)",
               "run-state", ["any-state-key"], "a state's key ignores its label")
pair_of_claims("state", "another account's, service's, or app's state does not count", "logins", [],
               "returned(alice,X)", "run-state", ["leak-seed"], "the sender's seed leaks")
pair_of_claims("state-content", "nor does a state whose content the service did not write", "logins", [],
               "returned(mallory,forged)", "run-state", ["leak-seed"], "the sender's seed leaks")
for part in ("app", "service"):
    claim(f"login/any-{part}", f"a login's key ignores its {part}", "logins", [f"any-{part}"], "login(alice)", "attack")
    claim(f"state/any-{part}", f"a state's key ignores its {part}", "logins", [f"any-{part}-state"],
          "returned(alice,forged)", "attack")
claim("run-login-keys", "a login counts beside receipts", "keys", [], "login(pair(user,forged))", "runs")
pair_of_claims("login-receipt", "a device's receipt key is not its login", "keys", [], "login(pub(X))",
               "run-login-keys", ["any-use"], "a login's key ignores its label and what it is bound to")

pair_of_claims("login-id", "nor is an identifier or a fingerprint", "keys", [], "login(pair(identifier,pair(forged,evil)))",
               "run-login-keys", ["any-use"], "a login's key ignores its label and what it is bound to")

claim("run-leave", "a phone leaves", "leavings", [], "gone(eb)", "runs")
claim("run-leave-own", "so does Mallory's", "leavings", [], "gone(evil)", "runs")
claim("run-enroll-again", "a phone that enrolled again is proven", "leavings", [], "proven(alice,ea,d)", "runs")
for name, text, goal, run, twin, twin_text in (
        ("leave", "only her enrollment key removes Alice's phone", "gone(ea)", "run-leave", "leak-enrollment",
         "her enrollment key leaks"),
        ("leave-topic", "a leaving for another topic removes no phone", "gone(ec)", "run-leave", "any-leaving-topic",
         "a server ignores the topic"),
        ("leaving-as-record", "a leaving enrolls no phone", "enrolled(A,eb,X)", "run-enroll-again", "any-record-label",
         "a server takes it for a record")):
    pair_of_claims(name, text, "leavings", [], goal, run, [twin], twin_text)
claim("leave/old-leaving", "a server ignores a leaving's counter", "leavings", ["old-leaving"], "gone(ea)", "attack")
claim("leave/any-leaving-label", "a server takes a record for a leaving", "leavings", ["any-leaving-label"], "gone(ea)", "attack")

claim("run-compare", "equal content under the same key has an equal fingerprint", "identifiers", [], "tested(other,hidden)", "runs")
pair_of_claims("guess", "an outbox tests no guess at content", "identifiers", [], "tested(T,guess)", "run-compare", ["leak-seed"],
               "the sender's seed leaks")
claim("guess/any-id", "a fingerprint's label is that of an ID", "identifiers", ["any-id"], "tested(T,guess)", "attack")
claim("guess/any-request", "a fingerprint ignores the idempotency key", "identifiers", ["any-request"], "tested(T,guess)",
      "attack")

claim("run-find", "who knows a recipient finds its pushes", "hints", [], "finds(evil)", "runs")
claim("run-find-sender", "and who sealed them", "hints", [], f"names(evil,{S})", "runs")
pair_of_claims("hint", "hints do not tell whose a push is", "hints", [], "finds(d)", "run-find", ["leak-record"],
               "the device's record leaks")
claim("hint/any-enc", "hints ignore enc", "hints", ["any-enc"], "finds(d)", "attack")
pair_of_claims("hint-sender", "nor who sealed it", "hints", [], f"names(d,{S})", "run-find-sender", ["leak-record"],
               "the device's record leaks")
claim("hint-sender/plain-sender-hint", "a sender's hint ignores the recipient", "hints", ["plain-sender-hint"], f"names(d,{S})",
      "attack")

claim("run-row", "an honest row is used", "rows", [], "uses(pin,alice,newest(pin))", "runs")
claim("run-row-own", "so is Mallory's own", "rows", [], "uses(address,mallory,forged)", "runs")
claim("run-entry", "a push for Alice is sent", "rows", [], "uses(entry,alice,sealed(forged))", "runs")
claim("row-older", "an older row is used again", "rows", [], "uses(enrollment,alice,older(enrollment))", "attack")
pair_of_claims("row", "no row of Alice's is another", "rows", ["leak-seed"], "uses(F,alice,forged)", "run-row", ["leak-outbox"],
               "the outbox key leaks, too")
claim("row/any-row", "a code ignores the device", "rows", ["any-row"], "uses(F,alice,forged)", "attack")
pair_of_claims("row-entry", "only what the server sealed is sent", "rows", ["leak-seed"], "uses(entry,A,forged)", "run-entry",
               ["leak-outbox"], "the outbox key leaks, too")
claim("row-entry/any-kind", "a code ignores the kind", "rows", ["any-kind"], "uses(entry,A,forged)", "attack")

claim("run-together", "a message for Alice is shown on her phone", "together", [], f"accept(d,{S},app,J,for(alice))", "runs")
claim("run-together-mallory", "Mallory enrolls his own phone", "together", [], "proven(mallory,evil,evil)", "runs")
claim("run-together-left", "a phone leaves", "together", [], "gone(eb)", "runs")
for name, text, goal, additions, twin, twin_text in (
        ("enroll", "only Alice's phone gets her messages", "att(for(alice))", [], "leak-login", "her login leaks"),
        ("stranger", "Mallory's key is not enrolled for Alice", "proven(alice,evil,X)", [], "leak-login", "her login leaks"),
        ("foreign-record", "nor her enrollment key for Mallory", "proven(mallory,ea,X)", [], "leak-enrollment",
         "her enrollment key leaks"),
        ("leave", "only that key removes her phone", "gone(ea)", [], "leak-enrollment", "it leaks"),
        ("own-set", "only the authority makes a sender trusted", "accept(d,evil,T,L,M)", [], "leak-authority",
         "the authority's secret leaks"),
        ("stolen-sender", "a sender that the newest set omits is refused", "accept(d,kdf(q,scalar),T,L,M)", [], "old-counter",
         "a device accepts an older set again"),
        ("sender", "a message that the sender did not seal is refused", f"accept(d,{S},T,L,forged)", [], "leak-seed",
         "the sender's seed leaks"),
        ("withdraw", "only its sender withdraws a message", f"removed(app,{S},stays)", [], "any-withdrawal",
         "a device ignores the withdrawal's sender"),
        ("receipt", "no receipt counts for a message not shown", "counts(d,app,second)", [], "leak-seed", "the seed leaks"),
        ("login", "nothing else is a login", "login(alice)", [], "leak-seed", "the seed leaks"),
        ("state", "nor a state", "returned(alice,X)", [], "leak-seed", "the seed leaks"),
        ("guess", "an outbox tests no guess at content", "tested(T,guess)", [], "leak-seed", "the seed leaks"),
        ("row", "a leaked seed makes no row", "uses(F,alice,forged)", ["leak-seed"], "leak-outbox", "the outbox key leaks, too")):
    pair_of_claims(f"together-{name}", text, "together", additions, goal, "run-together", [twin], twin_text)
