"""Receipts, made as a device does and checked as a server does (ContentParts, section 16)."""

import hashlib
import hmac
import struct
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ReceiptError
from . import urls
from .hpke import derive
from .text import decode_base64, encode_base64

LENGTH = 128
MAC = 32
REASONS = (
    "malformed unknown-recipient locked keys-unavailable unknown-sender anonymous-not-allowed rejected malformed-content "
    "topic key-retired clock too-old expired replayed ledger-unavailable out-of-time unknown-suite"
).split()
COUNTS = 25
LATEST = 253402300799
MAXIMUM_AGE, MAXIMUM_LEAD = 604800, 93600
MOST_SENDERS = 16


def blake2b(key: bytes, message: bytes, length: int) -> bytes:
    return hashlib.blake2b(message, digest_size=length, key=key).digest()


def server_key(seed: bytes, topic: str) -> bytes:
    """Returns a server's key for receipts (16.4)."""
    return derive(seed, "sealedpush/v1 receipts", topic)


def device_id(server: bytes, recipient: bytes) -> bytes:
    return blake2b(server, b"id\0" + recipient, 16)


def device_key(server: bytes, id: bytes) -> bytes:
    return blake2b(server, b"key\0" + id, 32)


def number_of(key: bytes, message: str) -> bytes:
    return blake2b(key, b"sealedpush/v1 receipt number\0" + message.encode(), 16)


def mac_of(key: bytes, body: bytes) -> bytes:
    return blake2b(key, b"sealedpush/v1 receipt\0" + body, MAC)


def unsigned(
    id: bytes, number: bytes, created: int, elapsed: int, counts: Mapping[int, int], version: int = 1, outcome: int = 1
) -> bytes:
    """Returns bytes 0 to 95 (16.2). `counts` maps each reason's number, from 1, to its count."""
    fields = [min(counts.get(index, 0), 0xFFFF) for index in range(1, COUNTS + 1)]
    head = bytes([version]) + id + number + struct.pack(">QBI", created, outcome, min(elapsed, 0xFFFFFFFF))
    return head + struct.pack(f">{COUNTS}H", *fields)


def make(key: bytes, id: bytes, message: str, created: int, elapsed: int, counts: Mapping[int, int]) -> bytes:
    body = unsigned(id, number_of(key, message), created, elapsed, counts)
    return body + mac_of(key, body)


def check(body: bytes, servers: Iterable[bytes], now: int) -> dict[str, Any]:
    """Checks a receipt and returns its values by name (16.5). `servers` are the keys of 16.4."""
    if len(body) != LENGTH:
        raise ReceiptError("wrong-size")
    if body[0] != 1:
        raise ReceiptError("unknown-version")
    id = body[1:17]
    keys = [device_key(server, id) for server in list(servers)[:MOST_SENDERS]]
    if not any(hmac.compare_digest(mac_of(key, body[:-MAC]), body[-MAC:]) for key in keys):
        raise ReceiptError("rejected")
    created, outcome, elapsed = struct.unpack(">QBI", body[33:46])
    if created > LATEST or outcome != 1:
        raise ReceiptError("malformed")
    if now - created > MAXIMUM_AGE:
        raise ReceiptError("too-old")
    if created - now > MAXIMUM_LEAD:
        raise ReceiptError("clock")
    found = struct.unpack(f">{COUNTS}H", body[46:96])
    counts = {index: count for index, count in enumerate(found, 1) if count}
    return {"id": id, "number": body[17:33], "created": created, "elapsed": elapsed, "counts": counts}


# The request (16.1)

LONGEST_URL = 256


def is_address(text: Any) -> bool:
    return urls.is_url(text, LONGEST_URL)


def request(server: bytes, recipient: bytes, url: str) -> dict[str, str]:
    """Returns the request for a receipt in a message to this recipient."""
    id = device_id(server, recipient)
    return {"url": url, "id": encode_base64(id), "key": encode_base64(device_key(server, id))}


def read_request(value: Any) -> tuple[str, bytes, bytes] | None:
    """Returns the URL, ID, and key, or None if the value breaks a rule."""
    if not isinstance(value, dict) or not is_address(value.get("url")):
        return None
    id, key = decode_base64(value.get("id")), decode_base64(value.get("key"))
    if id is None or key is None or len(id) != 16 or len(key) != 32:
        return None
    return value["url"], id, key
