"""Keys as text (Specification, section 8), and the rules of 3.2 and 3.3 for public keys."""

import functools
import hashlib
from collections.abc import Iterable
from typing import Any

import nacl.bindings
import nacl.exceptions

from ..errors import KeyTextError
from . import mlkem
from .text import decode_base64, encode_base64

RECIPIENT, SENDER, HYBRID_RECIPIENT = "push", "pushsender", "pushpq"
IDENTITY, SENDER_SECRET, HYBRID_IDENTITY = "push-secret-key-", "push-sender-secret-key-", "push-pq-secret-key-"
AUTHORITY, ENROLLMENT = "pushauthority", "pushenrollment"
AUTHORITY_SECRET, ENROLLMENT_SECRET = "push-authority-secret-key-", "push-enrollment-secret-key-"
# What the text of a hybrid recipient begins with.
_ARMOR = HYBRID_RECIPIENT + "."
# The five-bit groups in which 32 bytes are written, and the unused bits of the last one.
_GROUPS, _UNUSED = 52, 4
SECRETS = (IDENTITY, HYBRID_IDENTITY, SENDER_SECRET, AUTHORITY_SECRET, ENROLLMENT_SECRET)

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)

PRIME = 2**255 - 19
# L of Ed25519 (RFC 8032, 5.1).
ORDER = 2**252 + 27742317777372353535851937790883648493
# 1 modulo L and 0 modulo 8. Multiplying a point by it leaves only the part in the main subgroup.
_MAIN_PART = (8 * pow(8, -1, ORDER)).to_bytes(32, "little")
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


def is_public_key(key: bytes) -> bool:
    """Whether 3.3.1 accepts this public key."""
    return len(key) == 32 and int.from_bytes(key, "little") < PRIME and key not in LOW_ORDER


@functools.lru_cache(maxsize=10_000)
def is_signing_key(key: bytes) -> bool:
    """Whether 8.6 accepts this Ed25519 public key: canonical, on the curve, and in the main subgroup, but not its identity.

    libsodium itself refuses most other keys. Older versions accept points of order 2L (CVE-2025-69277), which differ from their
    part in the main subgroup.
    """
    if len(key) != 32:
        return False
    try:
        return bool(nacl.bindings.crypto_scalarmult_ed25519_noclamp(_MAIN_PART, key) == key)
    except nacl.exceptions.RuntimeError:
        return False


def key_id(public_key: bytes) -> bytes:
    return hashlib.sha256(public_key).digest()[:4]


def encode(kind: str, key: bytes) -> str:
    if len(key) != _length(kind) or not _may_be(kind, key):
        raise KeyTextError("refused-key")
    if kind == HYBRID_RECIPIENT:
        return _ARMOR + encode_base64(key + _checksum(key))
    number = int.from_bytes(key, "big") << _UNUSED
    values = [number >> 5 * place & 31 for place in range(_GROUPS - 1, -1, -1)]
    checksum = _polymod(_expand(kind) + values + [0] * 6) ^ 1
    values += [checksum >> shift & 31 for shift in range(25, -1, -5)]
    text = kind + "1" + "".join(ALPHABET[value] for value in values)
    return text.upper() if kind in SECRETS else text


def decode(kind: str, text: Any) -> bytes:
    """Returns the bytes of a key of this kind. The error never repeats the text (8.5)."""
    if text is None or text in ("", "None", "null", "undefined"):
        raise KeyTextError("not-given")
    if not isinstance(text, str) or not text.isascii() or len(text) > 2000:
        raise KeyTextError("not-a-key")
    if text.strip() != text:
        raise KeyTextError("white-space")
    if kind == HYBRID_RECIPIENT:
        return _decode_armored(text)
    if len(text) > 90:
        raise KeyTextError("not-a-key")
    if text not in (text.upper(), text.lower()) or (kind in SECRETS and text != text.upper()):
        raise KeyTextError("wrong-case")
    found, separator, data = text.lower().rpartition("1")
    if not separator or any(character not in ALPHABET for character in data):
        raise KeyTextError("not-a-key")
    if found != kind:
        raise KeyTextError("wrong-kind")
    values = [ALPHABET.index(character) for character in data]
    if _polymod(_expand(kind) + values) != 1:
        raise KeyTextError("wrong-checksum")
    if len(values) != _GROUPS + 6 or values[_GROUPS - 1] & (1 << _UNUSED) - 1:
        raise KeyTextError("not-a-key")
    number = 0
    for value in values[:_GROUPS]:
        number = number << 5 | value
    key = (number >> _UNUSED).to_bytes(32, "big")
    if not _may_be(kind, key):
        raise KeyTextError("refused-key")
    return key


def kind_of(text: Any) -> str:
    """Returns the human-readable part of a key's text, whether or not it's one of this protocol's."""
    if not isinstance(text, str):
        return ""
    return HYBRID_RECIPIENT if text.lower().startswith(_ARMOR) else text.lower().rpartition("1")[0]


def _decode_armored(text: str) -> bytes:
    """Returns the bytes of a hybrid recipient (8.8)."""
    if not text.startswith(_ARMOR):
        raise KeyTextError("wrong-case" if text.lower().startswith(_ARMOR) else "wrong-kind")
    data = decode_base64(text[len(_ARMOR) :])
    if data is None or len(data) != _length(HYBRID_RECIPIENT) + 4:
        raise KeyTextError("not-a-key")
    key, checksum = data[:-4], data[-4:]
    if checksum != _checksum(key):
        raise KeyTextError("wrong-checksum")
    if not is_recipient(key):
        raise KeyTextError("refused-key")
    return key


def _checksum(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()[:4]


def decode_secret(kind: str, text: Any) -> bytes:
    """Like `decode`, but ignores white space and a byte order mark around the text, which files and variables add."""
    return decode(kind, text.strip("\ufeff \t\r\n") if isinstance(text, str) else text)


def recipient(text: Any) -> bytes:
    """Returns the bytes of a recipient of either suite. Raises KeyTextError; without ML-KEM, `unsupported` for a hybrid key."""
    if kind_of(text) == HYBRID_RECIPIENT:
        mlkem.require()
        return decode(HYBRID_RECIPIENT, text)
    return decode(RECIPIENT, text)


def recipient_text(key: bytes) -> str:
    return encode(RECIPIENT if len(key) == 32 else HYBRID_RECIPIENT, key)


def is_recipient(key: bytes) -> bool:
    if len(key) == 32:
        return is_public_key(key)
    return len(key) == _length(HYBRID_RECIPIENT) and mlkem.is_key(key[:-32]) and is_public_key(key[-32:])


def _length(kind: str) -> int:
    return mlkem.PUBLIC + 32 if kind == HYBRID_RECIPIENT else 32


def _may_be(kind: str, key: bytes) -> bool:
    """Whether these bytes can be a key of this kind. Any bytes can be a secret."""
    if kind == HYBRID_RECIPIENT:
        return is_recipient(key)
    if kind in (RECIPIENT, SENDER):
        return is_public_key(key)
    return kind in SECRETS or is_signing_key(key)


def _expand(kind: str) -> list[int]:
    return [ord(character) >> 5 for character in kind] + [0] + [ord(character) & 31 for character in kind]


def _polymod(values: Iterable[int]) -> int:
    checksum = 1
    for value in values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for index, constant in enumerate(GENERATOR):
            checksum ^= constant if top >> index & 1 else 0
    return checksum
