#!/usr/bin/env python3
"""Writes texts of keys, valid and not, into Tests/Vectors/Text/keys.tsv. Each run writes the same file."""

import hashlib

import client  # noqa: F401
import nacl.signing
from make_vectors import FOLDER
from sealed_push.protocol import hpke, key_text, mlkem
from sealed_push.protocol.key_text import ALPHABET, PRIME
from sealed_push.protocol.text import encode_base64

HEAD = (
    "# Texts of keys (Specification 8), parted by tabs: the expected human-readable part, the key's bytes in hexadecimal or\n"
    "# `refused`, the text in quotation marks, and what it shows.\n"
)
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
X25519 = ("push", "pushsender")
ED25519 = ("pushauthority", "pushenrollment")


def seed(name):
    return hashlib.sha256(b"sealed push key vector: " + name.encode()).digest()


def text(kind, data, constant=1, unused=0):
    """Returns the text of any bytes, without the checks of `encode`. `constant` other than 1 makes a wrong checksum."""
    if kind == "pushpq":
        checksum = bytearray(hashlib.sha256(data).digest()[:4])
        checksum[0] ^= {1: 0, 0: 1}.get(constant, 2)
        return "pushpq." + last_bits(encode_base64(data + checksum), unused)
    return bech32(kind, data, constant, unused)


def last_bits(made, unused):
    """Returns base64url whose last character has these unused bits."""
    return made[:-1] + BASE64[BASE64.index(made[-1]) | unused] if unused else made


def bech32(kind, data, constant=1, unused=0):
    count = -(-8 * len(data) // 5)
    number = int.from_bytes(data, "big") << 5 * count - 8 * len(data) | unused
    values = [number >> 5 * place & 31 for place in range(count - 1, -1, -1)]
    checksum = key_text._polymod(key_text._expand(kind) + values + [0] * 6) ^ constant
    values += [checksum >> shift & 31 for shift in range(25, -1, -5)]
    made = kind + "1" + "".join(ALPHABET[value] for value in values)
    return made.upper() if kind.endswith("-") else made


def public(kind):
    if kind == "pushpq":
        identity = hpke.HybridIdentity(seed("push-pq-secret-key-"))
        return hpke.recipient_of(identity)
    if kind in X25519:
        return hpke.public_key(seed(kind))
    return nacl.signing.SigningKey(seed(kind)).verify_key.encode()


def bytes_of(kind):
    return seed(kind) if kind.endswith("-") else public(kind)


def lines():
    kinds = [*X25519, *ED25519, "pushpq", *key_text.SECRETS]
    for kind in kinds:
        data = bytes_of(kind)
        good = text(kind, data)
        yield kind, data, good, "a key"
        if kind == "pushpq":
            yield kind, None, good.upper(), "a hybrid key in capitals"
            yield kind, None, good.lower(), "a hybrid key in lowercase"
            yield kind, None, "PUSHPQ." + good[7:], "its prefix in capitals"
            yield kind, None, bech32(kind, data), "a hybrid key in Bech32"
            yield kind, None, good + "=", "padded base64"
            yield kind, None, good.replace(".", "1", 1), "the separator of Bech32"
            yield kind, None, "pushrecord." + good[7:], "the prefix of a record"
            far = "".join("Q" if each == "A" else "A" for each in (good[100], good[1123]))
            yield kind, None, good[:100] + far[0] + good[101:1123] + far[1] + good[1124:], "two wrong characters, 1,023 apart"
        elif kind not in key_text.SECRETS:
            yield kind, data, good.upper(), "a public key in capitals"
            yield kind, None, good[:-1] + good[-1].upper() if good[-1].isalpha() else good.replace("push", "Push", 1), "mixed case"
        else:
            yield kind, None, good.lower(), "a secret in lowercase"
            yield kind, None, "push" + good[4:], "mixed case"
        place = len(good) - 20
        other = next(each for each in ("Q", "P") if each != good[place].upper())
        other = other if good.isupper() else other.lower()
        yield kind, None, good[:place] + other + good[place + 1 :], "a wrong character"
        yield kind, None, text(kind, data, constant=0x2BC830A3), "the checksum of Bech32m"
        yield kind, None, text(kind, data, constant=0), "a checksum that is off by one"
        yield kind, None, text(kind, data, unused=1), "a padding bit that isn't zero"
        yield kind, None, text(kind, data[:-1]), "a byte too few"
        yield kind, None, text(kind, data + b"\0"), "a byte too many"
        yield kind, None, good[:place] + ("B" if good.isupper() else "+" if kind == "pushpq" else "b") + good[place + 1 :], "a character outside the alphabet"
        yield kind, None, good + " ", "a space behind it"
        yield kind, None, " " + good, "a space before it"
        yield kind, None, good + "\\n", "a line end behind it"
        yield kind, None, "", "nothing"
        wrong = "pushauthority" if kind != "pushauthority" else "pushsender"
        if kind.endswith("-"):
            wrong = "push-sender-secret-key-" if kind != "push-sender-secret-key-" else "push-authority-secret-key-"
        yield kind, None, text(wrong, bytes_of(wrong)), "another kind of key"
        yield kind, None, text("push-other-" if kind.endswith("-") else "pushother", data), "an unknown kind"
    for kind in X25519:
        for data, sentence in (
            *((each, "a point of low order") for each in sorted(key_text.LOW_ORDER)),
            (PRIME.to_bytes(32, "little"), "a number that isn't below q"),
            ((PRIME + 9).to_bytes(32, "little"), "the base point plus q"),
            (public(kind)[:31] + bytes([public(kind)[31] | 128]), "bit 255"),
        ):
            yield kind, None, text(kind, data), sentence
    for kind in ED25519:
        number = int.from_bytes(public(kind), "little")
        y, sign = number & (1 << 255) - 1, number >> 255
        for data, sentence in (
            ((PRIME - y | (1 - sign) << 255).to_bytes(32, "little"), "a point mixed with the one of order 2"),
            ((1).to_bytes(32, "little"), "the identity"),
            (bytes(32), "a point of order 4"),
            ((PRIME - 1).to_bytes(32, "little"), "the point of order 2"),
            ((PRIME + 1).to_bytes(32, "little"), "the identity, not canonical"),
            ((1 | 1 << 255).to_bytes(32, "little"), "the identity with another sign"),
            ((2).to_bytes(32, "little"), "no point of the curve"),
        ):
            yield kind, None, text(kind, data), sentence
    hybrid = public("pushpq")
    # The first coefficient has the low 12 bits of the first two bytes.
    wrong = bytes([3329 & 255, hybrid[1] & 0xF0 | 3329 >> 8]) + hybrid[2:]
    yield "pushpq", None, text("pushpq", wrong), "a coefficient of 3329"
    largest = bytes([3328 & 255, hybrid[1] & 0xF0 | 3328 >> 8]) + hybrid[2:]
    yield "pushpq", largest, text("pushpq", largest), "a coefficient of 3328"
    last = hybrid[: mlkem.PUBLIC - 33] + b"\xff" + hybrid[mlkem.PUBLIC - 32 :]
    yield "pushpq", None, text("pushpq", last), "a last coefficient of 4080 or more"
    yield "pushpq", None, text("pushpq", hybrid[-32:]), "an X25519 key alone"
    yield "pushpq", None, text("pushpq", hybrid[:-32] + bytes(32)), "an X25519 part of low order"


def main():
    rows = [f"{kind}\t{data.hex() if data else 'refused'}\t\"{each}\"\t{sentence}" for kind, data, each, sentence in lines()]
    if len(set(rows)) != len(rows):
        raise ValueError("a line occurs twice")
    (FOLDER / "Text" / "keys.tsv").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    print(len(rows), "texts")


if __name__ == "__main__":
    main()
