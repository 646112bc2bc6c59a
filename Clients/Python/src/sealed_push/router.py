"""The requests that phones send to their back end (Docs/EnrollmentHTTP.md), independent of web frameworks.

    router = PhoneRouter(sender, account=account, load=store.load, save=store.save)

`sealed_push.asgi` and `sealed_push.django` serve it. `sealed_push.sqlite` and `sealed_push.postgres` store devices.
"""

import logging
import re
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar

from .device import Device, Leaving
from .errors import KeyTextError, RecordError, SealedPushError, SettingError
from .exchange import Problem, Request, Response, answered, bearer_token, malformed, members, refusing, text, unavailable
from .keys import seconds
from .protocol import records
from .protocol.key_text import ENROLLMENT, decode, encode
from .protocol.text import TOPIC
from .rates import RateLimiter
from .sender import Push, Sender

__all__ = ["Entry", "Found", "PhoneRouter", "Request", "Response", "bearer_token"]

_MOST_DEVICES = 100
_MOST_BYTES = 65536
# Anyone may send a leaving.
_MOST_LEAVING_BYTES = 1024
_MOST_STATE_CHARACTERS = 4096
# A request loses a race for a phone only to another one that succeeds.
_MOST_TRIES = 50
_TOKEN = re.compile("([0-9A-Fa-f]{2}){1,100}")
_PATH = re.compile("/v1/(?:(phones)/([^/]+)(/answers|/test)?|(leavings|sender-set))")
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "QUERY")
_TEST = {"alert": {"title": "Test", "body": "It works: this message was sealed for this device alone."}}
_SKIPPED = {"expired": "record-expired", "not-yet-valid": "record-not-yet-valid"}

_log = logging.getLogger("sealed_push")
_Outcome = TypeVar("_Outcome")

Caller = Callable[..., Awaitable[Any]]
"""Calls a function of the application with the other arguments, and waits for its result."""


@dataclass(frozen=True)
class Entry:
    """What a server stores about a device of an account."""

    account: str
    state: dict[str, Any] = field(repr=False)
    """`Device.to_dict`. Anyone who can write it decides which keys are sealed to."""
    token: str | None
    """Apple's token, 2 to 200 hexadecimal digits; None after Apple has reported it as gone."""
    environment: Literal["production", "sandbox"]
    registered_milliseconds: int
    """When the app last sent the token, in milliseconds since 1970, to compare with Apple's `timestamp`."""

    @property
    def is_proven(self) -> bool:
        """Whether the device has proven a key of its record, so that messages can be sealed to it."""
        return bool(self.state.get("proven"))


@dataclass(frozen=True)
class Found:
    """What is stored about an enrollment key."""

    entries: tuple[Entry, ...]
    """The key's devices, at most one for each account. Any order can be given; they are sorted."""
    others: int
    """How many devices the account has under other enrollment keys; 0 without an account."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(sorted(self.entries, key=lambda each: each.account)))


class PhoneRouter:
    """Answers each request of EnrollmentHTTP, with the codes and bodies of `sealedpush serve`. Thread-safe.

    An account has at most 100 devices. A process accepts 60 of an account's requests at once, one more each second, and five
    tests an hour.
    """

    def __init__(
        self,
        sender: Sender,
        *,
        account: Callable[[Request], Any],
        load: Callable[[str, str | None], Any],
        save: Callable[[str, str | None, Found, tuple[Entry, ...]], Any],
        test: Callable[[Entry, Push], Any] | None = None,
        service: str | None = None,
        sender_set: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """If a function raises, the phone gets 503 `unavailable`. The log gets the error's type but not its text, which may
        contain a row. If a function returns something else than described here, the log and the response say so. With `sealed_push.asgi`, a function may be asynchronous; others are called in a thread.

        account: `account(request)` returns the account whose login came with the request, in `request.bearer`, or None.
        load: `load(enrollment, account)` returns the Found of an enrollment key.
        save: `save(enrollment, account, found, entries)` replaces the enrollment key's entries, in one transaction, and returns
            True. If `load` would no longer return `found`, it changes nothing and returns False. It drops what waits for a
            removed device. If the account's entry is proven, it removes the account's others with the same token, which
            remain after the app was deleted and installed again.
        test: `test(entry, push)` sends a test push and returns None, or the reason why this device gets none. Without this
            function, there are no tests.
        service: the name that the app uses for this server (see Leaving); by default, the topic.
        sender_set: the newest sender set, pushrecord....
        clock: returns the time in Unix seconds.

        Raises SettingError, RecordError.
        """
        if not isinstance(sender, Sender):
            raise SettingError("sender")
        if service is not None and (not isinstance(service, str) or not TOPIC.fullmatch(service)):
            raise SettingError("service")
        self._sender: Sender | None = sender
        self._topic, self._service, self._clock = sender.topic, service, clock
        self._account, self._load, self._save, self._test = account, load, save, test
        self.sender_set = sender_set
        self._requests, self._tests = RateLimiter(60, 1, clock), RateLimiter(5, 720, clock)

    @property
    def sender(self) -> Sender | None:
        """The sender that challenges keys; another one may replace it. While it is None, phones get 503 `no-sender`."""
        return self._sender

    @sender.setter
    def sender(self, sender: Sender | None) -> None:
        if sender is not None and not isinstance(sender, Sender):
            raise SettingError("sender")
        if sender is not None and sender.topic != self._topic:
            raise SettingError("other-topic")
        self._sender = sender

    @property
    def sender_set(self) -> str | None:
        """The sender set that phones get; a newer one may replace it."""
        return self._sender_set

    @sender_set.setter
    def sender_set(self, text: str | None) -> None:
        if text is not None:
            records.read_record(records.SENDERS, text)
        self._sender_set = text

    @property
    def _functions(self) -> tuple[Callable[..., Any], ...]:
        return tuple(each for each in (self._account, self._load, self._save, self._test) if each)

    async def respond(self, request: Request, call: Caller) -> Response:
        """Returns the response to a request, and doesn't raise."""
        try:
            response = await self._respond(request, call)
        except Problem as problem:
            response = problem.response()
        except Exception as error:
            _report("a request", error)
            # A mistake in the application. The error's text is this package's own, so the developer may see it in both places.
            detail = str(error) if isinstance(error, SettingError) else "the request failed"
            response = unavailable(detail).response()
        return replace(response, body=b"") if request.method == "HEAD" else response

    async def _respond(self, request: Request, call: Caller) -> Response:
        if request.method not in _METHODS:
            raise Problem(501, "unknown-method", "no path supports this method")
        found = _PATH.fullmatch(request.path)
        place = (found[1] or found[4]) + (found[3] or "") if found else ""
        methods = _ROUTES.get(place, {})
        if found is None or (place == "phones/test" and self._test is None):
            raise Problem(404, "no-such-path", "there is nothing at this path")
        if request.method not in methods:
            allowed = ", ".join(sorted(methods))
            why = "this path doesn't support this method"
            raise Problem(405, "wrong-method", why, f"Use {allowed}.", {"Allow": allowed})
        exchange = _Exchange(self, request, call)
        if place != "leavings":
            await exchange.log_in()
        if found[2]:
            exchange.read_enrollment(found[2])
        return await methods[request.method](exchange)

    def __repr__(self) -> str:
        return f"PhoneRouter({self._topic})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a PhoneRouter has a sender and can't be copied; make one in each process")


class _Exchange:
    """One request. It reads what is stored, decides, and stores; if another request came first, it begins again."""

    def __init__(self, router: PhoneRouter, request: Request, call: Caller) -> None:
        self._router, self._request, self._call = router, request, call
        self._account = self._enrollment = ""

    async def log_in(self) -> None:
        # Without the sender, the service can't do its work.
        self._sender()
        account = await self._ask("account", self._router._account, self._request)
        # Frameworks name an anonymous user "".
        if account is None or account == "":
            hint, challenge = "Log in again.", {"WWW-Authenticate": "Bearer"}
            raise Problem(401, "unauthorized", "the request has no valid token", hint, challenge)
        if not isinstance(account, str):
            raise SettingError("account")
        if not self._router._requests.take(account):
            raise _too_many("too many requests by this user", 10)
        self._account = account

    def read_enrollment(self, key: str) -> None:
        try:
            self._enrollment = encode(ENROLLMENT, decode(ENROLLMENT, key))
        except KeyTextError:
            raise malformed("no enrollment key in the path; expected `pushenrollment1…`") from None

    async def register(self) -> Response:
        """EnrollmentHTTP 3."""
        body = await members(self._request, _MOST_BYTES, "record", "token", "environment")
        record, token, named = text(body, "record"), text(body, "token"), text(body, "environment")
        if not _TOKEN.fullmatch(token):
            raise malformed('"token" is invalid; expected 2 to 200 hexadecimal digits, and an even number of them')
        environments: dict[str, Literal["production", "sandbox"]] = {"production": "production", "sandbox": "sandbox"}
        if named not in environments:
            raise malformed('"environment" is invalid; expected production or sandbox')
        with refusing():
            read = records.read_record(records.DEVICE, record)
        if encode(ENROLLMENT, read.signer) != self._enrollment:
            raise malformed("the record is not signed by the key in the path")
        if read.topic != self._router._topic:
            raise Problem.of(RecordError("other-topic"))
        sender, now = self._sender(), self._now()

        def decide(found: Found) -> tuple[tuple[Entry, ...], _Registered]:
            own, others = self._split(found)
            gone: tuple[str, ...] = ()
            problem = None
            if own is None:
                with refusing():
                    device = Device.enroll(record, topic=self._router._topic, now=now)
                if found.others >= _MOST_DEVICES:
                    hint = "Unregister a device that is no longer used."
                    raise Problem(409, "too-many-devices", f"the account has {_MOST_DEVICES} devices", hint)
            else:
                device = _device(own)
                try:
                    gone = device.update(record, now=now)
                except RecordError as error:
                    # The token is stored anyway (3.2).
                    known = {"record": device.record} if error.code in ("rolled-back", "conflicting") else {}
                    problem = Problem.of(error, **known)
            _require_unclaimed(others)
            asked = () if problem else tuple(device.challenge(sender, key, now=now) for key in device.unproven)
            at = int(self._router._clock() * 1000)
            entry = Entry(self._account, device.to_dict(), token, environments[named], at)
            return _claimed(entry, others), _Registered(problem, gone, asked)

        done = await self._change(self._enrollment, self._account, decide)
        if done.problem:
            raise done.problem
        sender.forget(*done.gone)
        return answered(200, {"device": self._enrollment, "challenges": [{"challenge": each} for each in done.asked]})

    async def answer(self) -> Response:
        """EnrollmentHTTP 4. The device's state has what `state` is for."""
        body = await members(self._request, _MOST_BYTES, "answer", "state")
        answer = text(body, "answer")
        if "state" in body and len(text(body, "state")) > _MOST_STATE_CHARACTERS:
            raise malformed(f'"state" is invalid; expected at most {_MOST_STATE_CHARACTERS} characters')

        def decide(found: Found) -> tuple[tuple[Entry, ...], None]:
            own, others = self._known(found)
            device = _device(own)
            with refusing():
                device.answer(answer, now=self._now())
            _require_unclaimed(others)
            return _claimed(replace(own, state=device.to_dict()), others), None

        await self._change(self._enrollment, self._account, decide)
        return answered(204)

    async def unregister(self) -> Response:
        """EnrollmentHTTP 6, within the login."""
        await self._change(self._enrollment, self._account, lambda found: (self._split(found)[1], None))
        return answered(204)

    async def leave(self) -> Response:
        """EnrollmentHTTP 6, with a signature."""
        body = await members(self._request, _MOST_LEAVING_BYTES, "leaving")
        with refusing():
            leaving = Leaving(text(body, "leaving"), topic=self._router._topic, service=self._router._service)

        def decide(found: Found) -> tuple[tuple[Entry, ...], None]:
            return tuple(each for each in found.entries if not leaving.ends(_device(each))), None

        await self._change(leaving.enrollment, None, decide)
        return answered(204)

    async def sender_set(self) -> Response:
        """EnrollmentHTTP 5."""
        text = self._router._sender_set
        return answered(204) if text is None else answered(200, {"senderSet": text})

    async def test(self) -> Response:
        """EnrollmentHTTP 9."""
        if not self._router._tests.take(self._account):
            raise _too_many("an account may send five tests an hour", 720)
        own, _ = self._known(await self._find(self._enrollment, self._account))
        device, id, reason = _device(own), str(uuid.uuid4()), None
        try:
            push = self._sender().seal({**_TEST, "id": id, "expires": self._now() + 3600}, device, now=self._now())
        except RecordError as error:
            reason = _SKIPPED.get(error.code, error.code)
        else:
            reason = await self._ask("test", self._router._test, own, push) if own.token else "no-token"
        counts = {"enqueued": 0 if reason else 1, "alreadyEnqueued": 0, "skipped": {reason: 1} if reason else {}}
        return answered(202, {"id": id} | counts)

    # The application's functions

    async def _ask(self, name: str, function: Callable[..., Any] | None, *arguments: Any) -> Any:
        try:
            return await self._call(function, *arguments)
        except Exception as error:
            _report(f"the function `{name}`", error)
            raise unavailable("a database is unavailable") from None

    async def _find(self, enrollment: str, account: str | None) -> Found:
        found = await self._ask("load", self._router._load, enrollment, account)
        if not isinstance(found, Found):
            raise SettingError("load")
        return found

    async def _change(
        self,
        enrollment: str,
        account: str | None,
        decide: Callable[[Found], tuple[tuple[Entry, ...], _Outcome]],
    ) -> _Outcome:
        for _ in range(_MOST_TRIES):
            found = await self._find(enrollment, account)
            entries, outcome = decide(found)
            if entries == found.entries:
                return outcome
            is_saved = await self._ask("save", self._router._save, enrollment, account, found, entries)
            if not isinstance(is_saved, bool):
                raise SettingError("save")
            if is_saved:
                return outcome
        raise unavailable("too many requests for this device at once", retry_after=2)

    # What is stored

    def _split(self, found: Found) -> tuple[Entry | None, tuple[Entry, ...]]:
        """Returns the account's own entry, and those of other accounts."""
        own = next((each for each in found.entries if each.account == self._account), None)
        return own, tuple(each for each in found.entries if each.account != self._account)

    def _known(self, found: Found) -> tuple[Entry, tuple[Entry, ...]]:
        own, others = self._split(found)
        if own is None:
            raise Problem(404, "unknown-device", "no such device is registered", "Submit the device's record.")
        return own, others

    def _sender(self) -> Sender:
        sender = self._router._sender
        if sender is None:
            hint = "The request had no effect. Try again after the time in Retry-After."
            raise Problem(503, "no-sender", "the server has no sender", hint, {"Retry-After": "60"})
        return sender

    def _now(self) -> int:
        return seconds(int(self._router._clock()))


class _Registered(NamedTuple):
    problem: Problem | None
    gone: tuple[str, ...]
    asked: tuple[str, ...]


_ROUTES: dict[str, dict[str, Callable[[_Exchange], Awaitable[Response]]]] = {
    "phones": {"PUT": _Exchange.register, "DELETE": _Exchange.unregister},
    "phones/answers": {"POST": _Exchange.answer},
    "phones/test": {"POST": _Exchange.test},
    "sender-set": {"GET": _Exchange.sender_set, "HEAD": _Exchange.sender_set},
    "leavings": {"POST": _Exchange.leave},
}


def _device(entry: Entry) -> Device:
    """Loads a stored device. If that fails, the phone isn't to blame."""
    try:
        return Device.from_dict(entry.state)
    except SealedPushError as error:
        _report("a stored device", error)
        raise unavailable("the device's stored state can't be used") from None


def _require_unclaimed(others: tuple[Entry, ...]) -> None:
    """Refuses a device that another account has proven (Specification 11.5.8)."""
    if any(each.is_proven for each in others):
        hint = "Unregister it there, or remove that device."
        raise Problem(409, "enrolled-elsewhere", "another account has this device and has proven one of its keys", hint)


def _claimed(entry: Entry, others: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns the enrollment key's entries. Once the device is proven here, others' claims to it are dropped."""
    return (entry,) if entry.is_proven else Found((entry, *others), 0).entries


def _too_many(detail: str, retry_after: int) -> Problem:
    return Problem(429, "too-many-requests", detail, headers={"Retry-After": str(retry_after)})


def _report(what: str, error: Exception) -> None:
    """Logs where an error happened, but not its text, unless it is a SettingError's."""
    why = f": {error}" if isinstance(error, SettingError) else ""
    place = "".join(traceback.format_tb(error.__traceback__)[-3:])
    _log.error("%s failed with %s%s\n%s", what, type(error).__name__, why, place)
