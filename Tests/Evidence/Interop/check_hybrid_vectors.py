#!/usr/bin/env python3
"""Argument: the folder Tests/Vectors/Hybrid. Checks its messages and challenge with pyhpke (RFC 9180) and cryptography's ML-KEM.

It uses no code of Clients/Python, and skips malformed messages. pyhpke can open only in order, so this sets its private counter.
"""

import base64
import collections
import hashlib
import pathlib
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, OpenError

SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.CHACHA20_POLY1305)


def bech32(text):
    """Returns the key in a text (8.2). Other tests check the checksum."""
    bits = "".join(f"{'qpzry9x8gf2tvdw0s3jn54khce6mua7l'.index(each):05b}" for each in text.lower().rpartition("1")[2][:-6])
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


def hint(label, keys):
    return hashlib.sha256(b"sealedpush/v1 " + label + b" hint\0\x03" + keys).digest()[:4]


def outcome_of(vector):
    """Returns the values that the vector should have, by name."""
    text, sender = vector.get("field") or vector["challenge"].removeprefix("pushchallenge."), bech32(vector["sender"])
    envelope = base64.urlsafe_b64decode(text + "==")
    aad, enc, number, psk_id = envelope[:1141], envelope[9:41], envelope[41:53], envelope[53:1141]
    for seed in (bech32(value) for value in vector.values() if value.startswith("PUSH-PQ-SECRET-KEY-1")):
        ml_kem = MLKEM768PrivateKey.from_seed_bytes(HKDF(SHA256(), 64, None, b"sealedpush/v1 device ml-kem\0").derive(seed))
        private = SUITE.kem.deserialize_private_key(HKDF(SHA256(), 32, None, b"sealedpush/v1 device scalar\0").derive(seed))
        recipient = b"".join(each.public_key().public_bytes_raw() for each in (ml_kem, private.raw))
        if envelope[:5] == b"\x03" + hint(b"recipient", enc + recipient):
            break
    else:
        return {"outcome": "unknown-recipient"}
    if envelope[5:9] != hint(b"sender", enc + recipient + sender):
        return {"outcome": "unknown-sender"}
    psk, public = ml_kem.decapsulate(psk_id), SUITE.kem.deserialize_public_key(sender)
    purpose = b"sealedpush/v1 hybrid\0" if "field" in vector else b"sealedpush/v1 challenge hybrid\0"
    context = SUITE.create_recipient_context(enc, private, purpose + vector["topic"].encode() + psk_id, public, psk, psk_id)
    context._seq = int.from_bytes(number, "big")
    try:
        plaintext = context.open(envelope[1141:], aad)
    except OpenError as error:
        return {"outcome": "rejected" if isinstance(error.__cause__, InvalidTag) else f"failed: {error.__cause__!r}"}
    if "challenge" in vector:
        answer = hashlib.blake2b(b"sealedpush/v1 answer\0" + recipient + plaintext[32:], digest_size=32, key=plaintext[:32])
        outcome = "answered" if plaintext[32:] == bech32(vector["enrollment"]) else "foreign-enrollment"
        return {"outcome": outcome, "answer": f"pushanswer.{base64.urlsafe_b64encode(answer.digest()).decode()[:-1]}"}
    number_key, shared_secret = context.export(b"sealedpush/v1 number", 32), SUITE.kem.decap(enc, private, public)
    values = {"psk": psk, "shared-secret": shared_secret, "base-nonce": context._nonce, "number-key": number_key}
    values |= {"enc": enc, "number": number, "psk-id": psk_id, "aad": aad, "plaintext": plaintext}
    content = plaintext.rstrip(b"\0").removesuffix(b"\x80").decode()
    return {"outcome": "opened", "content": content} | {name: value.hex() for name, value in values.items()}


def main(folder):
    counts = collections.Counter()
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        vector = dict(line.split(": ", 1) for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#")
        if ("field" in vector or "challenge" in vector) and vector["outcome"] != "malformed":
            if wrong := [name for name, value in outcome_of(vector).items() if vector.get(name) != value]:
                sys.exit(f"{path.name} differs in {', '.join(wrong)}")
            counts[vector["outcome"]] += 1
    print(", ".join(f"{name} {counts[name]}" for name in sorted(counts)))
    return 0 if counts else "no vectors"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
