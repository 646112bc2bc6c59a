"""Seals content into a payload of at most 4,096 bytes and its headers."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from .contexts import ContextCache
from .errors import ContentError, RecordError, SettingError
from .keys import seconds
from .protocol import content as contents
from .protocol import envelope, key_text, receipts, records, visible
from .protocol.hpke import AUTHENTICATED, HYBRID, Context, sender_public_key, suite_of
from .protocol.text import TOPIC, encode_base64, to_json

if TYPE_CHECKING:
    from .device import Device

_MOST_RESERVED = 1024
_LONGEST_ALERT = 1024


@dataclass(frozen=True)
class Push:
    """A finished push. Store its `payload` and `headers`, and send the same ones in each retry."""

    payload: bytes = field(repr=False)
    """The request's body: at most 4,096 bytes minus the sender's `reserve`. Send it unchanged."""
    headers: Mapping[str, str]
    """apns-topic, apns-push-type, apns-priority, apns-id, apns-collapse-id, and apns-expiration if there is one."""
    message_id: str
    """The ID of the sealed message."""
    sender: str
    """The public key of the sender that sealed the push, pushsender1...."""
    _recipient: bytes = field(repr=False)

    @property
    def recipient(self) -> str:
        """The key that the push is sealed to, push1... or pushpq...."""
        return key_text.recipient_text(self._recipient)

    @property
    def message(self) -> dict[str, Any]:
        """The payload as a dictionary, for HTTP clients that write the JSON themselves. See `reserve` in Sender."""
        made: dict[str, Any] = json.loads(self.payload)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Returns the push, ready for JSON, as for a job queue. Its payload is text; send it as UTF-8."""
        return {
            "payload": self.payload.decode(),
            "headers": dict(self.headers),
            "message_id": self.message_id,
            "recipient": self.recipient,
            "sender": self.sender,
        }


class Sender:
    """Seals the messages of one server for one app.

    Keep one while the server runs: each later message to a device then takes about 30 microseconds, not 0.2 ms or more.
    Thread-safe. Python can't wipe memory, so the secret and the contexts remain in memory until it is reused.
    """

    def __init__(
        self,
        secret: str,
        *,
        topic: str,
        safe_default: str | Mapping[str, Any] = envelope.GENERIC_TEXT,
        padding: str = "buckets",
        reserve: int = 0,
        receipts: str | None = None,
        require_hybrid: bool = False,
    ) -> None:
        """
        secret: PUSH-SENDER-SECRET-KEY-1.... The app trusts its public key.
        topic: the app's bundle ID.
        safe_default: text, or a dictionary of Apple's texts and loc-keys with a body (Specification 2.2), that is sent in the
            clear. It is shown if the app's extension can't run.
        padding: how much an observer learns about the length of the content: "buckets" (256, 512, 1,024, 2,048, or all that
            fits), "full" (nothing), or "none" (the length).
        reserve: how many of the 4,096 bytes to keep free, for an HTTP client that rewrites the JSON with more bytes.
        receipts: the https URL to which devices post a receipt after they show a message.
        require_hybrid: seal to hybrid keys only (Specification 3.8). Any key can still be challenged.

        Raises KeyTextError, SettingError.
        """
        self._secret = key_text.decode_secret(key_text.SENDER_SECRET, secret)
        self._public = sender_public_key(self._secret)
        if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
            raise SettingError("topic")
        if padding not in contents.PADDINGS:
            raise SettingError("padding")
        if not isinstance(reserve, int) or isinstance(reserve, bool) or not 0 <= reserve <= _MOST_RESERVED:
            raise SettingError("reserve")
        if receipts is not None and not _is_receipt_address(receipts):
            raise SettingError("receipts")
        if not isinstance(require_hybrid, bool):
            raise SettingError("require-hybrid")
        self._topic = topic
        self._public_text = key_text.encode(key_text.SENDER, self._public)
        self._alert = _checked_alert(safe_default)
        self._padding = padding
        self._receipts = receipts
        self._require_hybrid = require_hybrid
        self._largest = {
            suite: envelope.largest_plaintext(suite, self._alert, reserve) for suite in (AUTHENTICATED, HYBRID)
        }
        # Everything around the envelope's text.
        self._start, self._end = envelope.payload(None, self._alert)[:-2], b'"}'
        self._header_key = envelope.header_key(self._secret, topic)
        self._receipt_key = _receipt_key(self._secret, topic)
        self._contexts = ContextCache(self._make_context)

    def seal(
        self,
        content: Mapping[str, Any],
        device: "Device",
        *,
        priority: int = 10,
        expiration: int | None = None,
        now: int | None = None,
    ) -> Push:
        """Seals content to the newest proven key of a device.

        content: as in Specification 4.6, such as {"alert": {"title": "Nina", "body": "Lunch at one?"}}. `id`, `topic`, and
            `sent` are filled in if they are missing, and so is `expires` if the device keeps keys for less than 30 days. The
            content isn't changed. Names that look misspelled cause a `UserWarning`.
        priority: 10 to deliver at once, or 5 to save the device's battery.
        expiration: the time until which Apple keeps the push for an unreachable device, in Unix seconds, or 0 for a single
            attempt. Without it, the content's `expires` applies. A time in the past is refused.

        Raises RecordError (`unproven`, `expired`, `not-hybrid`, `expires-too-late`), ContentError, TooLargeError, SettingError.
        """
        from .device import Device

        if not isinstance(device, Device):
            raise SettingError("device")
        if device.topic != self._topic:
            raise SettingError("other-topic")
        at = seconds(now)
        return self._seal(content, device._recipient(at), priority, expiration, at, device.keeps)

    def seal_unverified(
        self,
        content: Mapping[str, Any],
        recipient: str,
        *,
        priority: int = 10,
        expiration: int | None = None,
        now: int | None = None,
    ) -> Push:
        """Seals content to a key, push1... or pushpq...., that no record vouches for. The person who gave you the key reads the
        message. It is unknown how long the device keeps the key, so `expires` is not filled in, or checked against that time.

        Raises KeyTextError, RecordError (`not-hybrid`), ContentError, TooLargeError, SettingError.
        """
        key = key_text.recipient(recipient)
        return self._seal(content, key, priority, expiration, seconds(now))

    def forget(self, *recipients: str) -> None:
        """Drops the contexts for keys that are no longer used, such as those that Device.update returns."""
        for each in recipients:
            key = key_text.recipient(each)
            self._contexts.forget(key)

    def receipt_device(self, recipient: str) -> bytes:
        """Returns the `Receipt.device` of the receipts from the device with this key."""
        return receipts.device_id(self._receipt_key, key_text.recipient(recipient))

    @property
    def topic(self) -> str:
        """The bundle ID of the app that this sender seals for."""
        return self._topic

    @property
    def public_key(self) -> str:
        """The public key that the app trusts, pushsender1...."""
        return self._public_text

    @property
    def max_content_bytes(self) -> int:
        """The number of bytes of content JSON that fit into one push, including members that are filled in.

        A hybrid key leaves 1,088 bytes less. With `require_hybrid`, this is the number for hybrid keys.
        """
        return self._largest[HYBRID if self._require_hybrid else AUTHENTICATED] - 1

    def _seal(
        self,
        content: Mapping[str, Any],
        recipient: bytes,
        priority: int,
        expiration: int | None,
        now: int,
        keeps: int | None = None,
    ) -> Push:
        suite = suite_of(recipient)
        if self._require_hybrid and suite != HYBRID:
            raise RecordError("not-hybrid")
        if not isinstance(priority, int) or priority not in (10, 5):
            raise SettingError("priority")
        if not isinstance(content, Mapping):
            raise ContentError("isn't a JSON object")
        made = envelope.complete(content, self._topic, now, keeps)
        if made["topic"] != self._topic:
            raise SettingError("other-topic")
        if self._receipts is not None and "receipt" not in made and "withdraw" not in made:
            made["receipt"] = receipts.request(self._receipt_key, recipient, self._receipts)
        data, suspects = contents.for_sealing(made, self._topic, now)
        for member in suspects:
            warnings.warn(f'"{member}" is not a known member and looks misspelled', stacklevel=3)
        plaintext = contents.pad(data, self._padding, self._largest[suite], suite == HYBRID)
        if expiration is not None and not _is_expiration(expiration, now):
            raise SettingError("expiration")
        if keeps is not None:
            # Content without `expires` opens for 30 days (6.4).
            _check_kept(keeps, made["sent"], made.get("expires", made["sent"] + 30 * 86400))
            _check_kept(keeps, now, expiration)
        headers = self._headers(made, recipient, priority, made.get("expires") if expiration is None else expiration)
        sealed = self._contexts.get(recipient).seal(plaintext)
        start = envelope.BACKGROUND if contents.is_background(made) else self._start
        return Push(
            payload=start + encode_base64(sealed).encode() + self._end,
            headers=headers,
            message_id=made["id"],
            sender=self.public_key,
            _recipient=recipient,
        )

    def _headers(self, content: dict[str, Any], recipient: bytes, priority: int, expires: Any) -> dict[str, str]:
        string = content.get("collapse-id", content["id"])
        headers = {
            "apns-topic": self._topic,
            "apns-push-type": "background" if contents.is_background(content) else "alert",
            "apns-priority": "5" if contents.is_background(content) else str(priority),
            "apns-id": envelope.apns_id(self._header_key, recipient, content["id"]),
            "apns-collapse-id": envelope.collapse_id(self._header_key, recipient, string),
        }
        if expires is not None:
            headers["apns-expiration"] = str(expires)
        return headers

    def _make_context(self, recipient: bytes) -> Context:
        return Context.to_seal(self._secret, recipient, self._topic)

    def _challenge(self, recipient: bytes, enrollment: bytes) -> tuple[str, str]:
        return records.make_challenge(self._secret, recipient, enrollment, self._topic)

    def __repr__(self) -> str:
        return f"Sender({self.public_key}, {self._topic})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Sender holds a secret and contexts and can't be copied; make one in each process")


def _checked_alert(alert: Any) -> Any:
    """Returns the alert in the clear, which has the form of Specification 2.2 and is at most a quarter of the payload."""
    made = visible.alert(alert)
    if made is None:
        raise SettingError("safe-default")
    try:
        length = len(to_json(made))
    except (TypeError, ValueError, RecursionError):
        length = _LONGEST_ALERT + 1
    if length > _LONGEST_ALERT:
        raise SettingError("safe-default")
    return made


def _is_expiration(value: Any, now: int) -> bool:
    """Whether a value is 0, or whole seconds that aren't in the past or a lifetime."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return value == 0 or now <= value <= contents.LAST_SECOND


def _check_kept(keeps: int, start: int, end: int | None) -> None:
    """Raises if the device may have erased its key before `end` (11.4.6). The hour allows for clock differences."""
    if end is not None and end - start > keeps * 86400 + 3600:
        raise RecordError("expires-too-late")


# For methods in which a parameter shadows the module's name.


def _is_receipt_address(text: Any) -> bool:
    return receipts.is_address(text)


def _receipt_key(seed: bytes, topic: str) -> bytes:
    return receipts.server_key(seed, topic)
