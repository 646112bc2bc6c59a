#!/usr/bin/env python3
"""Writes the test vectors for the hybrid suite into Tests/Vectors/Hybrid: pushes like those of make_vectors.py, records, and a challenge.

Needs ML-KEM (cryptography 48), and kyber-py for encapsulations that are the same in each run; a sender's are random. Checking them
needs ML-KEM, too; tests in another Python skip this folder.
"""

import hashlib
import json

import interop
import make_record_vectors
import make_vectors
import records_tool
from kyber_py.ml_kem import ML_KEM_768
from make_vectors import BASE, IDENTITY, MESSAGE_ID, NOW, SENDER, STRANGER, TOPIC, flip, number_of, random_of_number
from sealed_push.protocol import envelope as envelopes
from sealed_push.protocol import hpke, key_text, records
from sealed_push.protocol.content import pad
from sealed_push.protocol.hpke import HEADER, HYBRID, Context, HybridIdentity, recipient_of, sender_public_key
from sealed_push.protocol.text import encode_base64, to_json

FOLDER = make_vectors.FOLDER / "Hybrid"
PHONE = HybridIdentity(hashlib.sha256(b"sealed push hybrid vector: phone").digest())
EARLIER = [HybridIdentity(hashlib.sha256(b"sealed push hybrid vector: key %d" % number).digest()) for number in range(2, 8)]
PHONE_2 = HybridIdentity(hashlib.sha256(b"sealed push hybrid vector: another phone").digest())
LARGEST = envelopes.largest_plaintext(HYBRID)


def encapsulated(name, identity=PHONE):
    """Returns ML-KEM's secret and ciphertext for a case's name."""
    message = hashlib.sha256(b"sealed push encapsulation: " + name.encode()).digest()
    return ML_KEM_768._encaps_internal(recipient_of(identity)[:-32], message)


def context(name, identity=PHONE, sender=SENDER, topic=TOPIC):
    ephemeral, recipient = make_vectors.ephemeral(name), recipient_of(identity)
    return Context.to_seal(sender, recipient, topic, ephemeral, encapsulated=encapsulated(name, identity))


def seal(name, plaintext, *arguments, **options):
    sealing = context(name, *arguments, **options)
    return sealing.seal(plaintext, sealing.number(plaintext, random_of_number(name)))


def identity_text(identity):
    kind = key_text.HYBRID_IDENTITY if isinstance(identity, HybridIdentity) else key_text.IDENTITY
    return key_text.encode(kind, identity)


def setting(identities, senders):
    values = make_vectors.numbered("identity", [identity_text(each) for each in identities])
    values |= make_vectors.numbered("sender", make_vectors.sender_texts(senders))
    return values | {"topic": TOPIC, "allow-anonymous": "no", "now": NOW}


def good(name, sentence, content=BASE, policy="none", identities=(PHONE,), identity=PHONE):
    name = "good-" + name
    data = to_json(content)
    plaintext = pad(data, policy, LARGEST, True)
    sealing = context(name, identity)
    number = sealing.number(plaintext, random_of_number(name))
    envelope = sealing.seal(plaintext, number)
    secret, ciphertext = encapsulated(name, identity)
    recipient = recipient_of(identity)
    key = envelopes.header_key(SENDER, TOPIC)
    values = setting(identities, (SENDER,)) | {"field": encode_base64(envelope), "outcome": "opened"}
    values |= {"content": data.decode(), "plaintext-bytes": len(plaintext)}
    values |= {"recipient": key_text.recipient_text(recipient), "ephemeral-secret": make_vectors.ephemeral(name)}
    values |= {"psk": secret, "psk-id": ciphertext, "sender-secret": SENDER, "enc": sealing.enc}
    values |= {"shared-secret": sealing.shared_secret, "key": sealing.key, "base-nonce": sealing.base_nonce}
    values |= {"number-key": sealing.number_key, "number-random": random_of_number(name), "number": number}
    values |= {"nonce": sealing.nonce(number), "aad": envelope[: HEADER[HYBRID]], "plaintext": plaintext}
    values |= {"ciphertext": envelope[HEADER[HYBRID] : -16], "tag": envelope[-16:]}
    values |= {"apns-collapse-id": envelopes.collapse_id(key, recipient, MESSAGE_ID)}
    values |= {"apns-id": envelopes.apns_id(key, recipient, MESSAGE_ID)}
    values |= {"ledger-key": envelopes.ledger_key(envelope, recipient, sender_public_key(SENDER))}
    write(name, sentence + " It opens.", values)


def bad(name, sentence, envelope, identities=(PHONE,), senders=(SENDER,)):
    codes = ("malformed", "unknown-recipient", "unknown-sender", "rejected")
    code = next(each for each in codes if name.startswith(each))
    values = setting(identities, senders) | {"field": encode_base64(envelope), "outcome": code}
    write(name, f"{sentence} It is refused with {code}.", values)


def write(name, sentence, values):
    lines = ["# " + sentence] + [f"{key}: {v.hex() if isinstance(v, bytes) else v}" for key, v in values.items()]
    path = FOLDER / (name + ".txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    vector = interop.read_vector(path)
    read = interop.outcome_of if "field" in vector else records_tool.outcome_of
    if read(vector) != interop.expected_of(vector):
        raise ValueError(f"{name}: {read(vector)}")


def of_length(length):
    room = length - len(to_json(BASE))
    return BASE | {"alert": {"title": "Nina", "body": "Lunch at one?" + "x" * room}}


def make_pushes():
    good("plain", "A hybrid message without padding.")
    for size, length in ((256, 200), (1024, 1000), (1792, 1100), (1845, 1800)):
        good(f"bucket-{size}", f"A content of {length} bytes, in the bucket of {size}.", of_length(length), "buckets")
    good("largest", "The largest content that fits: 1,844 bytes.", of_length(1844), "buckets")
    good("beside-classical", "The phone has an X25519 key, too.", identities=(IDENTITY, PHONE_2, PHONE))
    plaintext = to_json(BASE) + b"\x80"
    envelope = seal("hybrid", plaintext)
    bad("unknown-recipient", "For another phone.", seal("other", plaintext, PHONE_2))
    bad("unknown-recipient-classical", "The phone has an X25519 key alone.", envelope, identities=(IDENTITY,))
    bad("unknown-sender", "From a stranger.", seal("stranger", plaintext, sender=STRANGER))
    for index, place in ((1, "recipient-hint"), (9, "enc")):
        bad(f"unknown-recipient-flipped-{place}", "A bit of the header is flipped.", flip(envelope, index))
    for index, place in ((41, "number"), (53, "psk-id-first-byte"), (1140, "psk-id-last-byte"), (1141, "ciphertext")):
        bad(f"rejected-flipped-{place}", "A bit is flipped.", flip(envelope, index))
    bad("rejected-flipped-tag", "The last bit is flipped.", flip(envelope, -1, 7))
    bad("rejected-other-topic", "For another app.", seal("topic", plaintext, topic="com.example.other"))
    other = seal("exchanged", plaintext)
    bad("rejected-other-psk-id", "The ciphertext of ML-KEM of another context.", envelope[:53] + other[53:1141] + envelope[1141:])
    stripped = envelope[:53] + envelope[1141:]
    bad("unknown-recipient-stripped", "As if it were classical: no hint holds.", b"\x01" + stripped[1:], (PHONE, IDENTITY))
    scalar = PHONE.scalar
    classical = Context.to_seal(SENDER, hpke.public_key(scalar), TOPIC, make_vectors.ephemeral("classical"))
    bad("unknown-recipient-to-the-x25519-part", "Sealed by suite 0x01 to the X25519 part.", classical.seal(plaintext, number_of(0)))
    dh = hpke.x25519(make_vectors.ephemeral("no-psk"), recipient_of(PHONE)[-32:])
    dh += hpke.x25519(hpke.sender_scalar(SENDER), recipient_of(PHONE)[-32:])
    enc = hpke.public_key(make_vectors.ephemeral("no-psk"))
    forged = Context(dh, enc, recipient_of(PHONE), sender_public_key(SENDER), TOPIC, psk=bytes(32), psk_id=encapsulated("no-psk")[1])
    bad("rejected-without-ml-kem", "Sealed without ML-KEM's secret: zeros in its place.", forged.seal(plaintext, number_of(0)))
    bad("malformed-cut", "A byte shorter than the shortest.", envelope[:1157])
    bad("malformed-low-order", "enc is of low order.", envelope[:9] + bytes(32) + envelope[41:])


def device(text, outcome):
    pinned = records.signing_public_key(make_record_vectors.ENROLLMENT_KEY)
    values = {"kind": "device", "pinned": key_text.encode(key_text.ENROLLMENT, pinned)}
    return values | {"topic": TOPIC, "now": NOW, "record": text, "outcome": outcome}


def good_record(name, sentence, keys):
    enrollment, created, expires = make_record_vectors.ENROLLMENT_KEY, make_record_vectors.CREATED, make_record_vectors.EXPIRES
    values = device(records.sign_record(records.DEVICE, enrollment, 9, created, expires, TOPIC, keys, 3), "accepted")
    values |= {"signer-secret": key_text.encode(key_text.ENROLLMENT_SECRET, enrollment), "counter": 9, "created": created}
    values |= {"expires": expires, "keeps": 3} | make_vectors.numbered("key", [key_text.recipient_text(each) for each in keys])
    write(name, sentence, values)


def malformed_record(name, sentence, keys):
    enrollment, created, expires = make_record_vectors.ENROLLMENT_KEY, make_record_vectors.CREATED, make_record_vectors.EXPIRES
    write(name, sentence, device(records.sign_record(records.DEVICE, enrollment, 9, created, expires, TOPIC, keys), "malformed"))


def make_records():
    keys = (recipient_of(PHONE), hpke.public_key(IDENTITY))
    good_record("record", "A device that has become hybrid, and keeps retired secrets for three days.", keys)
    coefficient = bytearray(keys[0])
    coefficient[0], coefficient[1] = 0x01, coefficient[1] & 0xF0 | 0x0D
    malformed_record("record-coefficient", "The first coefficient is 3329.", (bytes(coefficient),))
    seven = [recipient_of(each) for each in (PHONE, *EARLIER)]
    good_record("record-six-keys", "Six hybrid keys: the most that fit into a record.", seven[:6])
    malformed_record("record-seven-keys", "Seven hybrid keys: 8,673 bytes, and so more than a record's 8,192.", seven)


def make_challenge():
    enrollment, recipient = make_record_vectors.ENROLLMENT_KEY, recipient_of(PHONE)
    asked = records.signing_public_key(enrollment)
    random, number = hashlib.sha256(b"hybrid challenge").digest(), number_of(1)
    made, answer = records.make_challenge(
        SENDER, recipient, asked, TOPIC, random, make_vectors.ephemeral("challenge"), number, encapsulated("challenge")
    )
    values = {"kind": "challenge", "identity": identity_text(PHONE), "sender": make_vectors.sender_texts([SENDER])[0]}
    values |= {"enrollment": key_text.encode(key_text.ENROLLMENT, asked), "topic": TOPIC, "challenge": made}
    write("challenge", "A challenge to a hybrid key.", values | {"outcome": "answered", "answer": answer})


def main():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    make_pushes()
    make_records()
    make_challenge()
    print(len(list(FOLDER.glob("*.txt"))), "vectors", json.dumps(LARGEST))


if __name__ == "__main__":
    main()
