"""Enqueues pushes into an outbox in PostgreSQL, in the application's own transaction (Docs/PostgreSQL.md)."""

import hashlib
import struct
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import SettingError
from .protocol.text import decode_base64, is_unicode

if TYPE_CHECKING:
    from .sender import Push

ENQUEUE = (
    "SELECT sealed_push.enqueue(device => %(device)s, recipient => %(recipient)s, payload => %(payload)s, "
    "apns_id => %(apns_id)s, collapse_id => %(collapse_id)s, priority => %(priority)s, expiration => %(expiration)s, "
    "sender => %(sender)s, key => %(key)s, code => %(code)s)"
)
"""For psycopg: `execute(ENQUEUE, enqueue_arguments(...))`. Returns one row with one word: enqueued, or the reason."""


class OutboxKey:
    """The key that authenticates an outbox's rows, from the file that `sealedpush --outbox-key` names."""

    def __init__(self, text: str) -> None:
        """Raises SettingError."""
        words = text.strip("\ufeff").split() if isinstance(text, str) else []
        secret = decode_base64(words[1]) if len(words) == 2 else None
        if secret is None or len(secret) != 32 or words[0] != "sealed-push-outbox-key":
            raise SettingError("outbox-key")
        self._secret = secret

    def _code(self, device: str, topic: str, payload: bytes, arguments: dict[str, Any]) -> bytes:
        """Returns the code of an entry (Docs/Decisions/0040)."""
        fields: list[str | bytes | int | None] = [
            *("entry", device, topic, arguments["priority"], arguments["expiration"]),
            *(arguments["apns_id"], arguments["collapse_id"], payload, arguments["sender"]),
        ]
        return hashlib.blake2b(b"".join(map(_field, fields)), digest_size=32, key=self._secret).digest()

    def __repr__(self) -> str:
        return "OutboxKey()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an OutboxKey holds a secret and can't be copied; make one in each process")


def enqueue_arguments(
    push: "Push", device: str, *, key: str | None = None, outbox_key: OutboxKey | None = None
) -> dict[str, Any]:
    """Returns the arguments of `sealed_push.enqueue` by name.

    device: the device's name in the outbox, 1 to 128 bytes, and not `.` or `..`.
    key: an idempotency key for the message, 1 to 256 bytes, such as its ID. For 30 days, a key isn't enqueued twice.
    outbox_key: the outbox's key, if it has one.

    Raises SettingError.
    """
    # A name can be a segment of a path, and URL parsers remove these two.
    if not _is_text(device, 128) or device in (".", ".."):
        raise SettingError("device-name")
    if key is not None and not _is_text(key, 256):
        raise SettingError("idempotency-key")
    expiration = push.headers.get("apns-expiration")
    arguments = {
        "device": device,
        "recipient": push.recipient,
        "payload": push.payload.decode(),
        "apns_id": push.headers["apns-id"],
        "collapse_id": push.headers["apns-collapse-id"],
        "priority": int(push.headers["apns-priority"]),
        "expiration": None if expiration is None else int(expiration),
        "sender": push.sender,
        "key": key,
        "code": None,
    }
    if outbox_key is not None:
        arguments["code"] = outbox_key._code(device, push.headers["apns-topic"], push.payload, arguments)
    return arguments


def _is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and is_unicode(value) and 1 <= len(value.encode()) <= most and "\0" not in value


def _field(value: str | bytes | int | None) -> bytes:
    kind, data = 0, b""
    if isinstance(value, int):
        kind, data = 1, struct.pack(">q", value)
    elif isinstance(value, str):
        kind, data = 2, value.encode()
    elif value is not None:
        kind, data = 3, value
    return bytes([kind]) + struct.pack(">Q", len(data)) + data
