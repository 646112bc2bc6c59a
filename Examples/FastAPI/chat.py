"""A chat back end: stores a message and its sealed pushes in one transaction, then sends the pushes until Apple accepts them.

Phones enroll as in Docs/EnrollmentHTTP.md, so the app can use PushServerClient.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import sys
import time
import uuid
from typing import Annotated, Any, Literal

import psycopg
import sealed_push
from delivery import Delivery
from fastapi import Depends, FastAPI, Header, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import BaseModel, StringConstraints
from starlette.exceptions import HTTPException

log = logging.getLogger("chat")
TOPIC = os.environ.get("TOPIC", "com.example.app")
KEPT_FOR = 7 * 86400
MOST_DEVICES = 100
# The largest bodies, in bytes. Anyone may send a leaving.
MOST_BYTES = {"/v1/leavings": 1024}
MOST_BYTES_OTHERWISE = 65536
# See EnrollmentHTTP 7. Any other code gets 400.
STATUS = {
    **dict.fromkeys(("rolled-back", "conflicting", "other-topic", "other-service", "late", "not-in-record", "unknown-challenge"), 409),
    "foreign-enrollment": 409,
    **dict.fromkeys(("expired", "not-yet-valid", "malformed-content", "too-large", "unsupported"), 422),
}


def database() -> str:
    """Returns the database's address. The errors of psycopg and libpq may repeat the password of a malformed one."""
    address = os.environ["DATABASE_URL"]
    try:
        parts = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        parts = {"host": "@"}
    if "@" in str(parts.get("host", "")) or not re.fullmatch("[0-9,]*", str(parts.get("port", ""))):
        sys.exit("DATABASE_URL is not an address; percent-encode the special characters of its password")
    return address


# aioapns reencodes the JSON with six more spaces, so reserve six bytes.
sender = sealed_push.Sender(os.environ["SENDER_SECRET"], topic=TOPIC, safe_default="You have a new message!", reserve=6)
pool = AsyncConnectionPool(database(), open=False, timeout=5, max_size=8, check=AsyncConnectionPool.check_connection)
delivery = Delivery(pool)


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI):
    await pool.open()
    sending = asyncio.create_task(delivery.run())
    yield
    # Pushes in transit are sent again after the next start. The phone treats each as the same push.
    sending.cancel()
    await pool.close()


class CheckedBody:
    """Refuses a body while it arrives if it is too large or not in UTF-8. Pydantic checks the rest."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope, receive, send) -> None:
        left = MOST_BYTES.get(scope.get("path"), MOST_BYTES_OTHERWISE)

        async def received():
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413)
            # Python also reads JSON in UTF-16 and UTF-32, which have a NUL in each ASCII character.
            if b"\0" in message.get("body", b""):
                raise HTTPException(400)
            return message

        await self._app(scope, received if scope["type"] == "http" else receive, send)


app = FastAPI(lifespan=lifespan)
app.add_middleware(CheckedBody)


class Problem(Exception):
    def __init__(self, status: int, code: str, **members: Any) -> None:
        self.status, self.body = status, {"status": status, "code": code, **members}


@app.exception_handler(Problem)
async def refused(request: Request, problem: Problem):
    headers = {401: {"www-authenticate": "Bearer"}, 503: {"retry-after": "1"}}.get(problem.status)
    return JSONResponse(problem.body, problem.status, headers, media_type="application/problem+json")


@app.exception_handler(sealed_push.SealedPushError)
async def not_taken(request: Request, error: sealed_push.SealedPushError):
    return await refused(request, problem_of(error))


@app.exception_handler(HTTPException)
async def wrong_request(request: Request, error: HTTPException):
    code = {404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}.get(error.status_code, "malformed")
    return await refused(request, Problem(error.status_code, code))


@app.exception_handler(RequestValidationError)
async def malformed(request: Request, error: Exception):
    return await refused(request, Problem(400 if request.url.path.startswith("/v1/") else 422, "malformed"))


@app.exception_handler(psycopg.OperationalError)
@app.exception_handler(PoolTimeout)
async def unavailable(request: Request, error: Exception):
    return await refused(request, Problem(503, "unavailable", detail="retry with the same id"))


def problem_of(error: sealed_push.SealedPushError, **members: Any) -> Problem:
    # The phone is challenged again if its challenge is no longer stored.
    code = {"foreign-signer": "malformed", "wrong-answer": "unknown-challenge"}.get(error.code, error.code)
    return Problem(STATUS.get(code, 400), code, detail=str(error), **members)


async def account(authorization: Annotated[str, Header()] = "") -> str:
    """Returns the account that sends the request. Replace this with your own login."""
    scheme, _, bearer = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise Problem(401, "unauthorized")
    bearer = hashlib.sha256(bearer.strip(" ").encode()).digest()
    async with pool.connection() as db:
        row = await (await db.execute("SELECT account FROM login WHERE bearer = %s", [bearer])).fetchone()
    if row is None:
        raise Problem(401, "unauthorized")
    return row[0]


Account = Annotated[str, Depends(account)]


# The token becomes part of a URL path, and PostgreSQL doesn't store NUL in text. Pydantic rejects unpaired surrogates.
Token = Annotated[str, StringConstraints(pattern="^([0-9A-Fa-f]{2}){1,100}$")]
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$", max_length=4096)]
Enrollment = Annotated[str, Path(pattern="^pushenrollment1[0-9a-z]{58}$")]


class Registration(BaseModel, extra="forbid"):
    record: str
    token: Token
    environment: Literal["production", "sandbox"]


class Answer(BaseModel, extra="forbid"):
    answer: str
    state: str | None = None


class Leave(BaseModel, extra="forbid"):
    leaving: str


class Message(BaseModel):
    id: uuid.UUID
    to: Text
    text: Text


@app.put("/v1/phones/{enrollment}")
async def register(enrollment: Enrollment, given: Registration, account: Account) -> dict[str, Any]:
    """Stores the token and record that an app sends at launch. Returns a challenge for each new key (EnrollmentHTTP 3)."""
    problem = None
    async with pool.connection() as db, db.transaction():
        # Handle one request per phone at a time, even before it has a row.
        await db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [enrollment])
        found = await db.execute(
            "SELECT account, proven, state FROM device WHERE enrollment = %s AND (proven OR account = %s)",
            [enrollment, account],
        )
        rows = {row[0]: row for row in await found.fetchall()}
        if any(proven for owner, proven, _ in rows.values() if owner != account):
            raise Problem(409, "enrolled-elsewhere")
        if account in rows:
            device = sealed_push.Device.from_dict(rows[account][2])
            try:
                sender.forget(*device.update(given.record))
            except sealed_push.RecordError as error:
                # Store the token anyway. A restored phone then signs a record with a higher counter (11.4.5).
                known = {"record": device.record} if error.code in ("rolled-back", "conflicting") else {}
                problem = problem_of(error, **known)
        else:
            device = sealed_push.Device.enroll(given.record, topic=TOPIC)
            if device.enrollment != enrollment:
                raise Problem(400, "malformed")
            count = await (await db.execute("SELECT count(*) FROM device WHERE account = %s", [account])).fetchone()
            if count[0] >= MOST_DEVICES:
                raise Problem(409, "too-many-devices")
        questions = [] if problem else [device.challenge(sender, key) for key in device.unproven]
        await db.execute(
            """INSERT INTO device (account, enrollment, state, proven, token, environment) VALUES (%s, %s, %s, %s, %s, %s)
            ON CONFLICT (account, enrollment) DO UPDATE SET state = excluded.state, proven = excluded.proven,
            token = excluded.token, environment = excluded.environment, token_since = now(), token_refused = NULL,
            token_accepted = device.token_accepted AND (device.token, device.environment)
                IS NOT DISTINCT FROM (excluded.token, excluded.environment)""",
            [account, enrollment, Jsonb(device.to_dict()), bool(device.proven), given.token, given.environment],
        )
    if problem:
        raise problem
    return {"device": enrollment, "challenges": [{"challenge": question} for question in questions]}


@app.post("/v1/phones/{enrollment}/answers", status_code=204)
async def answer(enrollment: Enrollment, given: Answer, account: Account) -> None:
    """Checks a phone's answer, which counts only under the account whose phone was challenged (11.5.8)."""
    async with pool.connection() as db, db.transaction():
        await db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [enrollment])
        found = await db.execute(
            "SELECT id, state, token FROM device WHERE account = %s AND enrollment = %s", [account, enrollment]
        )
        row = await found.fetchone()
        if row is None:
            raise Problem(404, "unknown-device")
        id, state, token = row
        device = sealed_push.Device.from_dict(state)
        device.answer(given.answer)
        # Delete other accounts' unproven claims to this key, and this app's entry from before it was reinstalled.
        await db.execute("DELETE FROM device WHERE enrollment = %s AND id <> %s AND NOT proven", [enrollment, id])
        await db.execute("DELETE FROM device WHERE account = %s AND token = %s AND id <> %s", [account, token, id])
        try:
            await db.execute("UPDATE device SET state = %s, proven = true WHERE id = %s", [Jsonb(device.to_dict()), id])
        except psycopg.errors.UniqueViolation:
            raise Problem(409, "enrolled-elsewhere") from None


@app.get("/v1/sender-set", status_code=204)
async def sender_set(account: Account) -> None:
    """Returns no sender set, because the app has the sender's key built in (EnrollmentHTTP 5)."""


@app.delete("/v1/phones/{enrollment}", status_code=204)
async def forget(enrollment: Enrollment, account: Account) -> None:
    """Removes a phone and its waiting pushes, at logout or after theft. Another account can then enroll it."""
    async with pool.connection() as db:
        await db.execute("DELETE FROM device WHERE account = %s AND enrollment = %s", [account, enrollment])


@app.post("/v1/leavings", status_code=204)
async def leave(given: Leave) -> None:
    """Removes a phone from its accounts. The signature of its enrollment key replaces a login (EnrollmentHTTP 6)."""
    leaving = sealed_push.Leaving(given.leaving, topic=TOPIC)
    async with pool.connection() as db, db.transaction():
        await db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [leaving.enrollment])
        found = await db.execute("SELECT id, state FROM device WHERE enrollment = %s", [leaving.enrollment])
        ended = [id for id, state in await found.fetchall() if leaving.ends(sealed_push.Device.from_dict(state))]
        await db.execute("DELETE FROM device WHERE id = ANY(%s)", [ended])


@app.post("/messages", status_code=201)
async def post(message: Message, account: Account) -> dict[str, Any]:
    """Stores a message and its pushes, or neither. Repeating the request after a lost response is a no-op."""
    async with pool.connection() as db, db.transaction():
        stored = await db.execute(
            "INSERT INTO message (id, author, reader, body) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [message.id, account, message.to, message.text],
        )
        if stored.rowcount == 0:
            same = await db.execute(
                "SELECT FROM message WHERE id = %s AND author = %s AND reader = %s AND body = %s",
                [message.id, account, message.to, message.text],
            )
            if await same.fetchone() is None:
                raise Problem(409, "key-used", detail="another message has this id")
            return {"id": message.id}
        content = {
            "id": str(message.id),
            "alert": {"title": account, "body": message.text},
            "thread-id": account,
        }
        # Locked, so that no phone is proven or removed in the meantime.
        found = await db.execute(
            """SELECT id, state FROM device WHERE account = %s AND proven AND token IS NOT NULL AND token_refused IS NULL
            FOR SHARE""",
            [message.to],
        )
        for device, state in await found.fetchall():
            try:
                known = sealed_push.Device.from_dict(state)
                # Expire no later than the device erases its keys (11.4.6).
                expires = int(time.time()) + min(KEPT_FOR, known.keeps * 86400)
                push = sender.seal(content | {"expires": expires}, known)
            except sealed_push.RecordError as error:
                # The record has expired because the app wasn't opened for a year. Continue with the other phones.
                log.warning("device %d: %s", device, error.code)
                continue
            await db.execute(
                "INSERT INTO push (message, device, payload, headers) VALUES (%s, %s, %s, %s)",
                [message.id, device, push.payload, Jsonb(dict(push.headers))],
            )
    delivery.wake()
    return {"id": message.id}
