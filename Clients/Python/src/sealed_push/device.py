"""A server's state for one device of one account (Specification 11.4, 11.5)."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Any, Self

from .errors import ChallengeError, RecordError, SettingError
from .keys import seconds
from .protocol import records
from .protocol.key_text import ENROLLMENT, decode, encode, recipient_text
from .protocol.key_text import recipient as decode_recipient
from .protocol.text import TOPIC, decode_base64, encode_base64
from .sender import Sender

_LIFETIME = 600
_MOST_CHALLENGES = 16


class Device:
    """A device's pinned enrollment key, its newest record, and which of the record's keys the device has proven it holds.

    Store `to_dict` with the account. Read, change, and store it in one transaction, so that callers don't overwrite each other.
    A call that raises changes no state. The state isn't secret, but anyone who can change it in storage decides which keys are
    sealed to, because only the record is signed.
    """

    __slots__ = ("_challenges", "_enrollment", "_proven", "_record", "_record_text")

    def __init__(
        self,
        enrollment: str,
        record: str,
        proven: Iterable[str] = (),
        challenges: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """Loads a stored device, even if its record has expired. Proven keys that aren't in the record are dropped.

        Raises KeyTextError, RecordError.
        """
        self._enrollment = decode(ENROLLMENT, enrollment)
        self._record = records.read_record(records.DEVICE, record)
        self._record_text = record
        if self._record.signer != self._enrollment:
            raise RecordError("foreign-signer")
        if isinstance(proven, str) or not isinstance(proven, Iterable) or not isinstance(challenges, Iterable):
            raise RecordError("malformed-state")
        found = {decode_recipient(each) for each in proven}
        self._proven = found.intersection(self._record.keys)
        self._challenges = [_Challenge.read(each) for each in challenges]

    @classmethod
    def enroll(cls, record: str, *, topic: str, now: int | None = None) -> Self:
        """Pins the key that signed a device's first record.

        Call this only within the account's login, so that the record is certain to come from this account's device, and only if
        no other account has a device with the same `enrollment` that has proven a key (11.5.8).

        Raises RecordError, SettingError.
        """
        read = records.read_record(records.DEVICE, record)
        _check_topic(topic)
        records.check_record(read, read.signer, topic, None, seconds(now))
        return cls(encode(ENROLLMENT, read.signer), record)

    def update(self, record: str, *, now: int | None = None) -> tuple[str, ...]:
        """Accepts a newer record, or the same one again. Returns the keys no longer in it; pass them to `Sender.forget`.

        Raises RecordError. After `rolled-back` or `conflicting`, send the device the newest record (11.4.5).
        """
        newer = records.read_record(records.DEVICE, record)
        records.check_record(newer, self._enrollment, self._record.topic, self._record, seconds(now))
        gone = [key for key in self._record.keys if key not in newer.keys]
        self._record, self._record_text = newer, record
        self._proven.intersection_update(newer.keys)
        return tuple(recipient_text(key) for key in gone)

    def challenge(self, sender: Sender, recipient: str | None = None, *, now: int | None = None) -> str:
        """Returns a challenge, pushchallenge...., that only the holder of a key can answer, within ten minutes.

        It challenges the newest key that isn't proven, or `recipient`. This object keeps the answer's hash until it expires:
        store the device before you send the challenge. At most 16 are kept; the oldest is dropped first. Takes about 0.3 ms.

        Raises ChallengeError: `nothing-to-ask`, `not-in-record`.
        """
        at = seconds(now)
        if not isinstance(sender, Sender):
            raise SettingError("sender")
        if sender.topic != self._record.topic:
            raise SettingError("other-topic")
        if recipient is None:
            waiting = [key for key in self._record.keys if key not in self._proven]
            if not waiting:
                raise ChallengeError("nothing-to-ask")
            key = waiting[0]
        else:
            key = decode_recipient(recipient)
            if key not in self._record.keys:
                raise ChallengeError("not-in-record")
        text, answer = sender._challenge(key, self._enrollment)
        made = _Challenge(key, at + _LIFETIME, _hash_of(answer))
        self._challenges = [each for each in self._challenges if each.expires >= at][1 - _MOST_CHALLENGES :] + [made]
        return text

    def answer(self, answer: str, *, now: int | None = None) -> str:
        """Checks the device's answer, pushanswer...., and returns the key that is now proven.

        Accept an answer only within the login of the account whose device was challenged. Repeating the answer within the ten
        minutes is a no-op.

        Raises ChallengeError: `malformed`, `wrong-answer`, `not-in-record`, `late`.
        """
        at = seconds(now)
        if records.unarmor("pushanswer.", answer, 32, 32) is None:
            raise ChallengeError("malformed")
        hash = _hash_of(answer)
        found = [each for each in self._challenges if hmac.compare_digest(each.hash, hash)]
        if not found:
            raise ChallengeError("wrong-answer")
        if found[0].recipient not in self._record.keys:
            raise ChallengeError("not-in-record")
        if at > found[0].expires:
            raise ChallengeError("late")
        self._proven.add(found[0].recipient)
        return recipient_text(found[0].recipient)

    def recipient(self, *, now: int | None = None) -> str:
        """Returns the newest key that is proven, push1... or pushpq....: the key that messages are now sealed to.

        Raises RecordError: `unproven`, `expired`, `not-yet-valid`.
        """
        return recipient_text(self._recipient(seconds(now)))

    def _recipient(self, now: int) -> bytes:
        records.check_record(self._record, self._enrollment, self._record.topic, None, now)
        for key in self._record.keys:
            if key in self._proven:
                return key
        raise RecordError("unproven")

    @property
    def enrollment(self) -> str:
        """The pinned key, pushenrollment1...."""
        return encode(ENROLLMENT, self._enrollment)

    @property
    def record(self) -> str:
        """The newest record, pushrecord.... Send it to a device whose record is refused as `rolled-back` or `conflicting`."""
        return self._record_text

    @property
    def topic(self) -> str:
        """The app's bundle ID."""
        return self._record.topic

    @property
    def counter(self) -> int:
        """The newest record's counter."""
        return self._record.counter

    @property
    def expires(self) -> int:
        """The time at which the record expires, in Unix seconds. After that, messages can't be sealed to this device."""
        return self._record.expires

    @property
    def keeps(self) -> int:
        """The number of days for which the device keeps a retired key. Messages must not expire later (11.4.6)."""
        return self._record.keeps

    @property
    def recipients(self) -> tuple[str, ...]:
        """The record's keys, newest first."""
        return tuple(recipient_text(key) for key in self._record.keys)

    @property
    def proven(self) -> tuple[str, ...]:
        """The record's keys that have answered a challenge, newest first."""
        return tuple(recipient_text(key) for key in self._record.keys if key in self._proven)

    @property
    def unproven(self) -> tuple[str, ...]:
        """The record's keys that haven't answered a challenge, newest first."""
        return tuple(recipient_text(key) for key in self._record.keys if key not in self._proven)

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole state, ready for JSON."""
        return {
            "enrollment": self.enrollment,
            "record": self._record_text,
            "proven": list(self.proven),
            "challenges": [each.to_dict() for each in self._challenges],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Loads a state that `to_dict` returned. Raises KeyTextError, RecordError."""
        if not isinstance(state, Mapping) or not {"enrollment", "record"} <= set(state):
            raise RecordError("malformed-state")
        proven, challenges = state.get("proven", []), state.get("challenges", [])
        if not isinstance(proven, (list, tuple)) or not isinstance(challenges, (list, tuple)):
            raise RecordError("malformed-state")
        return cls(state["enrollment"], state["record"], proven, challenges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Device({self.enrollment}, counter {self.counter}, {len(self._proven)} of {len(self._record.keys)} proven)"


class Leaving:
    """A device's signed notice that it leaves its accounts at one service, pushleaving.... No login is needed
    (EnrollmentHTTP 6)."""

    __slots__ = ("counter", "enrollment", "service", "topic")

    def __init__(self, text: str, *, topic: str, service: str | None = None) -> None:
        """Checks the form, the signature for the app with this bundle ID, and the name of the service.

        service: the name that the app uses for this server; by default, the topic. An app with a second service, such as for
            staging, gives each a name, so that a leaving for one doesn't count at the other.

        Raises RecordError (`malformed`, `bad-signature`, `other-service`), SettingError.
        """
        _check_topic(topic)
        service = topic if service is None else service
        if not isinstance(service, str) or not TOPIC.fullmatch(service):
            raise SettingError("service")
        signer, counter = records.read_leaving(text, topic, service)
        self.enrollment, self.counter = encode(ENROLLMENT, signer), counter
        self.topic, self.service = topic, service

    def ends(self, device: Device) -> bool:
        """Whether to delete this device, of whichever account: it has the same key, and its newest record is older."""
        if not isinstance(device, Device):
            raise SettingError("device")
        return (device.enrollment, device.topic) == (self.enrollment, self.topic) and device.counter < self.counter

    def __repr__(self) -> str:
        return f"Leaving({self.enrollment}, counter {self.counter})"


class _Challenge:
    """An open challenge. It contains only the answer's hash, so it can't be used to answer (11.5.7)."""

    __slots__ = ("expires", "hash", "recipient")

    def __init__(self, recipient: bytes, expires: int, hash: bytes) -> None:
        self.recipient, self.expires, self.hash = recipient, expires, hash

    def to_dict(self) -> dict[str, Any]:
        recipient = recipient_text(self.recipient)
        return {"recipient": recipient, "expires": self.expires, "hash": encode_base64(self.hash)}

    @classmethod
    def read(cls, value: Any) -> Self:
        if not isinstance(value, Mapping):
            raise RecordError("malformed-state")
        hash, expires = decode_base64(value.get("hash")), value.get("expires")
        if hash is None or len(hash) != 32 or not isinstance(expires, int) or isinstance(expires, bool):
            raise RecordError("malformed-state")
        return cls(decode_recipient(value.get("recipient")), expires, hash)


def _hash_of(answer: str) -> bytes:
    data = records.unarmor("pushanswer.", answer, 32, 32) or b""
    return hashlib.blake2b(data, digest_size=32).digest()


def _check_topic(topic: Any) -> None:
    if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
        raise SettingError("topic")
