"""Requests and responses of HTTP, independent of web frameworks. Refusals are as in RFC 9457 (EnrollmentHTTP 7)."""

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import SealedPushError
from .protocol.text import is_unicode, to_json

_LONGEST_AUTHORIZATION = 512
_TITLES = {
    400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
    413: "Content Too Large", 415: "Unsupported Media Type", 422: "Unprocessable Content", 429: "Too Many Requests",
    501: "Not Implemented", 503: "Service Unavailable",
}  # fmt: skip
# Any other code of a record, leaving, or answer gets 400.
_STATUSES = {
    **dict.fromkeys(("other-topic", "other-service", "rolled-back", "conflicting"), 409),
    **dict.fromkeys(("late", "unknown-challenge", "not-in-record"), 409),
    **dict.fromkeys(("expired", "not-yet-valid", "unsupported"), 422),
}


@dataclass(frozen=True)
class Request:
    """A request whose body isn't read yet."""

    method: str
    path: str
    """Percent-decoded, beginning with `/v1/`."""
    headers: Mapping[str, str]
    """The values by lowercase name, of headers that were sent once."""
    native: Any
    """The framework's own request: the scope of ASGI, or Django's HttpRequest."""
    read: Callable[[int], Awaitable[bytes | None]] = field(repr=False)
    """Returns the body, or more bytes than this limit, or None if the body was cut off."""

    @property
    def bearer(self) -> str | None:
        """The token in `Authorization`, or None."""
        return bearer_token(self.headers.get("authorization"))


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Problem(Exception):
    """Why a request is refused. `members` are added to its JSON."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.detail, self.hint = status, code, detail, hint
        self.headers, self.members = headers or {}, members or {}

    @classmethod
    def of(cls, error: SealedPushError, **members: str) -> "Problem":
        """Returns the refusal of a record, a leaving, or an answer."""
        # A phone whose challenge is no longer stored is challenged again.
        code = {"wrong-answer": "unknown-challenge"}.get(error.code, error.code)
        return cls(_STATUSES.get(code, 400), code, error.message, error.hint, members=members)

    def response(self) -> Response:
        body = {"type": f"/Docs/Codes.md#{self.code}", "title": _TITLES[self.status], "status": self.status}
        body |= {"code": self.code, "detail": self.detail} | ({"hint": self.hint} if self.hint else {})
        return answered(self.status, body | dict(self.members), self.headers, "application/problem+json")


def malformed(detail: str) -> Problem:
    return Problem(400, "malformed", detail)


def unavailable(detail: str, retry_after: int = 10) -> Problem:
    hint = "The request had no effect. Try again after the time in Retry-After."
    return Problem(503, "unavailable", detail, hint, {"Retry-After": str(retry_after)})


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turns errors about what a phone sent into refusals."""
    try:
        yield
    except SealedPushError as error:
        raise Problem.of(error) from None


def answered(
    status: int,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    type: str = "application/json",
) -> Response:
    """Returns a response with this JSON, or without a body."""
    own = {"Cache-Control": "no-store"} | ({} if body is None else {"Content-Type": type})
    return Response(status, own | dict(headers or {}), b"" if body is None else to_json(body))


def bearer_token(authorization: str | None) -> str | None:
    """Returns the token in the value of an `Authorization` header, or None if there is none."""
    if authorization is None or len(authorization) > _LONGEST_AUTHORIZATION or not authorization.isascii():
        return None
    words = [each for each in authorization.split(" ") if each]
    return words[1] if len(words) == 2 and words[0].lower() == "bearer" else None


async def members(request: Request, limit: int, *known: str) -> dict[str, Any]:
    """Reads the body's JSON object. A null member counts as absent; one that isn't known is refused.

    Raises Problem: `malformed`, `body-too-large`, `wrong-media-type`, `encoded`.
    """
    if request.headers.get("content-type", "").replace("\t", " ").split(";")[0].strip(" ").lower() != "application/json":
        hint = "Send the header Content-Type: application/json."
        raise Problem(415, "wrong-media-type", "the request's body has the wrong media type", hint)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(
            415, "encoded", "the request's body is compressed or otherwise encoded",
            "Send it unencoded, without Content-Encoding.", {"Accept-Encoding": "identity"},
        )  # fmt: skip
    body = await request.read(limit)
    if body is None:
        raise malformed("the request's body was cut off")
    if len(body) > limit:
        raise Problem(413, "body-too-large", f"the request's body has more than {limit} bytes")
    found = {name: value for name, value in _object(body).items() if value is not None}
    if not set(found) <= set(known):
        raise malformed(f"the request has an unknown member; the known ones are {', '.join(known)}")
    return found


def text(found: Mapping[str, Any], name: str) -> str:
    """Returns a member. Raises Problem: `malformed`."""
    value = found.get(name)
    if not isinstance(value, str) or not is_unicode(value):
        raise malformed(f'there is no "{name}"; expected a string')
    return value


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body.removeprefix(b"\xef\xbb\xbf").decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise malformed("this is not one JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError
    return made
