"""Enqueuing in the application's own transaction: into an outbox of `sealedpush` in PostgreSQL (Docs/PostgreSQL.md)."""

import hashlib
import struct
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import SettingError
from .protocol.text import decode_base64

if TYPE_CHECKING:
    from .sender import Push

ENQUEUE = (
    "SELECT sealed_push.enqueue(device => %(device)s, recipient => %(recipient)s, payload => %(payload)s, "
    "apns_id => %(apns_id)s, collapse_id => %(collapse_id)s, priority => %(priority)s, expiration => %(expiration)s, "
    "sender => %(sender)s, key => %(key)s, code => %(code)s)"
)
"""For psycopg's `execute(ENQUEUE, enqueue_arguments(...))`. Its answer is one row of one word: enqueued, or why not."""


class OutboxKey:
    """What vouches for an outbox's rows: the key in the file that `sealedpush --outbox-key` names."""

    def __init__(self, text: str) -> None:
        """Raises SettingError."""
        words = text.strip("\ufeff").split() if isinstance(text, str) else []
        secret = decode_base64(words[1]) if len(words) == 2 else None
        if secret is None or len(secret) != 32 or words[0] != "sealed-push-outbox-key":
            raise SettingError("outbox-key")
        self._secret = secret

    def _code(self, device: str, topic: str, payload: bytes, arguments: dict[str, Any]) -> bytes:
        """Docs/Decisions/0040, the code of an entry."""
        fields: list[str | bytes | int | None] = [
            *("entry", device, topic, arguments["priority"], arguments["expiration"]),
            *(arguments["apns_id"], arguments["collapse_id"], payload, arguments["sender"]),
        ]
        return hashlib.blake2b(b"".join(map(_field, fields)), digest_size=32, key=self._secret).digest()

    def __repr__(self) -> str:
        return "OutboxKey()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an OutboxKey holds a secret, and is not copied: make one in each process")


def enqueue_arguments(
    push: "Push", device: str, *, key: str | None = None, outbox_key: OutboxKey | None = None
) -> dict[str, Any]:
    """The arguments of `sealed_push.enqueue`, by its names.

    device: its name in the outbox.
    key: your own name for the message, 1 to 256 bytes, such as its ID: the same is then not enqueued twice, for 30 days.
    outbox_key: where the outbox has one.
    """
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


def _field(value: str | bytes | int | None) -> bytes:
    kind, data = 0, b""
    if isinstance(value, int):
        kind, data = 1, struct.pack(">q", value)
    elif isinstance(value, str):
        kind, data = 2, value.encode()
    elif value is not None:
        kind, data = 3, value
    return bytes([kind]) + struct.pack(">Q", len(data)) + data
