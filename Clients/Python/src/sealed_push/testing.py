"""A phone for trials and for a back end's own tests. Never ship it in an app.

    phone = Phone(topic="com.example.app", trusting=[sender.public_key])
    device = Device.enroll(phone.record, topic="com.example.app")
    device.answer(phone.answer(device.challenge(sender)))
    content = phone.open(sender.seal({"alert": {"body": "Lunch at one?"}}, device).payload)
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from .errors import KeyTextError, OpenError, SettingError
from .keys import seconds
from .protocol import hpke, key_text, mlkem, opening, receipts, records
from .protocol.envelope import ledger_key
from .protocol.text import TOPIC

_LIFETIME = 400 * 86400


class Phone:
    """One app on one device, as Specification 6, 7.2, 11, and 13.3 and ContentParts 16 describe it. A tool for tests: its
    keys and ledger exist only in memory, unprotected, and it doesn't show notifications.

    `trusting` is the list of public keys that the phone trusts, pushsender1...; a test may change it.
    """

    def __init__(
        self,
        *,
        topic: str,
        trusting: Iterable[str] = (),
        hybrid: bool = False,
        keeps: int = 30,
        allow_anonymous: bool = False,
        identities: Iterable[str] = (),
        enrollment_secret: str | None = None,
    ) -> None:
        """
        topic: the app's bundle ID.
        trusting: the senders' public keys, pushsender1....
        hybrid: whether new keys are hybrid (Specification 3.8), which needs ML-KEM.
        keeps: the number of days, from 1 to 31, for which the record promises to keep a retired key.
        allow_anonymous: whether anonymous messages open.
        identities, enrollment_secret: the keys' secrets, newest first, for a test that needs the same keys in each run.
            By default, the phone creates keys.

        Raises KeyTextError (`unsupported`: a hybrid key without ML-KEM), SettingError.
        """
        if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
            raise SettingError("topic")
        for keys in (trusting, identities):
            if isinstance(keys, str) or not isinstance(keys, Iterable):
                raise KeyTextError("not-a-key")
        if not isinstance(keeps, int) or isinstance(keeps, bool) or not 1 <= keeps <= 31:
            raise SettingError("keeps")
        self.trusting = list(trusting)
        self._topic, self._hybrid, self._keeps, self._allow_anonymous = topic, hybrid, keeps, allow_anonymous
        given = enrollment_secret is not None
        self._secret = key_text.decode(key_text.ENROLLMENT_SECRET, enrollment_secret) if given else os.urandom(32)
        self._counter, self._record = 0, ""
        # Newest first. A retired identity has the time of its retirement.
        self._active = [hpke.read_identity(each) for each in identities]
        self._retired: dict[bytes, int] = {}
        self._seen: set[bytes] = set()
        self._failures: Counter[str] = Counter()
        self._senders()
        if self._active:
            self.sign_record()
        else:
            self.rotate()

    @property
    def topic(self) -> str:
        """The app's bundle ID."""
        return self._topic

    @property
    def record(self) -> str:
        """The most recently signed record, pushrecord.... Pass it to `Device.enroll` and `Device.update`."""
        return self._record

    @property
    def enrollment(self) -> str:
        """The public key that verifies the phone's records, pushenrollment1...."""
        return key_text.encode(key_text.ENROLLMENT, records.signing_public_key(self._secret))

    @property
    def recipients(self) -> tuple[str, ...]:
        """The public keys in use, push1... or pushpq...., newest first."""
        return tuple(key_text.recipient_text(hpke.recipient_of(each)) for each in self._active)

    def rotate(self, *, hybrid: bool | None = None) -> str:
        """Adds a new key, signs a record, and returns the public key. `hybrid` overrides the phone's setting.

        Raises KeyTextError (`unsupported`).
        """
        kind = hpke.HybridIdentity if (self._hybrid if hybrid is None else hybrid) else bytes
        if kind is not bytes:
            mlkem.require()
        self._active.insert(0, kind(os.urandom(32)))
        self.sign_record()
        return self.recipients[0]

    def retire(self, *, now: int | None = None) -> None:
        """Retires all keys but the newest, as a device does once a message has opened under the newest, and signs a record."""
        self._retired.update(dict.fromkeys(self._active[1:], seconds(now)))
        del self._active[1:]
        self.sign_record()

    def sign_record(
        self,
        *,
        counter: int | None = None,
        created: int | None = None,
        lifetime: int = _LIFETIME,
        keeps: int | None = None,
        recipients: Iterable[str] | None = None,
    ) -> str:
        """Signs and returns a new record. The options are for tests of records that a server refuses. Without them, the record
        has the next counter, begins now, lasts 400 days, and names the keys in use.
        """
        self._counter = self._counter + 1 if counter is None else counter
        self._keeps = self._keeps if keeps is None else keeps
        start = seconds(created)
        keys = [key_text.recipient(each) for each in (self.recipients if recipients is None else recipients)]
        fields = (self._counter, start, start + lifetime, self._topic, keys, self._keeps)
        self._record = records.sign_record(records.DEVICE, self._secret, *fields)
        return self._record

    def leave(self, *, service: str | None = None) -> str:
        """Leaves its accounts, as a device does at logout: destroys its keys, makes a new one, signs a record, and returns the
        leaving, pushleaving...., for the service with this name; by default, the topic."""
        if service is not None and (not isinstance(service, str) or not TOPIC.fullmatch(service)):
            raise SettingError("service")
        self._active.clear()
        self._retired.clear()
        self.rotate()
        return records.sign_leaving(self._secret, self._counter, self._topic, service)

    def answer(self, challenge: str) -> str:
        """Returns the answer to a challenge, pushanswer....

        Raises ChallengeError: `malformed`, `unknown-recipient`, `unknown-sender`, `rejected`, `foreign-enrollment`.
        """
        enrollment = records.signing_public_key(self._secret)
        return records.answer_challenge(challenge, self._active, self._senders(), self._topic, enrollment)

    def open(self, payload: bytes | str | Mapping[str, Any], *, now: int | None = None) -> dict[str, Any]:
        """Opens a push and returns its content. Each call counts as a separate delivery: the same push again is `replayed`.

        payload: the body of the request to Apple, as it was sent or as a dictionary.
        now: Unix seconds; by default, the current time.

        Raises OpenError: its `code` is the reason of Specification 6.1 and 6.4, such as `rejected`.
        """
        at = seconds(now)
        try:
            return self._open(opening.field_of(payload), at)
        except OpenError as error:
            self._failures[error.code] += 1
            raise

    def receipt(self, content: Mapping[str, Any], *, elapsed_milliseconds: int = 0, now: int | None = None) -> bytes | None:
        """Returns the receipt that opened content requests, or None. Post it to `content["receipt"]["url"]`.

        The receipt counts the pushes that have not opened since the last one.
        """
        request = receipts.read_request(content.get("receipt"))
        if request is None:
            return None
        counts = {index: self._failures[code] for index, code in enumerate(receipts.REASONS, 1)}
        self._failures.clear()
        _, id, key = request
        return receipts.make(key, id, content["id"], seconds(now), elapsed_milliseconds, counts)

    def _open(self, field: Any, now: int) -> dict[str, Any]:
        identities = [*self._active, *self._retired]
        opened = opening.open_field(
            field, identities, self._senders(), self._topic, now, self._allow_anonymous, self._retired
        )
        entry = ledger_key(opened.envelope, hpke.recipient_of(opened.identity), opened.sender)
        if entry in self._seen:
            raise OpenError("replayed")
        self._seen.add(entry)
        return opened.content

    def _senders(self) -> list[bytes]:
        return [key_text.decode(key_text.SENDER, each) for each in self.trusting]

    def __repr__(self) -> str:
        return f"Phone({self.enrollment}, {self._topic}, {len(self._active)} active)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Phone holds secrets and can't be copied; create another one")
