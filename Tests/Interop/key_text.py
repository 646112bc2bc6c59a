"""Keys of Sealed Push as text (Specification, section 8), and the rules of 3.2 and 3.3 for public keys."""

import hashlib

RECIPIENT, SENDER = "push", "pushsender"
IDENTITY, SENDER_SECRET = "push-secret-key-", "push-sender-secret-key-"

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)

PRIME = 2**255 - 19
LOW_ORDER = frozenset(
    bytes.fromhex(text)
    for text in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)


def is_public_key(key):
    """Whether 3.3.1 lets this public key pass."""
    return len(key) == 32 and int.from_bytes(key, "little") < PRIME and key not in LOW_ORDER


def key_id(public_key):
    return hashlib.sha256(public_key).digest()[:4]


def encode(kind, key):
    if len(key) != 32 or (kind in (RECIPIENT, SENDER) and not is_public_key(key)):
        raise ValueError("not a usable key")
    number = int.from_bytes(key, "big") << 4
    values = [number >> shift & 31 for shift in range(255, -1, -5)]
    checksum = _polymod(_expand(kind) + values + [0] * 6) ^ 1
    values += [checksum >> shift & 31 for shift in range(25, -1, -5)]
    text = kind + "1" + "".join(ALPHABET[value] for value in values)
    return text.upper() if kind in (IDENTITY, SENDER_SECRET) else text


def decode(kind, text):
    """The 32 bytes of a key of this kind. The error never repeats the text (8.5)."""
    secret = kind in (IDENTITY, SENDER_SECRET)
    if len(text) > 90 or not text.isascii() or text not in (text.upper(), text.lower()):
        raise ValueError("not a key: too long, or not in one case")
    if secret and text != text.upper():
        raise ValueError("not a key: a secret is written in capitals")
    found, separator, data = text.lower().rpartition("1")
    if not separator or found != kind or any(character not in ALPHABET for character in data):
        raise ValueError("not a key of the kind " + kind)
    values = [ALPHABET.index(character) for character in data]
    if _polymod(_expand(kind) + values) != 1:
        raise ValueError("not a key: wrong checksum")
    if len(values) != 58 or values[51] & 15:
        raise ValueError("not a key: not exactly 32 bytes")
    number = 0
    for value in values[:52]:
        number = number << 5 | value
    key = (number >> 4).to_bytes(32, "big")
    if not secret and not is_public_key(key):
        raise ValueError("not a key: a refused public key")
    return key


def _expand(kind):
    return [ord(character) >> 5 for character in kind] + [0] + [ord(character) & 31 for character in kind]


def _polymod(values):
    checksum = 1
    for value in values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for index, constant in enumerate(GENERATOR):
            checksum ^= constant if top >> index & 1 else 0
    return checksum
