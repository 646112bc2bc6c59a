"""Opens a push as a device does (Specification, section 6, steps 1 to 5)."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import nacl.exceptions
import nacl.public
from cryptography.exceptions import InvalidTag

from ..errors import ContentError, OpenError
from .content import is_withdrawal, parse, unpad
from .envelope import FIELD
from .hpke import ANONYMOUS, MOST_TRIES, OVERHEAD, Context, matches, matches_sender, recipient_of
from .key_text import is_public_key
from .text import decode_base64


class Opened(NamedTuple):
    content: dict[str, Any]
    identity: bytes
    sender: bytes | None
    envelope: bytes


def field_of(payload: bytes | str | Mapping[str, Any]) -> Any:
    """Returns the value of the payload's field, which may be anything. Raises OpenError."""
    try:
        text = payload.decode() if isinstance(payload, (bytes, bytearray)) else payload
        return (json.loads(text) if isinstance(text, str) else text)[FIELD]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise OpenError("malformed") from None


def open_field(
    text: Any,
    identities: Sequence[bytes],
    senders: Sequence[bytes],
    topic: str,
    now: int,
    allow_anonymous: bool = False,
    retired: Mapping[bytes, int] = MappingProxyType({}),
) -> Opened:
    """Opens a field's text. `retired` maps retired identities to their retirement times (13.3). Raises OpenError."""
    envelope = decode_base64(text)
    if envelope is None:
        raise OpenError("malformed")
    suite = envelope[0]
    if suite not in OVERHEAD:
        raise OpenError("unknown-suite")
    if len(envelope) <= OVERHEAD[suite]:
        raise OpenError("malformed")
    if suite != ANONYMOUS and not is_public_key(envelope[9:41]):
        raise OpenError("malformed")
    found = [each for each in identities if matches(envelope, recipient_of(each))]
    if not found:
        raise OpenError("unknown-recipient")
    pairs: list[tuple[bytes, bytes | None]] = [(each, None) for each in found]
    if suite != ANONYMOUS:
        pairs = [(one, other) for one in found for other in senders if matches_sender(envelope, recipient_of(one), other)]
        if not pairs:
            raise OpenError("unknown-sender")
    elif not allow_anonymous:
        raise OpenError("anonymous-not-allowed")
    for identity, sender in pairs[:MOST_TRIES]:
        opened = _try(envelope, identity, sender, topic)
        if opened is not None:
            content = _check(opened, topic, now, suite == ANONYMOUS, retired.get(identity))
            return Opened(content, identity, sender, envelope)
    raise OpenError("rejected")


def _try(envelope: bytes, identity: bytes, sender: bytes | None, topic: str) -> bytes | None:
    try:
        if sender is None:
            opened: bytes = nacl.public.SealedBox(nacl.public.PrivateKey(identity)).decrypt(envelope[5:])
            return opened
        return Context.to_open(identity, envelope, sender, topic).open(envelope)
    except (InvalidTag, ValueError, nacl.exceptions.CryptoError):
        return None


def _check(opened: bytes, topic: str, now: int, is_anonymous: bool, retired: int | None) -> dict[str, Any]:
    try:
        content = parse(unpad(opened))
    except ContentError:
        raise OpenError("malformed-content") from None
    if is_anonymous and is_withdrawal(content.get("withdraw")):
        raise OpenError("malformed-content")
    if content["topic"] != topic:
        raise OpenError("topic")
    if retired is not None and content["sent"] > retired + 7200:
        raise OpenError("key-retired")
    if content["sent"] - now > (600 if is_anonymous else 93600):
        raise OpenError("clock")
    if now - content["sent"] > 2592000:
        raise OpenError("too-old")
    if "expires" in content and now > content["expires"] + 600:
        raise OpenError("expired")
    return content
