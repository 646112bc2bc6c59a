#!/usr/bin/env python3
"""Writes the test vectors for leavings (EnrollmentHTTP 6) into Tests/Vectors/Leavings. Each run writes the same files."""

import textwrap

import make_vectors
import nacl.signing
from make_record_vectors import ENROLLMENT_KEY, LOW_ORDER, NOW, OTHER_KEY, signed
from make_vectors import TOPIC
from sealed_push import Device, Leaving, RecordError
from sealed_push.protocol import key_text, records
from sealed_push.protocol.key_text import ENROLLMENT_SECRET

FOLDER = make_vectors.FOLDER / "Leavings"
HIGHEST = 2**62
SERVICE = "production"
# The signature comes after the enrollment key, the counter, and the service with its length.
SIGNATURE = 32 + 8 + 1 + len(SERVICE)
PREFIX = "pushleaving."


def write(name, sentence, values):
    lines = ["# " + line for line in textwrap.wrap(sentence, 100)]
    lines += [f"{key}: {value}" for key, value in values.items()]
    (FOLDER / (name + ".txt")).write_text("\n".join(lines) + "\n", encoding="utf-8")


def accepted(name, sentence, counter=8, topic=TOPIC, service=SERVICE, record=None):
    text = records.sign_leaving(ENROLLMENT_KEY, counter, topic, service)
    leaving = Leaving(text, topic=topic, service=service)
    values = {"topic": topic, "service": service, "leaving": text, "outcome": "accepted", "enrollment": leaving.enrollment, "counter": counter}
    values |= {"signer-secret": key_text.encode(ENROLLMENT_SECRET, ENROLLMENT_KEY)}
    if record is not None:
        device = Device.enroll(records.record_text(record), topic=records.read_record(1, records.record_text(record)).topic, now=NOW)
        values |= {"record": device.record, "ends": "yes" if leaving.ends(device) else "no"}
    write(name, sentence, values)


def refused(name, sentence, code, text):
    try:
        Leaving(text, topic=TOPIC, service=SERVICE)
        raise ValueError(name + ": accepted")
    except RecordError as error:
        if error.code != code:
            raise ValueError(f"{name}: {error.code}") from None
    write(name, sentence, {"topic": TOPIC, "service": SERVICE, "leaving": text, "outcome": code})


def signed_leaving(key=ENROLLMENT_KEY, counter=8, topic=TOPIC, service=SERVICE):
    return records.sign_leaving(key, counter, topic, service)


def changed(index, value=None):
    data = bytearray(bytes_of(signed_leaving()))
    data[index] = data[index] ^ 1 if value is None else value
    return records.armor(PREFIX, bytes(data))


def without_service():
    unsigned = records.signing_public_key(ENROLLMENT_KEY) + (8).to_bytes(8, "big")
    message = b"sealedpush/v1 leaving\0" + unsigned + bytes([len(TOPIC)]) + TOPIC.encode()
    return records.armor(PREFIX, unsigned + nacl.signing.SigningKey(ENROLLMENT_KEY).sign(message).signature)


def bytes_of(text):
    return records.unarmor(PREFIX, text, 106, 260)


def main():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    accepted("leaving", "A device leaves.")
    accepted("counter-0", "The lowest counter.", counter=0)
    accepted("counter-highest", "One more than the highest counter of a record.", counter=HIGHEST)
    accepted("topic-155", "The longest topic.", topic="x" * 155)
    accepted("service-1", "The shortest name of a service.", service="x")
    accepted("service-155", "The longest name of a service.", service="x" * 155)
    accepted("service-topic", "The name of an app's only service: the topic.", service=TOPIC)
    accepted("ends-older", "The device's newest record is older.", record=signed(counter=7))
    accepted("ends-highest", "It outranks the highest counter of a record.", counter=HIGHEST, record=signed(counter=HIGHEST - 1))
    accepted("stays-same", "A record with the same counter was signed with the leaving, or later.", record=signed(counter=8))
    accepted("stays-newer", "The device has enrolled again.", record=signed(counter=9))
    accepted("stays-other-key", "Another device.", record=signed(key=OTHER_KEY, counter=7))
    accepted("stays-other-topic", "The same key in another app.", record=signed(counter=7, topic="com.example.other"))

    text = signed_leaving()
    data = bytes_of(text)
    for name, sentence, wrong in (
        ("empty", "Nothing.", ""),
        ("prefix-only", "The prefix alone.", PREFIX),
        ("no-prefix", "Without the prefix.", text[len(PREFIX) :]),
        ("capital-prefix", "The prefix in capitals.", "PUSHLEAVING." + text[len(PREFIX) :]),
        ("record-prefix", "The prefix of a record.", "pushrecord." + text[len(PREFIX) :]),
        ("space-behind", "A space behind it.", text + " "),
        ("padding", "Padded base64.", text + "="),
        ("cut", "A byte is missing.", records.armor(PREFIX, data[:-1])),
        ("byte-more", "A byte too many.", records.armor(PREFIX, data + b"\0")),
        ("unused-bits", "Bits that are not zero behind the last byte.", text[:-1] + chr(ord(text[-1]) + 1)),
        ("counter", "A counter that is one too high.", signed_leaving(counter=HIGHEST + 1)),
        ("counter-all-bits", "All bits of the counter set.", signed_leaving(counter=2**64 - 1)),
        ("signer-low-order", "A signer of low order.", records.armor(PREFIX, LOW_ORDER + data[32:])),
        ("service-empty", "A service without a name.", signed_leaving(service="")),
        ("service-156", "A name that is too long.", signed_leaving(service="x" * 156)),
        ("service-space", "A character that no name has.", signed_leaving(service="a b")),
        ("service-shorter", "The name is longer than its length says.", changed(40, len(SERVICE) - 1)),
        ("service-longer", "The name is shorter than its length says.", changed(40, len(SERVICE) + 1)),
        ("service-absent", "No service, with a signature that covers none.", without_service()),
    ):
        refused("malformed-" + name, sentence, "malformed", wrong)

    larger = (int.from_bytes(data[-32:], "little") + key_text.ORDER).to_bytes(32, "little")
    signer = records.signing_public_key(OTHER_KEY)
    for name, sentence, wrong in (
        ("counter", "The counter was raised.", changed(39, 9)),
        ("signer", "Another key's signature.", records.armor(PREFIX, signer + data[32:])),
        ("other-topic", "For another app.", signed_leaving(topic="com.example.bank")),
        ("topic-case", "Topics are compared exactly.", signed_leaving(topic="com.example.App")),
        ("service", "Another service's name under this signature.", changed(41, ord("P"))),
        ("other-topic-and-service", "For another app and service.", signed_leaving(topic="com.example.bank", service="x")),
        ("r", "A bit of the signature's R is flipped.", changed(SIGNATURE)),
        ("s", "A bit of the signature's S is flipped.", changed(SIGNATURE + 32)),
        ("s-plus-l", "L was added to the signature's S.", records.armor(PREFIX, data[:-32] + larger)),
        ("r-neutral", "R is the neutral point.", records.armor(PREFIX, data[:SIGNATURE] + b"\1" + bytes(31) + data[-32:])),
    ):
        refused("bad-signature-" + name, sentence, "bad-signature", wrong)

    for name, sentence, service in (
        ("other", "For another service of this app.", "staging"),
        ("case", "Names are compared exactly.", "Production"),
        ("beginning", "The beginning of the name.", "productio"),
        ("topic", "For the service that the topic names.", TOPIC),
    ):
        refused("other-service-" + name, sentence, "other-service", signed_leaving(service=service))
    print(len(list(FOLDER.glob("*.txt"))), "vectors")


if __name__ == "__main__":
    main()
