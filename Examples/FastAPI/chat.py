"""A chat's back end: a message and its sealed pushes are stored in one transaction, and then sent until Apple takes them."""

import asyncio
import contextlib
import hashlib
import logging
import os
import time
import uuid
from typing import Annotated, Any

import psycopg
import sealed_push
from delivery import Delivery
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import BaseModel

log = logging.getLogger("chat")
TOPIC = os.environ.get("TOPIC", "com.example.app")
KEPT_FOR = 7 * 86400

# aioapns writes the JSON anew, with six spaces more: six bytes are kept back for them.
sender = sealed_push.Sender(os.environ["SENDER_SECRET"], topic=TOPIC, safe_default="You have a new message!", reserve=6)
pool = AsyncConnectionPool(
    os.environ["DATABASE_URL"], open=False, timeout=5, max_size=8, check=AsyncConnectionPool.check_connection
)
delivery = Delivery(pool)


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI):
    await pool.open()
    sending = asyncio.create_task(delivery.run())
    yield
    # What is on its way now is sent again after the next start: to the phone it is the same push.
    sending.cancel()
    await pool.close()


app = FastAPI(lifespan=lifespan)


@app.exception_handler(sealed_push.SealedPushError)
async def refused(request: Request, error: sealed_push.SealedPushError):
    status = 413 if isinstance(error, sealed_push.TooLargeError) else 422
    return JSONResponse({"code": error.code, "hint": error.hint}, status)


@app.exception_handler(psycopg.OperationalError)
@app.exception_handler(PoolTimeout)
async def unavailable(request: Request, error: Exception):
    return JSONResponse({"code": "unavailable", "hint": "ask again, with the same id"}, 503, {"retry-after": "1"})


async def account(authorization: Annotated[str, Header()] = "") -> str:
    """Whose request this is: your own login stands in this place."""
    bearer = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).digest()
    async with pool.connection() as db:
        row = await (await db.execute("SELECT account FROM login WHERE bearer = %s", [bearer])).fetchone()
    if row is None:
        raise HTTPException(401)
    return row[0]


Account = Annotated[str, Depends(account)]


class Registration(BaseModel):
    token: str
    record: str


class Answer(BaseModel):
    enrollment: str
    answer: str


class Message(BaseModel):
    id: uuid.UUID
    to: str
    text: str


@app.post("/devices")
async def register(registration: Registration, account: Account) -> dict[str, Any]:
    """The app says at each launch which token and which record its phone has. It gets a question about keys that are new."""
    first = sealed_push.Device.enroll(registration.record, topic=TOPIC)
    async with pool.connection() as db, db.transaction():
        # One request about one phone at a time, also before it has a row.
        await db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [first.enrollment])
        found = await db.execute(
            "SELECT account, proven, state FROM device WHERE enrollment = %s AND (proven OR account = %s)",
            [first.enrollment, account],
        )
        rows = {row[0]: row for row in await found.fetchall()}
        if any(proven for owner, proven, _ in rows.values() if owner != account):
            raise HTTPException(409, "this phone belongs to another account")
        device = first
        if account in rows:
            device = sealed_push.Device.from_dict(rows[account][2])
            try:
                sender.forget(*device.update(registration.record))
            except sealed_push.RecordError as error:
                if error.code not in ("rolled-back", "conflicting"):
                    raise
                # The phone was put back to an earlier state: it signs a record with a higher counter (11.4.5).
                return JSONResponse({"code": error.code, "record": device.record}, 409)
        question = device.challenge(sender) if device.unproven else None
        await db.execute(
            """INSERT INTO device (account, enrollment, state, proven, token) VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (account, enrollment) DO UPDATE
            SET state = excluded.state, proven = excluded.proven, token = excluded.token, token_since = now()""",
            [account, device.enrollment, Jsonb(device.to_dict()), bool(device.proven), registration.token],
        )
    return {"enrollment": device.enrollment, "challenge": question}


@app.post("/devices/answer")
async def answer(given: Answer, account: Account) -> dict[str, Any]:
    """What the phone has answered: inside the login of the account whose phone was asked, and nowhere else (11.5.8)."""
    async with pool.connection() as db, db.transaction():
        await db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [given.enrollment])
        found = await db.execute(
            "SELECT id, state, token FROM device WHERE account = %s AND enrollment = %s", [account, given.enrollment]
        )
        row = await found.fetchone()
        if row is None:
            raise HTTPException(404)
        id, state, token = row
        device = sealed_push.Device.from_dict(state)
        key = device.answer(given.answer)
        # Whoever has named this phone's key and proven nothing is forgotten; so is what the app was before it was installed anew.
        await db.execute("DELETE FROM device WHERE enrollment = %s AND id <> %s AND NOT proven", [given.enrollment, id])
        await db.execute("DELETE FROM device WHERE account = %s AND token = %s AND id <> %s", [account, token, id])
        try:
            await db.execute("UPDATE device SET state = %s, proven = true WHERE id = %s", [Jsonb(device.to_dict()), id])
        except psycopg.errors.UniqueViolation:
            raise HTTPException(409, "this phone belongs to another account") from None
    return {"recipient": key}


@app.delete("/devices/{enrollment}", status_code=204)
async def forget(enrollment: str, account: Account) -> None:
    """At the logout, and after theft: what waits for this phone goes too. Another account may have it from then on."""
    async with pool.connection() as db:
        await db.execute("DELETE FROM device WHERE account = %s AND enrollment = %s", [account, enrollment])


@app.post("/messages", status_code=201)
async def post(message: Message, account: Account) -> dict[str, Any]:
    """Stores a message and what is sent of it, or neither. The same again, after a lost answer, changes nothing."""
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
                raise HTTPException(409, "another message has this id")
            return {"id": message.id}
        content = {
            "id": str(message.id),
            "expires": int(time.time()) + KEPT_FOR,
            "alert": {"title": account, "body": message.text},
            "thread-id": account,
        }
        # Locked, so that no phone is proven or removed meanwhile.
        found = await db.execute(
            "SELECT id, state FROM device WHERE account = %s AND proven AND token IS NOT NULL FOR SHARE", [message.to]
        )
        for device, state in await found.fetchall():
            try:
                push = sender.seal(content, sealed_push.Device.from_dict(state))
            except sealed_push.RecordError as error:
                # Its record has ended, and its app has not been opened for a year: the others get theirs.
                log.warning("device %d: %s", device, error.code)
                continue
            await db.execute(
                "INSERT INTO push (message, device, payload, headers) VALUES (%s, %s, %s, %s)",
                [message.id, device, push.payload, Jsonb(dict(push.headers))],
            )
    delivery.wake()
    return {"id": message.id}
