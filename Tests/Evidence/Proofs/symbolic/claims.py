"""The claims of the symbolic model, each about one world of `protocol.py`."""

from __future__ import annotations

from dataclasses import dataclass

from protocol import CLAUSES, GROUPS, WORLDS, Clause, H, S, Z, clause

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
        ("thread-topic", "nor one in another app", "withdrawals", f"cleared(other,{S},chat,V)", "run-clear", "any-topic-01",
         "a device ignores the topic"),
        ("message-only", "nor one whose ID is the thread's name", "withdrawals", f"removed(app,{S},chat)", "run-remove",
         "any-target", "a device ignores which member it is"),
        ("thread-only", "a message's withdrawal removes no thread of that name", "withdrawals", f"cleared(app,{S},gone,V)",
         "run-clear", "any-target-thread", "a device ignores which member it is"),
        ("badge", "a stranger does not set the badge", "withdrawals-alone", "badge(T,forged)", "run-badge",
         "anonymous-withdrawal", "an anonymous withdrawal counts"),
        ("badge-topic", "nor does a withdrawal in another app", "withdrawals-alone", "badge(other,nine)", "run-badge",
         "any-topic-01", "a device ignores the topic")):
    pair_of_claims(f"withdraw-{name}", text, world, [], goal, run, [twin], twin_text)
claim("run-remove-own", "another trusted sender removes its own message", "withdrawals", [], f"removed(app,{Z},stays)",
      "runs")
claim("run-clear-own", "and its own thread", "withdrawals", [], f"cleared(other,{Z},forged,noon)", "runs")
claim("badge-insider", "any trusted sender sets the badge", "withdrawals", [], "badge(other,forged)", "attack")
claim("run-remove-former", "a trusted sender removes what a former one sent", "former-senders", [],
      "removed(kdf(f,scalar),stays)", "runs")
pair_of_claims("withdraw-former", "a former sender's thief withdraws nothing", "former-senders", [],
               "withdraws(kdf(f,scalar),stays)", "run-remove-former", ["trusts-former"], "a device still trusts the former sender")
pair_of_claims("withdraw-second", "no one removes what another trusted sender sent", "former-senders", [],
               f"removed({S},stays)", "run-remove-former", ["any-former"], "a device doesn't ask whether that sender is trusted")
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
claim("run-leave-here", "a phone leaves this service", "leavings-service", [], "gone(eb)", "runs")
pair_of_claims("leave-service", "a leaving for another service removes no phone", "leavings-service", [], "gone(ec)",
               "run-leave-here", ["any-leaving-service"], "a server ignores the service")
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
claim("run-find-own", "whoever that is", "hints", [], "names(evil,evil)", "runs")
pair_of_claims("hint", "hints do not tell whose a push is", "hints", [], "finds(d)", "run-find", ["leak-record"],
               "the device's record leaks")
claim("hint/any-enc", "hints ignore enc", "hints", ["any-enc"], "finds(d)", "attack")
pair_of_claims("hint-sender", "nor who sealed it", "hints", [], f"names(d,{S})", "run-find-sender", ["leak-record"],
               "the device's record leaks")
claim("hint-sender/any-enc-sender", "a sender's hint ignores enc", "hints", ["any-enc-sender"], f"names(d,{S})", "attack")
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

claim("run-grown", "a record with a key of an unknown algorithm is accepted", "grown", [], "lists(ea,later,d)", "runs")
claim("run-grown-own", "so is Mallory's without one", "grown", [], "lists(evil,nobody,evil)", "runs")
pair_of_claims("grown", "no one replaces an unknown key", "grown", [], "lists(ea,forged,X)", "run-grown", ["unsigned-key"],
               "the signature doesn't cover it")
pair_of_claims("grown-dropped", "nor leaves it out", "grown", [], "lists(ea,nobody,X)", "run-grown", ["dropped-key"],
               "a server keeps the record without it")
pair_of_claims("grown-known", "nor replaces the known key beside it", "grown", [], "lists(ea,K,evil)", "run-grown",
               ["leak-enrollment"], "the enrollment key leaks")

claim("run-grant", "a relay forwards the granted sender's pushes", "grants", [], f"forwards({S},token)", "runs")
claim("run-grant-own", "and Mallory's to his own phone", "grants", [], "forwards(evil,forged)", "runs")
pair_of_claims("grant-secret", "only the relay learns the token", "grants", ["leak-seed", "leak-enrollment"], "att(token)",
               "run-grant", ["leak-relay"], "the relay's secret leaks, too")
pair_of_claims("grant", "no one else's pushes are forwarded to it", "grants", [], "forwards(evil,token)", "run-grant",
               ["any-grant-sender"], "a relay ignores the grant's sender")
claim("grant/any-grant", "a sealed token opens in another grant", "grants", ["any-grant"], "forwards(evil,token)", "attack")

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
claim("together-guess/any-key-id", "a fingerprint's key ignores its label", "together", ["any-key-id"], "tested(T,guess)",
      "attack")
