#!/usr/bin/env python3
"""Writes the test vectors for signed records and challenges into Tests/Vectors/Records.

The README there describes them. Values that a real signer or sender draws at random are derived from the case's name
here, so that each run writes the same files.
"""

import hashlib
import pathlib
import sys
import textwrap

import interop
import make_vectors
import nacl.signing
import records_tool
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Mutations"))
import loose  # noqa: E402
from make_vectors import IDENTITY, IDENTITY_2, SENDER, SENDER_2, STRANGER, TOPIC, numbered
from sealed_push.protocol import hpke, key_text, records
from sealed_push.protocol.hpke import Context, public_key, sender_public_key
from sealed_push.protocol.key_text import AUTHORITY, AUTHORITY_SECRET, ENROLLMENT, ENROLLMENT_SECRET
from sealed_push.protocol.records import (
    DEVICE,
    SENDERS,
    record_text,
    sign_bytes,
    signing_public_key,
    unsigned_record,
)

FOLDER = make_vectors.FOLDER / "Records"
CREATED = 1760000000
EXPIRES = CREATED + 90 * 86400
NOW = CREATED + 3


def secret(name):
    return hashlib.sha256(b"sealed push record vector: " + name.encode()).digest()


ENROLLMENT_KEY, AUTHORITY_KEY, OTHER_KEY = secret("enrollment"), secret("authority"), secret("another signer")
PHONE, PHONE_2 = public_key(IDENTITY), public_key(IDENTITY_2)
MANY = tuple(public_key(secret(f"recipient {number}")) for number in range(17))
LOW_ORDER = bytes(32)
# Keys of algorithms that this version doesn't know.
NINE = (9, b"a key of a later algorithm")
NINE_2 = (9, b"another one")
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def write(name, sentence, values):
    lines = ["# " + line for line in textwrap.wrap(sentence, 100)]
    for key, value in values.items():
        lines.append(f"{key}: {value.hex() if isinstance(value, bytes) else value}")
    path = FOLDER / (name + ".txt")
    if path.exists():
        raise ValueError(name + ": made twice")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    vector = interop.read_vector(path)
    if records_tool.outcome_of(vector) != interop.expected_of(vector):
        raise ValueError(f"{name}: {records_tool.outcome_of(vector)}")


# Records


def fields(counter=7, created=CREATED, expires=EXPIRES, topic=TOPIC, keys=(PHONE,), keeps=None):
    return counter, created, expires, topic, keys, keeps


def unsigned(type=DEVICE, key=ENROLLMENT_KEY, signer=None, **changes):
    return unsigned_record(type, signer or signing_public_key(key), *fields(**changes))


def signed(type=DEVICE, key=ENROLLMENT_KEY, **changes):
    return sign_bytes(key, unsigned(type, key, **changes))


def setting(kind, text, topic=TOPIC, now=NOW, known=None, pinned=None):
    signer, key = (ENROLLMENT, ENROLLMENT_KEY) if kind == "device" else (AUTHORITY, AUTHORITY_KEY)
    values = {"kind": kind, "pinned": key_text.encode(signer, pinned or signing_public_key(key))}
    values |= {"topic": topic, "now": now} | ({"known": record_text(known)} if known else {})
    return values | {"record": text}


def accepted(name, sentence, kind="device", known=None, now=NOW, **changes):
    type, key, secret_kind, key_kind = {
        "device": (DEVICE, ENROLLMENT_KEY, ENROLLMENT_SECRET, key_text.RECIPIENT),
        "senders": (SENDERS, AUTHORITY_KEY, AUTHORITY_SECRET, key_text.SENDER),
    }[kind]
    counter, created, expires, topic, keys, keeps = fields(**changes)
    data = signed(type, key, **changes)
    values = setting(kind, record_text(data), topic, now, known) | {"outcome": "accepted"}
    values |= {"signer-secret": key_text.encode(secret_kind, key)}
    values |= {"counter": counter, "created": created, "expires": expires}
    values |= {"keeps": (30 if kind == "device" else 0) if keeps is None else keeps}
    known = [each for each in keys if not isinstance(each, tuple)]
    values |= numbered("key", [key_text.encode(key_kind, each) for each in known])
    if len(known) < len(keys):
        del values["signer-secret"]
    values |= {"signed": records.signed_message(data[:-64]), "signature": data[-64:]}
    write(name, sentence, values)


def refused(name, sentence, code, data, kind="device", **changes):
    text = data if isinstance(data, str) else record_text(data)
    write(name, sentence, setting(kind, text, **changes) | {"outcome": code})


def make_accepted():
    accepted("device", "A device with one key.")
    accepted("device-two-keys", "A device that rotates: the new key, then the old.", keys=(PHONE, PHONE_2), counter=8)
    accepted("device-sixteen-keys", "As many keys as there may be.", keys=MANY[:16])
    accepted("device-longest-classical", "The longest record of X25519 keys: 840 bytes.", keys=MANY[:16], topic="x" * 155)
    accepted("device-shortest", "The shortest record with an X25519 key: 161 bytes.", topic="x")
    accepted("device-longest", "The longest record: 8,192 bytes.", keys=(PHONE, (9, filled(8192))))
    accepted("device-keeps-1", "Retired secrets are kept for a day.", keeps=1)
    accepted("device-keeps-31", "Retired secrets are kept for 31 days.", keeps=31)
    accepted("device-counter-0", "The lowest counter.", counter=0)
    accepted("device-counter-highest", "The highest counter.", counter=2**62 - 1)
    accepted("device-widest-times", "The earliest and the latest time.", created=0, expires=253402300799)
    accepted("device-at-expiry", "The last second.", now=EXPIRES)
    accepted("device-at-lead", "Made exactly 26 hours ahead.", now=CREATED - 93600)
    accepted("device-known-lower", "Takes the place of an older one.", known=signed(counter=6, keys=MANY[:3]))
    accepted("device-known-same", "The record that is known already.", known=signed())
    other = signed(counter=9, topic="com.example.other")
    accepted("device-known-other-topic", "What is known is another app's.", known=other)
    accepted("device-unknown-key", "A key of an unknown algorithm beside a known one: it is skipped.", keys=(NINE, PHONE))
    accepted("device-unknown-keys", "More unknown keys than known ones; the order of the known ones remains.",
             keys=(NINE, PHONE_2, (2, bytes(32)), NINE_2, (0, b"\0"), PHONE, (255, bytes(300))))  # fmt: skip
    accepted("device-unknown-same-bytes", "The same bytes under different algorithms are different keys.",
             keys=(PHONE, (9, PHONE), (10, PHONE)))  # fmt: skip
    accepted("device-unknown-sixteen", "A known key is the last of sixteen.",
             keys=(*((9, bytes([number])) for number in range(15)), PHONE))  # fmt: skip
    accepted("device-unknown-known-same", "The record that is known already, with an unknown key.", keys=(NINE, PHONE),
             known=signed(keys=(NINE, PHONE)))  # fmt: skip
    sender_keys = (sender_public_key(SENDER), sender_public_key(SENDER_2))
    accepted("senders", "An app's senders, the newest first.", kind="senders", keys=sender_keys)
    accepted("senders-counter-highest", "The highest counter.", kind="senders", keys=sender_keys, counter=2**62 - 1)
    accepted("senders-unknown-key", "A sender of an unknown algorithm beside a known one.", kind="senders",
             keys=(NINE, sender_keys[0]))  # fmt: skip
    accepted("senders-algorithm-3", "No sender is hybrid: here, this algorithm is unknown.", kind="senders",
             keys=((3, bytes(1216)), (3, bytes(32)), sender_keys[0]))  # fmt: skip
    accepted(
        "senders-known-lower", "A sender is replaced.", kind="senders", keys=sender_keys[1:], counter=8,
        known=signed(SENDERS, AUTHORITY_KEY, keys=sender_keys[:1]),
    )  # fmt: skip


def make_malformed():
    def case(name, sentence, data, code="malformed", **changes):
        refused(f"{code}-{name}", sentence, code, data, **changes)

    text = record_text(signed())
    shortest = signed(topic="x", keys=((9, b"\0"),))
    for name, sentence, changed in (
        ("empty", "Nothing.", ""),
        ("prefix-only", "The prefix alone.", "pushrecord."),
        ("no-prefix", "Without the prefix.", text[11:]),
        ("capital-prefix", "The prefix in capitals.", "PUSHRECORD." + text[11:]),
        ("space-behind", "A space behind it.", text + " "),
        ("padding", "Padded base64.", text + "="),
        ("too-long", "More characters than any record has.", text + "A" * 10939),
        ("too-short", "Fewer characters than any record has.", record_text(shortest)[:189]),
        ("too-short-whole", "Fewer bytes than any record has, and a wrong checksum.", record_text(shortest)[:187]),
    ):
        case(name, sentence, changed)
    # With this topic, the last two characters hold 1 byte, so four of their bits are unused.
    odd = next(
        each for each in (record_text(signed(topic="x" * count)) for count in (1, 2, 3)) if len(each[11:]) % 4 == 2
    )
    changed = odd[:-1] + ALPHABET[ALPHABET.index(odd[-1]) + 1]
    case("last-character", "Bits that are not zero behind the last byte.", changed)
    case("cut", "Cut, with a checksum that fits.", signed(keys=(PHONE, PHONE_2))[:-1])
    case("byte-more", "A byte more, with a checksum that fits.", signed() + b"\0")
    case("byte-more-8193", "A byte more than the longest record.", signed(keys=(PHONE, (9, filled(8193)))))
    for version in (0, 2, 4, 255):
        data = sign_bytes(ENROLLMENT_KEY, with_byte(unsigned(), 1, version))
        case(f"version-{version}", "An unknown version.", data, "unsupported")
    later = bytes([1, 4]) + bytes(range(200))
    case("version-other-layout", "A later version with another layout.", later, "unsupported")
    later = sign_bytes(AUTHORITY_KEY, with_byte(unsigned(SENDERS, AUTHORITY_KEY), 1, 4))
    case("version-senders", "A sender set of an unknown version.", later, "unsupported", kind="senders")
    case("no-known-key", "The shortest record, 130 bytes, with nothing but a key of an unknown algorithm.", shortest, "unsupported")
    case("no-known-keys", "Sixteen unknown keys.", signed(keys=[(number, PHONE) for number in range(4, 20)]), "unsupported")
    hybrid = signed(SENDERS, AUTHORITY_KEY, keys=((3, bytes(1216)),))
    case("no-known-key-senders", "A sender set with no known key.", hybrid, "unsupported", kind="senders")
    for keeps in (0, 32):
        case(f"keeps-{keeps}", "Kept for a number of days that there is not.", signed(keeps=keeps))
    case("counter", "A counter that is one too high.", signed(counter=2**62))
    case("counter-senders", "The same in a sender set.", signed(SENDERS, AUTHORITY_KEY, counter=2**62), kind="senders")
    case("senders-keep", "A sender set keeps nothing.", signed(SENDERS, AUTHORITY_KEY, keeps=1), kind="senders")
    for algorithm, length in ((1, 31), (1, 33), (1, 1216), (3, 32), (3, 1215)):
        data = signed(keys=(PHONE_2, (algorithm, bytes([9] * length))))
        case(f"algorithm-{algorithm}-{length}-bytes", "A length that the algorithm's keys don't have.", data)
    data = signed(SENDERS, AUTHORITY_KEY, keys=(PHONE, (1, bytes([9] * 31))))
    case("algorithm-1-31-bytes-senders", "A length that the algorithm's keys don't have.", data, kind="senders")
    case("length-0", "An unknown key of no bytes.", signed(keys=(PHONE, (9, b""))))
    case("length-0-known", "A known key of no bytes.", signed(keys=(PHONE, (1, b""))))
    # The signature would have to begin behind the record's end.
    data = unsigned(keys=(PHONE, NINE))
    length = len(data) - len(NINE[1]) - 1
    case("length-beyond", "A key that is longer than the rest.", sign_bytes(ENROLLMENT_KEY, with_byte(data, length, 255)))
    case("length-into-signature", "A key that takes the first byte of the signature.",
         sign_bytes(ENROLLMENT_KEY, with_byte(data, length, len(NINE[1]) + 1)))  # fmt: skip
    data = with_byte(unsigned(keys=(PHONE, (9, bytes(256)))), length - 1, 0)
    case("length-little-endian", "The length is little endian.", sign_bytes(ENROLLMENT_KEY, with_byte(data, length, 1)))
    case("seventeen-keys-unknown", "A key too many; most are unknown.",
         signed(keys=(PHONE, *((9, bytes([number])) for number in range(16)))))  # fmt: skip
    case("unknown-key-twice", "An unknown key twice.", signed(keys=(NINE, PHONE, NINE)))
    case("unknown-key-low-order", "A key of low order beside an unknown one.", signed(keys=(NINE, LOW_ORDER)))
    case("no-key", "No key.", sign_bytes(ENROLLMENT_KEY, unsigned(keys=(), topic="x" * 50)))
    case("seventeen-keys", "A key too many.", signed(keys=MANY, topic="x"))
    case("key-twice", "A key twice.", signed(keys=(PHONE, PHONE_2, PHONE)))
    case("key-low-order", "A key of low order.", signed(keys=(PHONE, LOW_ORDER)))
    case("senders-key-low-order", "A sender of low order.", signed(SENDERS, AUTHORITY_KEY, keys=(PHONE, LOW_ORDER)),
         kind="senders")  # fmt: skip
    case("key-bit-255", "A key that is not canonical.", signed(keys=(with_byte(PHONE, 31, PHONE[31] | 128),)))
    case("ends-at-once", "It ends when it begins.", signed(expires=CREATED))
    case("ends-after-9999", "It ends after the year 9999.", signed(expires=253402300800))
    case("ends-highest", "All bits of the end set.", signed(expires=2**64 - 1))
    case("topic-empty", "An empty topic.", signed(topic=""))
    case("topic-156", "A topic that is too long.", signed(topic="x" * 156))
    case("topic-space", "A space in the topic.", signed(topic="com.example app"))
    case("signer-low-order", "A signer of low order.", sign_bytes(ENROLLMENT_KEY, unsigned(signer=LOW_ORDER)))
    # The point (x, y) plus the one of order 2 is (-x, -y).
    number = int.from_bytes(signing_public_key(ENROLLMENT_KEY), "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    mixed = (key_text.PRIME - y | (1 - sign) << 255).to_bytes(32, "little")
    case("signer-mixed", "A signer mixed with the point of order 2.", sign_bytes(ENROLLMENT_KEY, unsigned(signer=mixed)))

    flipped = text[:60] + ("B" if text[60] == "A" else "A") + text[61:]
    case("character", "One character is wrong.", flipped, "wrong-checksum")
    # With this topic, the text consists of whole groups of four characters, so that it is still valid base64 without two of them.
    case("cut", "Some characters are missing.", record_text(signed())[:-8], "wrong-checksum")
    case("senders-as-device", "A sender set.", signed(SENDERS, AUTHORITY_KEY), "wrong-type")
    case("device-as-senders", "A device's record.", signed(), "wrong-type", kind="senders")
    case("unknown", "An unknown type.", signed(4), "wrong-type")
    data = sign_bytes(ENROLLMENT_KEY, with_byte(unsigned(4), 1, 4))
    case("version", "Another type, of an unknown version.", data, "wrong-type")


def filled(length):
    """Returns the bytes of an unknown key that makes a record with one X25519 key this long."""
    return bytes(length - len(signed()) - 3)


def with_byte(data, index, value):
    return data[:index] + bytes([value]) + data[index + 1 :]


# A point of order 8.
LOW = loose.decode(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))


def signed_with(multiple, low):
    """Returns a record whose signature has `multiple` times the base point, plus a point of low order, as its R."""
    digest = hashlib.sha512(ENROLLMENT_KEY).digest()
    scalar = int.from_bytes(digest[:32], "little") & ~7 & (1 << 255) - 1 | 1 << 254
    first = loose.encode(loose.add(loose.times(multiple, loose.BASE), low))
    data = unsigned()
    message = first + signing_public_key(ENROLLMENT_KEY) + records.signed_message(data)
    challenge = int.from_bytes(hashlib.sha512(message).digest(), "little") % loose.ORDER
    return data + first + ((multiple + challenge * scalar) % loose.ORDER).to_bytes(32, "little")


def make_unverified():
    def case(name, sentence, data, **changes):
        refused("bad-signature-" + name, sentence, "bad-signature", data, **changes)

    data = signed()
    case("counter", "The counter was raised.", with_byte(data, 41, 8))
    # `keeps` is zero in a sender set, but not in a device record. That is checked before the signature.
    refused("malformed-type", "A device's record is passed off as a sender set.", "malformed", with_byte(data, 0, 2),
            kind="senders")  # fmt: skip
    back = with_byte(signed(SENDERS, AUTHORITY_KEY), 0, 1)
    refused("malformed-type-back", "And the reverse.", "malformed", back)
    case("type", "And with a number of days that fits.", with_byte(back, 58, 30))
    data = signed(keys=(PHONE, NINE))
    case("unknown-key", "A bit of an unknown key is flipped.", with_byte(data, len(data) - 65, data[-65] ^ 1))
    data = signed(keys=(NINE,))
    case("no-known-key", "The same, and no key is known.", with_byte(data, len(data) - 65, data[-65] ^ 1))
    case("signer", "Signed by another key than the one it names.", sign_bytes(OTHER_KEY, unsigned()))
    case("r", "A bit of the signature's R is flipped.", with_byte(data, len(data) - 64, data[-64] ^ 1))
    case("s", "A bit of the signature's S is flipped.", with_byte(data, len(data) - 32, data[-32] ^ 1))
    larger = int.from_bytes(data[-32:], "little") + key_text.ORDER
    case("s-plus-l", "L was added to the signature's S.", data[:-32] + larger.to_bytes(32, "little"))
    case("r-neutral", "R is the neutral point, and S fits it.", signed_with(0, (0, 1)))
    case("r-low-order", "R has order 8, and the equation holds only with the cofactor.", signed_with(0, LOW))
    case("cofactor", "R isn't of low order, but the equation holds only with the cofactor.", signed_with(7, LOW))
    private = nacl.signing.SigningKey(ENROLLMENT_KEY)
    case("no-prefix", "The record is signed without the words before it.", unsigned() + private.sign(unsigned()).signature)


def make_refused():
    other = signing_public_key(OTHER_KEY)
    refused("foreign-signer", "Another key is pinned.", "foreign-signer", signed(), pinned=other)
    refused("foreign-signer-senders", "Another authority.", "foreign-signer", signed(SENDERS, AUTHORITY_KEY),
            kind="senders", pinned=other)  # fmt: skip
    refused("other-topic", "For another app.", "other-topic", signed(topic="com.example.other"))
    refused("other-topic-case", "Topics are compared exactly.", "other-topic", signed(topic="com.example.App"))
    refused("expired", "A second past its end.", "expired", signed(), now=EXPIRES + 1)
    refused("not-yet-valid", "Made a second more than 26 hours ahead.", "not-yet-valid", signed(), now=CREATED - 93601)
    refused("rolled-back", "A newer one is known.", "rolled-back", signed(), known=signed(counter=8))
    refused("rolled-back-expired", "Also when what is known has expired.", "rolled-back", signed(created=CREATED + 9),
            known=signed(counter=8, expires=CREATED + 1))  # fmt: skip
    refused("rolled-back-signer", "Also when another signer's is known.", "rolled-back", signed(),
            known=signed(key=OTHER_KEY, counter=8))  # fmt: skip
    refused("conflicting", "Two with one counter.", "conflicting", signed(), known=signed(keys=(PHONE_2,)))
    refused("conflicting-expiry", "Two with one counter, which end at different times.", "conflicting",
            signed(expires=EXPIRES + 1), known=signed())  # fmt: skip
    refused("conflicting-unknown-key", "Two with one counter, which differ in an unknown key.", "conflicting",
            signed(keys=(PHONE, NINE)), known=signed(keys=(PHONE, NINE_2)))  # fmt: skip
    order = {
        "foreign-signer-first": ({"pinned": other, "topic": "a.b", "now": EXPIRES + 1}, "foreign-signer"),
        "other-topic-second": ({"topic": "a.b", "now": EXPIRES + 1}, "other-topic"),
        "expired-third": ({"now": EXPIRES + 1}, "expired"),
        "not-yet-valid-fourth": ({"now": CREATED - 93601}, "not-yet-valid"),
    }
    for name, (changes, code) in order.items():
        sentence = "Several things are wrong: the first in the order of 11.3 counts."
        refused(name, sentence, code, signed(), known=signed(counter=8), **changes)


# Challenges


ASKED = signing_public_key(ENROLLMENT_KEY)


def challenge(name, sentence, outcome="answered", identities=(IDENTITY,), senders=(SENDER,), topic=TOPIC,
              identity=IDENTITY, sealed_topic=TOPIC, asked=ASKED, text=None, agreed=None, sender=SENDER):  # fmt: skip
    """`identity`, `sealed_topic`, `asked`, and `sender` are the server's values; the others are the device's."""
    random, ephemeral, number = secret(name + " random"), secret(name + " ephemeral"), secret(name + " number")[:12]
    ephemeral = make_vectors.ephemeral(agreed) if agreed else ephemeral
    made, answer = records.make_challenge(sender, public_key(identity), asked, sealed_topic, random, ephemeral, number)
    values = {"kind": "challenge"}
    values |= numbered("identity", [key_text.encode(key_text.IDENTITY, each) for each in identities])
    values |= numbered("sender", make_vectors.sender_texts(senders))
    values |= {"enrollment": key_text.encode(ENROLLMENT, ASKED), "topic": topic}
    values |= {"challenge": text(made) if text else made, "outcome": outcome}
    if outcome == "answered":
        context = Context.to_seal(sender, public_key(identity), topic, ephemeral, purpose=hpke.CHALLENGE)
        values |= {"answer": answer, "recipient": key_text.encode(key_text.RECIPIENT, public_key(identity))}
        values |= {"asked-enrollment": key_text.encode(ENROLLMENT, asked)}
        values |= {"sender-secret": key_text.encode(key_text.SENDER_SECRET, sender)}
        values |= {"ephemeral-secret": ephemeral, "random": random, "number": number, "plaintext": random + asked}
        values |= {"enc": context.enc, "shared-secret": context.shared_secret, "key": context.key}
        values |= {"base-nonce": context.base_nonce}
    write("challenge-" + name, sentence, values)


def changed(change):
    """Returns the text of a challenge whose bytes were changed."""
    prefix = "pushchallenge."
    return lambda text: records.armor(prefix, change(bytearray(records.unarmor(prefix, text, 133, 133))))


def setting_byte(index, value):
    def change(data):
        data[index] = value if value is not None else data[index] ^ 1
        return data

    return changed(change)


def message(text):
    """Returns a message with a challenge's plaintext, sealed by the right sender to the right recipient."""
    context = Context.to_seal(SENDER, PHONE, TOPIC, secret("message as challenge"))
    return records.armor("pushchallenge.", context.seal(secret("message") + ASKED, secret("message number")[:12]))


def make_challenges():
    challenge("answered", "The device has the key, and the challenge is about its own enrollment.")
    challenge("second-identity", "The device has several keys.", identities=(IDENTITY_2, IDENTITY), identity=IDENTITY)
    challenge("second-sender", "The device trusts several senders.", senders=(SENDER_2, SENDER))
    shared = make_vectors.SHARED_IDENTITIES
    challenge("shared-hint", "Two of the device's keys share a hint; the second opens.",
              identities=shared, identity=shared[1], agreed=make_vectors.SHARED)  # fmt: skip
    first, second = make_vectors.SHARED_SENDERS
    pairs = {"sender": second, "agreed": make_vectors.SHARED}
    challenge("sixteenth-pair", "The sixteenth of the pairs that match opens it.", senders=(first,) * 15 + (second,), **pairs)
    challenge("seventeenth-pair", "Only the seventeenth of the pairs that match would open it.", "rejected",
              senders=(first,) * 16 + (second,), **pairs)  # fmt: skip
    challenge("foreign-enrollment", "Somebody else's challenge, passed on: it opens, and is not answered.",
              "foreign-enrollment", asked=signing_public_key(OTHER_KEY))  # fmt: skip
    challenge("unknown-recipient", "For another device's key.", "unknown-recipient", identity=STRANGER)
    challenge("unknown-sender", "From a sender that is not trusted.", "unknown-sender", senders=(SENDER_2,))
    challenge("other-topic", "For another app.", "rejected", sealed_topic="com.example.other")
    challenge("message", "A message is no challenge.", "rejected", text=message)
    challenge("tag", "The tag is altered.", "rejected", text=setting_byte(132, None))
    challenge("ciphertext", "The ciphertext is altered.", "rejected", text=setting_byte(80, None))
    challenge("number", "The number is altered.", "rejected", text=setting_byte(52, None))
    challenge("suite-2", "The anonymous suite.", "malformed", text=setting_byte(0, 2))
    challenge("suite-4", "An unknown suite.", "malformed", text=setting_byte(0, 4))
    challenge("enc", "enc is of low order.", "malformed",
              text=changed(lambda data: data[:9] + bytes(32) + data[41:]))  # fmt: skip
    challenge("cut", "A byte is missing.", "malformed", text=changed(lambda data: data[:-1]))
    challenge("byte-more", "A byte too many.", "malformed", text=changed(lambda data: data + b"\0"))
    challenge("space", "A space behind it.", "malformed", text=lambda text: text + " ")
    challenge("prefix", "The prefix of an answer.", "malformed", text=lambda text: "pushanswer." + text[14:])


def main():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for make in (make_accepted, make_malformed, make_unverified, make_refused, make_challenges):
        make()
    print(len(list(FOLDER.glob("*.txt"))), "vectors")


if __name__ == "__main__":
    main()
