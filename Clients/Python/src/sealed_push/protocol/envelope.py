"""The payload, its sizes, and its identifiers (Specification, sections 2, 5, and 7.2)."""

import hashlib
import time
import uuid
from collections.abc import Mapping
from typing import Any

from .content import LAST_SECOND, pad
from .hpke import HEADER, HYBRID, OVERHEAD, derive
from .text import encode_base64, to_json

FIELD = "custom-encrypted-message"
GENERIC_TEXT = "You have a new message!"
MOST_BYTES = 4096
# The payload up to the envelope in a push that the app opens (21.3).
BACKGROUND = b'{"aps":{"content-available":1},"custom-encrypted-message":"'


def payload(envelope: bytes | None, alert: Any = GENERIC_TEXT) -> bytes:
    text = encode_base64(envelope) if envelope else ""
    return to_json({"aps": {"alert": alert, "mutable-content": 1}, FIELD: text})


def largest_plaintext(suite: int, alert: Any = GENERIC_TEXT, reserve: int = 0) -> int:
    """Returns P of 5.3."""
    return (MOST_BYTES - reserve - len(payload(None, alert))) * 3 // 4 - OVERHEAD[suite]


def complete(content: Mapping[str, Any], topic: str, now: int | None = None, keeps: int | None = None) -> dict[str, Any]:
    """Returns the content with the members that a sender fills in: id, topic, and sent.

    For a device that keeps retired keys for less than 30 days, it also fills in expires (11.4.6), unless that has passed.
    """
    sent = int(time.time()) if now is None else now
    made = {"id": str(uuid.uuid4()), "topic": topic, "sent": sent} | dict(content)
    if keeps is not None and keeps < 30 and isinstance(made["sent"], int):
        expires = min(made["sent"] + keeps * 86400, LAST_SECOND)
        if expires >= sent:
            made.setdefault("expires", expires)
    return made


def make_plaintext(content: Mapping[str, Any], suite: int, policy: str = "buckets") -> bytes:
    return pad(to_json(content), policy, largest_plaintext(suite), suite == HYBRID)


# Identifiers of a push (2.7 to 2.9)


def header_key(seed: bytes, topic: str) -> bytes:
    return derive(seed, "sealedpush/v1 ids", topic)


def collapse_id(key: bytes, recipient: bytes, string: str) -> str:
    message = b"collapse\0" + recipient + string.encode()
    return encode_base64(hashlib.blake2b(message, digest_size=16, key=key).digest())


def apns_id(key: bytes, recipient: bytes, message_id: str) -> str:
    message = b"apns-id\0" + recipient + message_id.encode()
    digest = bytearray(hashlib.blake2b(message, digest_size=16, key=key).digest())
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def ledger_key(envelope: bytes, recipient: bytes, sender: bytes | None = None) -> bytes:
    """Returns the key in the ledger (7.2). `sender` is None for the anonymous suite."""
    sealed = sender + envelope[9 : HEADER[envelope[0]]] if sender else envelope[5:]
    return hashlib.blake2b(envelope[:1] + recipient + sealed, digest_size=32).digest()
