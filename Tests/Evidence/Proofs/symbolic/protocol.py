"""The symbolic model of the protocol: one table of clauses, weaknesses, and worlds. `claims.py` has the claims.

A clause is `fact & fact -> fact`; variables begin with a capital letter, and stand for every term. `att(X)` says that the
attacker knows X. The paragraph stands beside each clause: of the Specification, ContentParts from 14 on, Grants from 22 on, or DeviceState from 31
on ("HTTP" is EnrollmentHTTP, "0040" a decision).
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
    "leavings-service": [
        # This service is `here`. A phone left another one, `there`, and another phone left this one.
        ("leave-there", "HTTP 6.1", "-> att(sign(ec,pair(leaving,pair(three,pair(there,app)))))"),
        ("leave-here", "HTTP 6.1", "-> att(sign(eb,pair(leaving,pair(three,pair(here,app)))))"),
        ("leaving-higher", "HTTP 6.1", "-> higher(three)"),
        ("forget-here", "HTTP 6.3", "att(sign(Y,pair(leaving,pair(C,pair(here,app))))) & higher(C) -> gone(Y)"),
    ],
    "former-senders": [
        # The device trusts the honest sender and a second one, and no longer a former one. The attacker has the seeds of the
        # last two.
        ("trusts-second", "11.6.2", f"-> trusts(app,{Z})"),
        ("former", "11.6.2", "-> former(kdf(f,scalar))"),
        ("former-stolen", "1.1", "-> att(f)"),
        ("withdrawal-former", "21.2", "accept(d,S,app,J,pair(withdraw,pair(id,I))) -> withdraws(S,I)"),
        ("remove-former", "21.5", "withdraws(S,I) & former(U) -> removed(U,I)"),
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
        ("show-first", "36.1", "-> shows(app,first)"),
        ("show-second", "36.1", "-> shows(other,second)"),
        ("receipt", "36.1", "shows(T,I) & accept(X,S,T,J,pair(I,K)) -> att(kdf(K,I))"),
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
        *((f"hint-{name}", "3.2.1", f"-> att({name})") for name in ("recipient", "sender", "second")),
        ("recipient-hint", "3.2.1", "-> att(kdf(recipient,pair(first,pub(X))))"),
        ("sender-hint", "3.2.1", f"-> att(kdf(sender,pair(first,pair(pub(X),pub({S})))))"),
        ("public-sender", "3.2.2", f"-> att(pub({S}))"),
        ("own-recipient", "3.2.2", "att(X) -> att(pub(X))"),
        ("find", "3.2.3", "att(kdf(recipient,pair(second,pub(X)))) -> finds(X)"),
        ("find-sender", "3.2.3", "att(kdf(sender,pair(second,pair(pub(X),pub(S))))) -> names(X,S)"),
    ],
    "grown records": [
        # A record lists a key of an algorithm that the server doesn't know, `later`, beside one that it knows. A record of another
        # signer may list anything.
        ("grown", "11.1.6", "-> att(sign(ea,pair(record,pair(pair(nine,later),pub(d)))))"),
        *((f"grown-{name}", "11.1.1", f"-> att({name})") for name in ("record", "nine")),
        ("skip", "11.1.6", "att(sign(Y,pair(record,pair(pair(nine,K),pub(X))))) -> lists(Y,K,X)"),
        ("plain", "11.1.1", "att(sign(Y,pair(record,pub(X)))) -> lists(Y,nobody,X)"),
    ],
    "grants": [
        # The phone allows the honest sender to use the relay whose secret is r; `token` is sealed to the relay. A grant's bytes
        # before the sealed token stand here for the signer and the sender.
        ("grant", "23.2",
         f"-> att(sign(ea,pair(grant,pair(pub({S}),aead(kdf(dh(e,r),pair(granting,app)),pair(pair(pub(ea),pub({S})),token))))))"),
        ("label-grant", "22.1", "-> att(grant)"),
        ("label-granting", "23.2", "-> att(granting)"),
        # A sender has proven its key to the relay: the honest one, and whoever knows the secret.
        ("asks", "24.1", f"-> asks({S})"),
        ("attacker-asks", "24.1", "att(X) -> asks(X)"),
        ("forward", "24.2",
         "asks(X) & att(sign(Y,pair(grant,pair(pub(X),aead(kdf(dh(E,r),pair(granting,app)),pair(pair(pub(Y),pub(X)),L)))))) "
         "-> forwards(X,L)"),
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
    ("any-target", "21.1", "withdraws(T,S,pair(pair(Q,I),M)) -> removed(T,S,I)"),
    ("any-target-thread", "21.1", "withdraws(T,S,pair(pair(Q,H),pair(U,B))) & earlier(V,U) -> cleared(T,S,H,V)"),
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
    ("any-leaving-service", "HTTP 6.3", "att(sign(Y,pair(leaving,pair(C,pair(P,app))))) & higher(C) -> gone(Y)"),
    ("any-former", "21.5", "withdraws(S,I) -> removed(U,I)"),
    ("trusts-former", "21.5", "-> trusts(app,kdf(f,scalar))"),
    ("any-leaving-label", "HTTP 6.1", "att(sign(Y,pair(record,pair(C,X)))) & higher(C) -> gone(Y)"),
    ("any-record-label", "11.2.1", "in(A,sign(Y,pair(leaving,pair(C,T)))) & att(pub(X)) -> enrolled(A,Y,X)"),
    ("any-id", "2.7", "att(kdf(kdf(s,pair(ids,T)),pair(N,pair(request,M)))) -> tested(T,M)"),
    ("any-request", "2.7", "att(kdf(kdf(s,pair(ids,T)),pair(content,pair(R,M)))) -> tested(T,M)"),
    ("any-key-id", "3.7.1", "att(kdf(kdf(s,pair(N,pair(T,D))),pair(content,pair(request,M)))) -> tested(T,M)"),
    ("leak-record", "11.1.4", "-> att(pub(d))"),
    ("any-enc", "3.2.1", "att(kdf(recipient,pair(E,pub(X)))) -> finds(X)"),
    ("any-enc-sender", "3.2.1", "att(kdf(sender,pair(E,pair(pub(X),pub(S))))) -> names(X,S)"),
    ("plain-sender-hint", "3.2.1", "att(kdf(sender,pair(second,pub(S)))) -> names(X,S)"),
    ("leak-outbox", "0040", "-> att(o)"),
    ("any-kind", "0040", "att(kdf(o,pair(N,pair(A,X)))) -> uses(F,A,X)"),
    ("any-row", "0040", "att(kdf(o,pair(F,pair(A,X)))) -> uses(F,alice,X)"),
    ("unsigned-key", "11.1.6", "att(K) & att(sign(Y,pair(record,pair(pair(nine,L),pub(X))))) -> lists(Y,K,X)"),
    ("dropped-key", "11.1.6", "att(sign(Y,pair(record,pair(pair(nine,L),pub(X))))) -> lists(Y,nobody,X)"),
    ("leak-relay", "22.1", "-> att(r)"),
    ("any-grant-sender", "24.1",
     "asks(Z) & att(sign(Y,pair(grant,pair(pub(X),aead(kdf(dh(E,r),pair(granting,app)),pair(pair(pub(Y),pub(X)),L)))))) "
     "-> forwards(Z,L)"),
    ("any-grant", "23.2",
     "asks(X) & att(sign(Y,pair(grant,pair(pub(X),aead(kdf(dh(E,r),pair(granting,app)),pair(G,L)))))) -> forwards(X,L)"),
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
    "leavings-service": ["attacker", "signatures", "leavings-service"],
    "former-senders": ["attacker", "former-senders", "insider", "number", "member-withdraw", "member-id", "member-stays", "accept-01"],
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
    "grown": ["attacker", "signatures", "grown records"],
    "grants": ["attacker", "signatures", "grants"],
    # All of it, with suite 0x01 and the sets' trust: one sender, authority, and phone, with all of their keys.
    "together": ["attacker", "signatures", "enrollment", "leavings", "sets", "withdrawals", "receipts", "request-01", "count-01",
                 "logins", "identifiers", "rows", "number", "insider", "accept-01"],
}

CLAUSES = {row[0]: clause(*row) for rows in (*GROUPS.values(), ADDITIONS) for row in rows}
