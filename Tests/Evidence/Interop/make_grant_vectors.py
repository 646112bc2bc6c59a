#!/usr/bin/env python3
"""Writes the test vectors for grants (Docs/Grants.md) into Tests/Vectors/Grants. Each run writes the same files."""

import textwrap

import interop
import make_vectors
import pyhpke
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from make_record_vectors import CREATED, ENROLLMENT_KEY, LOW_ORDER, NINE, NOW, OTHER_KEY, secret, with_byte
from make_vectors import SENDER, SENDER_2, TOPIC
from sealed_push import RecordError
from sealed_push.protocol import grants, key_text, records
from sealed_push.protocol.hpke import public_key, sender_public_key, x25519
from sealed_push.protocol.key_text import ENROLLMENT, ENROLLMENT_SECRET
from sealed_push.protocol.records import signing_public_key
from sealed_push.protocol.text import encode_base64

FOLDER = make_vectors.FOLDER / "Grants"
HOST, RELAY = "relay.example.com", secret("relay")
EPHEMERAL = secret("grant ephemeral")
TOKEN = bytes(range(0x40, 0x60))
LONGEST = 400 * 86400
PREFIX = "pushgrant."


def outcome_of(values):
    """Returns the code, or `accepted`, and the environment and token if they were opened."""
    try:
        known = grants.read_grant(values["known"]) if "known" in values else None
        grant = grants.read_grant(values["grant"])
        pinned = key_text.decode(ENROLLMENT, values["pinned"]) if "pinned" in values else None
        relay = values["host"], bytes.fromhex(values["relay"])
        sender = key_text.decode(key_text.SENDER, values["sender"])
        grants.check_grant(grant, relay, sender, [values["topic"]], known, int(values["now"]), pinned)
        opened = grants.open_token(grant, bytes.fromhex(values["relay-secret"])) if values["role"] == "relay" else None
        return "accepted", opened
    except RecordError as error:
        return error.code, None


def write(name, sentence, values, outcome):
    lines = ["# " + line for line in textwrap.wrap(sentence, 100)]
    for key, value in values.items():
        lines.append(f"{key}: {value.hex() if isinstance(value, bytes) else value}")
    path = FOLDER / (name + ".txt")
    if path.exists():
        raise ValueError(name + ": made twice")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found, opened = outcome_of(interop.read_vector(path))
    if found != outcome or (opened and opened != (values["environment"], values["token"])):
        raise ValueError(f"{name}: {found}")


def unsealed(key=ENROLLMENT_KEY, counter=7, created=CREATED, expires=None, topic=TOPIC, host=HOST, relay=None, sender=None,
             length=grants.SEALED):  # fmt: skip
    expires = created + LONGEST if expires is None else expires
    relay, sender = relay or (1, public_key(RELAY)), sender or (1, sender_public_key(SENDER))
    return grants.beginning(signing_public_key(key), counter, created, expires, topic, host, relay, sender, length)


def sealed(start, plaintext, topic=TOPIC):
    made = grants.seal_token(plaintext, start, public_key(RELAY), topic, EPHEMERAL)
    # Another implementation of HPKE opens it.
    suite = pyhpke.CipherSuite.new(pyhpke.KEMId.DHKEM_X25519_HKDF_SHA256, pyhpke.KDFId.HKDF_SHA256, pyhpke.AEADId.CHACHA20_POLY1305)
    key = pyhpke.KEMKey.from_jwk({
        "kty": "OKP", "crv": "X25519", "x": encode_base64(public_key(RELAY)), "d": encode_base64(RELAY),
    })  # fmt: skip
    context = suite.create_recipient_context(made[:32], key, b"sealedpush/v1 grant\0" + topic.encode())
    if context.open(made[32:], start) != plaintext:
        raise ValueError("HPKE")
    return made


def made(key=ENROLLMENT_KEY, plaintext=None, is_revoking=False, **changes):
    """Returns a grant's bytes, with the signature."""
    start = unsealed(key, length=0 if is_revoking else grants.SEALED, **changes)
    plaintext = grants.token_plaintext("production", TOKEN) if plaintext is None else plaintext
    token = b"" if is_revoking else sealed(start, plaintext, changes.get("topic", TOPIC))
    return records.sign_bytes(key, start + token)


def setting(role="relay", known=None, topic=TOPIC, now=NOW, host=HOST, relay=None, sender=SENDER, pinned=ENROLLMENT_KEY):
    values = {"role": role, "host": host, "relay": relay or public_key(RELAY)}
    values |= {"sender": key_text.encode(key_text.SENDER, sender_public_key(sender)), "topic": topic}
    if role == "sender":
        values |= {"pinned": key_text.encode(ENROLLMENT, signing_public_key(pinned))}
    return values | ({"known": grants.grant_text(known)} if known else {}) | {"now": now}


def accepted(name, sentence, environment="production", token=TOKEN, topic=TOPIC, role="relay", known=None, now=NOW, **changes):
    plaintext = grants.token_plaintext(environment, token)
    host = changes.get("host", HOST)
    data = made(plaintext=plaintext, topic=topic, **changes)
    keys = grants.TokenKeys(x25519(EPHEMERAL, public_key(RELAY)), public_key(EPHEMERAL), public_key(RELAY), topic)
    values = setting(role, known, topic, now, host) | {"grant": grants.grant_text(data), "outcome": "accepted"}
    values |= {"relay-secret": RELAY, "environment": environment, "token": token}
    values |= {"signer-secret": key_text.encode(ENROLLMENT_SECRET, ENROLLMENT_KEY), "ephemeral-secret": EPHEMERAL}
    values |= {"plaintext": plaintext, "enc": keys.enc, "shared-secret": keys.shared_secret, "key": keys.key}
    write(name, sentence, values | {"base-nonce": keys.base_nonce, "signed": records.signed_message(data[:-64])}, "accepted")


def refused(name, sentence, code, data, **changes):
    text = data if isinstance(data, str) else grants.grant_text(data)
    values = setting(**changes) | {"grant": text, "outcome": code} | ({"relay-secret": RELAY} if code == "rejected" else {})
    write(name, sentence, values, code)


def make_accepted():
    older, newer = made(counter=6), made(counter=8)
    accepted("relay", "A relay accepts a grant.")
    accepted("sender", "A sender accepts a grant.", role="sender")
    accepted("sandbox", "A token of the development environment.", environment="sandbox")
    accepted("token-1-byte", "The shortest token.", token=b"\0")
    accepted("token-100-bytes", "The longest token.", token=bytes(range(100)))
    accepted("host-longest", "The longest host.", host=".".join(["a" * 63] * 3 + ["b" * 61]))
    accepted("host-shortest", "The shortest host.", host="0")
    accepted("host-hyphens", "Hyphens inside a label.", host="a--b.x-1")
    accepted("topic-longest", "The longest topic.", topic="x" * 155)
    accepted("counter-highest", "The highest counter.", counter=2**62 - 1)
    accepted("at-expiry", "The last second.", now=CREATED + LONGEST)
    accepted("at-lead", "Made exactly 26 hours ahead.", now=CREATED - 93600)
    accepted("known-lower", "Takes the place of an older one.", known=older)
    accepted("known-same", "The grant that is known already.", known=made())
    accepted("known-revoked", "Takes the place of a revocation.", known=made(counter=6, is_revoking=True))
    accepted("known-other-sender", "What is known is another sender's.",
             known=made(counter=8, sender=(1, sender_public_key(SENDER_2))))  # fmt: skip
    accepted("known-other-topic", "What is known is for another app.", known=made(counter=8, topic="com.example.other"))
    accepted("known-other-device", "What is known is another device's.", known=made(OTHER_KEY, counter=8))
    refused("rolled-back", "A newer one is known.", "rolled-back", made(), known=newer)
    refused("rolled-back-revoked", "A newer revocation is known.", "rolled-back", made(), known=made(counter=8, is_revoking=True))
    refused("conflicting", "Two with one counter.", "conflicting", made(), known=made(expires=CREATED + 5))
    refused("conflicting-revoked", "A grant with the counter of a revocation.", "conflicting", made(), known=made(is_revoking=True))
    refused("revoked", "A revocation.", "revoked", made(is_revoking=True))
    refused("revoked-newer", "A revocation after a grant.", "revoked", made(counter=8, is_revoking=True), known=made())
    refused("revoked-again", "The revocation that is known already.", "revoked", made(is_revoking=True), known=made(is_revoking=True))


def make_malformed():
    def case(name, sentence, data, code="malformed", **changes):
        refused(f"{code}-{name}", sentence, code, data, **changes)

    text = grants.grant_text(made())
    shortest = records.sign_bytes(ENROLLMENT_KEY, unsealed(topic="x", host="x", relay=(9, b"\0"), sender=(9, b"\1"), length=0))
    for name, sentence, changed in (
        ("prefix", "The prefix of a record.", "pushrecord." + text[10:]), ("no-prefix", "Without the prefix.", text[10:]),
        ("space", "A space behind it.", text + " "),
        ("too-short", "Fewer bytes than any grant has, and a wrong checksum.", grants.grant_text(shortest)[:-4]),
        ("too-long", "More bytes than any grant has.", grants.grant_text(made() + bytes(8192))),
    ):  # fmt: skip
        case(name, sentence, changed)
    case("character", "One character is wrong.", text[:60] + ("B" if text[60] == "A" else "A") + text[61:], "wrong-checksum")
    case("record", "A device's record under this prefix.", records.sign_bytes(ENROLLMENT_KEY, with_byte(unsealed(), 0, 1)), "wrong-type")
    case("version", "An unknown version.", records.sign_bytes(ENROLLMENT_KEY, with_byte(unsealed(), 1, 4)), "unsupported")
    case("cut", "Cut, with a checksum that fits.", made()[:-1])
    case("byte-more", "A byte more, with a checksum that fits.", made() + b"\0")
    start = with_byte(unsealed(), 58, 30)
    case("keeps", "A number of days, as in a device record.", records.sign_bytes(ENROLLMENT_KEY, start + bytes(150)))
    for name, sentence, changes in (
        ("counter", "A counter that is one too high.", {"counter": 2**62}),
        ("ends-at-once", "It ends when it begins.", {"expires": CREATED}),
        ("too-long-life", "It lasts a second more than 400 days.", {"expires": CREATED + LONGEST + 1}),
        ("ends-after-9999", "It ends after the year 9999.", {"created": 253402300000, "expires": 253402300800}),
        ("topic-space", "A space in the topic.", {"topic": "com.example app"}),
        ("host-empty", "An empty host.", {"host": ""}),
        ("host-254", "A host that is too long.", {"host": ".".join(["a" * 63] * 3 + ["b" * 62])}),
        ("host-label-64", "A label that is too long.", {"host": "a" * 64}),
        ("host-capital", "A capital in the host.", {"host": "Relay.example.com"}),
        ("host-port", "A port.", {"host": "relay.example.com:443"}),
        ("host-dot", "A dot at the end.", {"host": "relay.example.com."}),
        ("host-dots", "Two dots.", {"host": "relay..example.com"}),
        ("host-hyphen-first", "A hyphen before a label.", {"host": "a.-b"}),
        ("host-hyphen-last", "A hyphen behind a label.", {"host": "a-.b"}),
        ("relay-low-order", "A relay's key of low order.", {"relay": (1, LOW_ORDER)}),
        ("relay-31-bytes", "A relay's key that is too short.", {"relay": (1, bytes([9] * 31))}),
        ("relay-empty", "A key of no bytes.", {"relay": (9, b"")}),
        ("sender-low-order", "A sender of low order.", {"sender": (1, LOW_ORDER)}),
        ("sender-empty", "A sender of no bytes.", {"sender": (9, b"")}),
        ("key-twice", "The relay is the sender.", {"sender": (1, public_key(RELAY))}),
    ):
        case(name, sentence, records.sign_bytes(ENROLLMENT_KEY, unsealed(**changes) + bytes(150)))
    for length in (1, 149, 151):
        data = records.sign_bytes(ENROLLMENT_KEY, unsealed(length=length) + bytes(length))
        case(f"sealed-{length}", "A sealed token of another length.", data)
    case("unknown-relay", "A relay's key of an unknown algorithm, with a sealed token of another length.",
         records.sign_bytes(ENROLLMENT_KEY, unsealed(relay=NINE, length=300) + bytes(300)), "unsupported")  # fmt: skip
    case("unknown-sender", "A sender of an unknown algorithm.", records.sign_bytes(ENROLLMENT_KEY, unsealed(sender=NINE) + bytes(150)),
         "unsupported")  # fmt: skip
    case("shortest", "The shortest grant, 137 bytes: both keys are unknown.", shortest, "unsupported")
    case("signer", "A signer of low order.", with_bytes(made(), 2, LOW_ORDER))
    data = made()
    case("counter", "The counter was raised.", with_byte(data, 41, 8), "bad-signature")
    case("token", "A bit of the sealed token is flipped.", with_byte(data, len(data) - 70, data[-70] ^ 1), "bad-signature")
    case("type", "Signed as a device's record.", data[:-64] + records.sign_bytes(ENROLLMENT_KEY, with_byte(data[:-64], 0, 1))[-64:],
         "bad-signature")  # fmt: skip


def with_bytes(data, index, value):
    return data[:index] + value + data[index + len(value) :]


def make_refused():
    data, other = made(), secret("another relay")
    refused("foreign-signer", "Another key is pinned.", "foreign-signer", data, role="sender", pinned=OTHER_KEY)
    refused("foreign-relay-host", "Another host.", "foreign-relay", data, host="relay.example.org")
    refused("foreign-relay-key", "Another relay's key.", "foreign-relay", data, relay=public_key(other))
    refused("foreign-sender", "Another sender.", "foreign-sender", data, sender=SENDER_2)
    refused("other-topic", "For another app.", "other-topic", made(topic="com.example.other"))
    refused("other-topic-case", "Topics are compared exactly.", "other-topic", made(topic="com.example.App"))
    refused("expired", "A second past its end.", "expired", data, now=CREATED + LONGEST + 1)
    refused("not-yet-valid", "Made a second more than 26 hours ahead.", "not-yet-valid", data, now=CREATED - 93601)
    late = {"now": CREATED + LONGEST + 1, "known": made(counter=8)}
    order = (
        ("foreign-signer", {"pinned": OTHER_KEY, "role": "sender", "host": "a", "sender": SENDER_2, "topic": "a.b", **late}),
        ("foreign-relay", {"host": "a", "sender": SENDER_2, "topic": "a.b", **late}),
        ("foreign-sender", {"sender": SENDER_2, "topic": "a.b", **late}),
        ("other-topic", {"topic": "a.b", **late}), ("expired", late),
        ("not-yet-valid", {"now": CREATED - 93601, "known": made(counter=8)}),
    )  # fmt: skip
    for code, changes in order:
        refused(f"{code}-first", "Several things are wrong: the first in the order of 24.1 counts.", code, data, **changes)
    refused("rolled-back-first", "An older revocation.", "rolled-back", made(is_revoking=True), known=made(counter=8))
    plaintext = grants.token_plaintext("production", TOKEN)
    for name, sentence, changed in (
        ("environment-0", "An unknown environment.", with_byte(plaintext, 0, 0)),
        ("environment-3", "An unknown environment.", with_byte(plaintext, 0, 3)),
        ("token-empty", "An empty token.", bytes([1]) + bytes(101)),
        ("token-101", "A token that is too long.", with_byte(plaintext, 1, 101)),
        ("token-zeros", "A byte behind the token isn't zero.", plaintext[:-1] + b"\1"),
        ("token-zero", "The first byte behind the token isn't zero.", with_byte(plaintext, 2 + len(TOKEN), 1)),
    ):
        refused("rejected-" + name, sentence, "rejected", made(plaintext=changed))
    start, from_other = unsealed(), sealed(unsealed(counter=6), plaintext)
    for name, sentence, token in (
        ("moved", "The sealed token of an earlier grant.", from_other),
        ("tag", "The tag is altered.", flipped_last(sealed(start, plaintext))),
        ("other-relay", "Sealed to another relay.", grants.seal_token(plaintext, start, public_key(other), TOPIC, EPHEMERAL)),
        ("info", "The info names another app.", grants.seal_token(plaintext, start, public_key(RELAY), "a.b", EPHEMERAL)),
        ("enc", "enc is of low order.", bytes(150)),
        ("enc-bit-255", "enc is not canonical, and sealing used it as it is.", not_canonical(start, plaintext)),
    ):
        refused("rejected-" + name, sentence, "rejected", records.sign_bytes(ENROLLMENT_KEY, start + token))


def not_canonical(start, plaintext):
    enc = public_key(EPHEMERAL)
    enc = with_byte(enc, 31, enc[31] | 128)
    keys = grants.TokenKeys(x25519(EPHEMERAL, public_key(RELAY)), enc, public_key(RELAY), TOPIC)
    return enc + ChaCha20Poly1305(keys.key).encrypt(keys.base_nonce, plaintext, start)


def flipped_last(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def main():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for make in (make_accepted, make_malformed, make_refused):
        make()
    print(len(list(FOLDER.glob("*.txt"))), "vectors")


if __name__ == "__main__":
    main()
