"""Sends the pushes in the table `push` through aioapns until Apple accepts or rejects them. Several processes may run."""

import asyncio
import collections
import contextlib
import json
import logging
import os
import re
import ssl
import time
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from aioapns import APNs, NotificationRequest, PushType, connection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

log = logging.getLogger("chat.delivery")
# The lease of a push, in seconds. When it ends, the push counts as lost, and the same bytes are sent again with the same IDs.
LEASE = int(os.environ.get("LEASE_SECONDS", "60"))
AT_ONCE = 100
# The limit of attempts without a response, which takes about 15 hours, and with a response that Apple doesn't document.
MOST_UNANSWERED = 100
MOST_UNKNOWN = 3
# The number of tokens that Apple may refuse in a row. After that, the topic or the environment is wrong, not the tokens.
MOST_REFUSED = 100


class Row(NamedTuple):
    id: int
    attempts: int
    device: int
    environment: str
    token: str | None
    token_accepted: bool
    payload: bytes
    headers: dict[str, str]


class Answer(NamedTuple):
    """Apple's response; status 0 means that there was none."""

    status: str
    reason: str
    timestamp: Any = None


class Delivery:
    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool
        self._waiting = asyncio.Event()
        self._refused: collections.Counter[str] = collections.Counter()

    def wake(self) -> None:
        """Signals that there are pushes to send."""
        self._waiting.set()

    async def run(self) -> None:
        # Apple has one service for builds from Xcode and one for all others.
        clients = {name: _client(name) for name in ("production", "sandbox")}
        while clients:
            self._waiting.clear()
            count = 0
            try:
                count = await self._send_some(clients)
            except (psycopg.OperationalError, PoolTimeout):
                log.warning("the database is unavailable")
            except Exception as error:
                # The error's text may contain a row.
                log.error("sending failed with %s; the pushes are retried later", type(error).__name__)
            if count < AT_ONCE:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._waiting.wait(), 1)

    async def _send_some(self, clients: dict[str, APNs]) -> int:
        async with self._pool.connection() as db:
            taken = await db.execute(
                """UPDATE push SET due = now() + make_interval(secs => %s), attempts = attempts + 1
                FROM sealed_push_device AS device WHERE device.id = push.device AND push.id IN (
                    SELECT push.id FROM push JOIN sealed_push_device AS device ON device.id = push.device
                    WHERE refused IS NULL AND due <= now() AND environment = ANY(%s)
                    ORDER BY due LIMIT %s FOR UPDATE OF push SKIP LOCKED)
                RETURNING push.id, attempts, push.device, environment, token, token_accepted, payload, headers""",
                [LEASE, list(clients), AT_ONCE],
            )
            rows = [Row(*each) for each in await taken.fetchall()]
        # Send the first alone: Apple allows one stream until it has seen the provider token, and aioapns miscounts the
        # available streams if others are waiting.
        answers = [await _send(clients[row.environment], row) for row in rows[:1]]
        answers += await asyncio.gather(*(_send(clients[row.environment], row) for row in rows[1:]))
        async with self._pool.connection() as db:
            for row, answer in zip(rows, answers, strict=True):
                if row.environment in clients and not await self._settle(db, row, answer):
                    del clients[row.environment]
        return len(rows)

    async def _settle(self, db, row: Row, answer: Answer) -> bool:
        """Handles Apple's response. Returns false if nothing more should be sent in this environment."""
        verdict, wait = judged(answer, row.attempts)
        if verdict == "accepted":
            self._refused[row.environment] = 0
        elif verdict == "refused":
            # Phones supply the tokens. Once Apple has accepted one, a refused token that never worked proves nothing about others.
            known = await db.execute(
                "SELECT EXISTS (SELECT FROM sealed_push_device WHERE environment = %s AND token_accepted)", [row.environment]
            )
            self._refused[row.environment] += row.token_accepted or not (await known.fetchone())[0]
            if self._refused[row.environment] >= MOST_REFUSED:
                log.critical(
                    "Apple refuses push after push as %s, so %s pushes wait until the next start: check TOPIC, and which "
                    "environment the app sends; then set token_refused to NULL",
                    answer.reason,
                    row.environment,
                )
                return False
        await _store(db, row, answer, verdict, wait)
        return True


def judged(answer: Answer, attempts: int) -> tuple[str, float]:
    """Returns what a response means for the push, and for `retry` the wait in seconds (Docs/OtherLanguages.md, chapter 5)."""
    status, reason, timestamp = answer
    if status == "200":
        return "accepted", 0
    is_time = type(timestamp) is int and 0 < timestamp < 253402300800000
    if status == "410" and reason in ("Unregistered", "ExpiredToken") and is_time:
        # The wait is for a token that was registered again since.
        return "gone", min(60 * 2 ** min(attempts, 10), 3600)
    if status == "400" and reason in ("BadDeviceToken", "DeviceTokenNotForTopic"):
        return "refused", 0
    # 403 means an error of this server that will be fixed, such as a revoked key.
    if status in ("401", "403", "429") or (status == "0" and attempts < MOST_UNANSWERED):
        return "retry", min(2 ** min(attempts, 10), 600)
    is_documented = status in ("0", "400", "404", "405", "413") and reason != "IdleTimeout"
    if status.startswith("5") or (not is_documented and attempts < MOST_UNKNOWN):
        return "retry", min(900 * attempts, 14400)
    return "dead", 0


async def _store(db, row: Row, answer: Answer, verdict: str, wait: float) -> None:
    same_token = [row.device, row.token, row.environment]
    if verdict == "accepted":
        await db.execute("DELETE FROM push WHERE id = %s", [row.id])
        await db.execute(
            """UPDATE sealed_push_device SET token_accepted = true
            WHERE id = %s AND token = %s AND environment = %s AND NOT token_accepted""",
            same_token,
        )
        return
    if verdict == "gone":
        # The app was removed, unless it has registered this token again since, perhaps within the same second.
        gone = await db.execute(
            """UPDATE sealed_push_device SET token = NULL, token_refused = %s, token_accepted = false WHERE id = %s AND token = %s
            AND environment = %s AND registered / 1000 < %s / 1000""",
            [answer.reason, *same_token, answer.timestamp],
        )
        if gone.rowcount:
            await db.execute("DELETE FROM push WHERE device = %s AND refused IS NULL", [row.device])
            return
        verdict = "retry"
    if verdict == "refused":
        # Keep the token, because its environment may be wrong. It isn't used until the app registers it again.
        refused = await db.execute(
            """UPDATE sealed_push_device SET token_refused = %s, token_accepted = false
            WHERE id = %s AND token = %s AND environment = %s""",
            [answer.reason, *same_token],
        )
        if refused.rowcount:
            await db.execute("UPDATE push SET refused = %s WHERE device = %s AND refused IS NULL", [answer.reason, row.device])
            log.error("device %d: Apple refuses the token: %s", row.device, answer.reason)
            return
        verdict = "retry"
    if verdict == "retry":
        await db.execute("UPDATE push SET due = now() + make_interval(secs => %s) WHERE id = %s", [wait, row.id])
        log.warning("push %d waits %d seconds: %s %s", row.id, wait, answer.status, answer.reason)
    else:
        await db.execute("UPDATE push SET refused = %s WHERE id = %s", [answer.reason, row.id])
        log.error("push %d was rejected: %s", row.id, answer.reason)


async def _send(apns: APNs, row: Row) -> Answer:
    if row.token is None:
        return Answer("400", "the token is gone")
    headers = row.headers
    try:
        request = NotificationRequest(
            device_token=row.token,
            message=json.loads(row.payload),
            notification_id=headers["apns-id"],
            collapse_key=headers["apns-collapse-id"],
            priority=int(headers["apns-priority"]),
            push_type=PushType.ALERT,
            apns_topic=headers["apns-topic"],
            time_to_live=max(0, int(headers["apns-expiration"]) - int(time.time())),
        )
        # aioapns has no timeout of its own, for example while it waits for a stream after Apple has lowered the limit.
        result = await asyncio.wait_for(apns.send_notification(request), LEASE / 2)
    except Exception as error:
        # Don't let any error stop the other pushes. Close the connection only if it's silent.
        if isinstance(error, TimeoutError):
            apns.pool.close()
        return Answer("0", type(error).__name__)
    # A gateway may answer with anything, and PostgreSQL doesn't store NUL.
    reason = re.sub(r"[^ -~]", "?", str(result.description or result.status))[:64]
    return Answer(str(result.status), reason, result.timestamp)


def _client(environment: str) -> APNs:
    """Returns a client for Apple, or for `device-simulator apns --folder FOLDER` if LOCAL_APNS is FOLDER/address.json."""
    context = ssl.create_default_context()
    if "LOCAL_APNS" in os.environ:
        local = json.loads(Path(os.environ["LOCAL_APNS"]).read_text())
        context.load_verify_locations(local["root"])
        for protocol in (connection.APNsProductionClientProtocol, connection.APNsDevelopmentClientProtocol):
            protocol.APNS_SERVER, protocol.APNS_PORT = "localhost", local["port"]
        key, key_id, team_id = local["key"], local["keyID"], local["teamID"]
    else:
        key, key_id, team_id = (os.environ[name] for name in ("APNS_KEY", "APNS_KEY_ID", "APNS_TEAM_ID"))
    context.set_alpn_protocols(["h2"])
    # Use one connection: aioapns creates a provider token for each, and Apple limits their number.
    return APNs(
        key=Path(key).read_text(), key_id=key_id, team_id=team_id, topic=os.environ.get("TOPIC", "com.example.app"),
        max_connections=1, ssl_context=context, use_sandbox=environment == "sandbox",
    )  # fmt: skip
