"""A chat back end: stores a message and its sealed pushes in one transaction, and sends the pushes until Apple accepts them."""

import asyncio
import contextlib
import hashlib
import logging
import os
import time
import uuid
from typing import Annotated

import psycopg
import sealed_push
from delivery import Delivery
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import BaseModel, StringConstraints
from sealed_push import asgi, postgres
from sealed_push.router import PhoneRouter, bearer_token

log = logging.getLogger("chat")
KEPT_FOR = 7 * 86400
# aioapns reencodes the JSON with six more spaces, so reserve six bytes.
sender = sealed_push.Sender(
    os.environ["SENDER_SECRET"], topic=os.environ.get("TOPIC", "com.example.app"), safe_default="You have a new message!", reserve=6
)
pool = AsyncConnectionPool(
    postgres.address(os.environ["DATABASE_URL"]), open=False, timeout=5, max_size=8, check=AsyncConnectionPool.check_connection
)
delivery, store = Delivery(pool), postgres.AsyncPostgresStore(pool)


async def account_of(bearer: str | None) -> str | None:
    """Returns the account that a login belongs to. Replace this with your own login."""
    async with pool.connection() as db:
        digest = hashlib.sha256((bearer or "").encode()).digest()
        row = await (await db.execute("SELECT account FROM login WHERE bearer = %s", [digest])).fetchone()
    return row[0] if row else None


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI):
    await pool.open()
    sending = asyncio.create_task(delivery.run())
    yield
    # Pushes in transit are sent again after the next start. The phone treats each as the same push.
    sending.cancel()
    await pool.close()


app = FastAPI(lifespan=lifespan)
# FastAPI's own 422 repeats the input, which may not be Unicode.
refusals = {psycopg.OperationalError: 503, PoolTimeout: 503, RequestValidationError: 422, sealed_push.SealedPushError: 422}
for kind, status in refusals.items():
    app.add_exception_handler(kind, lambda request, error, status=status: Response(status_code=status))


async def author(authorization: Annotated[str, Header()] = "") -> str:
    account = await account_of(bearer_token(authorization))
    if account is None:
        raise HTTPException(401, headers={"www-authenticate": "Bearer"})
    return account


# PostgreSQL doesn't store NUL in text, and Pydantic rejects unpaired surrogates.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$", max_length=4096)]


class Message(BaseModel):
    id: uuid.UUID
    to: Text
    text: Text


@app.post("/messages", status_code=201)
async def post(message: Message, author: Annotated[str, Depends(author)]) -> dict[str, uuid.UUID]:
    """Stores a message and its pushes, or neither. Repeating the request after a lost response is a no-op."""
    row = [message.id, author, message.to, message.text]
    async with pool.connection() as db, db.transaction():
        stored = await db.execute(
            "INSERT INTO message (id, author, reader, body) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", row
        )
        if stored.rowcount == 0:
            same = "SELECT FROM message WHERE id = %s AND author = %s AND reader = %s AND body = %s"
            if await (await db.execute(same, row)).fetchone() is None:
                raise HTTPException(409, "key-used")
            return {"id": message.id}
        content = {"id": str(message.id), "alert": {"title": author, "body": message.text}, "thread-id": author}
        # Locked, so that no phone is proven or removed in the meantime.
        found = await db.execute(
            """SELECT id, state FROM sealed_push_device
            WHERE account = %s AND proven AND token IS NOT NULL AND token_refused IS NULL FOR SHARE""",
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


# Phones enroll here, as in Docs/EnrollmentHTTP.md.
phones = PhoneRouter(sender, account=lambda request: account_of(request.bearer), load=store.load, save=store.save)
app.mount("", asgi.application(phones))
