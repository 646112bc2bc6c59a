"""Sends the pushes in the table `push` through aioapns until Apple accepts or rejects them. Several processes may run."""

import asyncio
import contextlib
import json
import logging
import os
import ssl
import time
from pathlib import Path

import psycopg
from aioapns import APNs, NotificationRequest, PushType, connection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

log = logging.getLogger("chat.delivery")
# The lease of a push, in seconds. When it ends, the push counts as lost, and the same bytes are sent again with the same IDs.
LEASE = int(os.environ.get("LEASE_SECONDS", "60"))
AT_ONCE = 100
# The limit of attempts without a response, which takes about 15 hours.
MOST_UNANSWERED = 100


class Delivery:
    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool
        self._waiting = asyncio.Event()

    def wake(self) -> None:
        """Signals that there are pushes to send."""
        self._waiting.set()

    async def run(self) -> None:
        # Apple has one service for builds from Xcode and one for all others.
        clients = {name: _client(name) for name in ("production", "sandbox")}
        while True:
            self._waiting.clear()
            count = 0
            try:
                count = await self._send_some(clients)
            except (psycopg.OperationalError, PoolTimeout):
                log.warning("the database is unavailable")
            except Exception:
                log.exception("sending failed; the pushes are retried later")
            if count < AT_ONCE:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._waiting.wait(), 1)

    async def _send_some(self, clients: dict[str, APNs]) -> int:
        async with self._pool.connection() as db:
            taken = await db.execute(
                """UPDATE push SET due = now() + make_interval(secs => %s), attempts = attempts + 1
                FROM device WHERE device.id = push.device AND push.id IN (
                    SELECT id FROM push WHERE refused IS NULL AND due <= now()
                    ORDER BY due LIMIT %s FOR UPDATE SKIP LOCKED)
                RETURNING push.id, push.attempts, push.device, environment, token, payload, headers""",
                [LEASE, AT_ONCE],
            )
            rows = await taken.fetchall()
        # Send the first alone: Apple allows one stream until it has seen the provider token, and aioapns miscounts the
        # available streams if others are waiting.
        answers = [await _send(clients[row[3]], *row[4:]) for row in rows[:1]]
        answers += await asyncio.gather(*(_send(clients[row[3]], *row[4:]) for row in rows[1:]))
        async with self._pool.connection() as db:
            for (id, attempts, device, *_), answer in zip(rows, answers, strict=True):
                await _settle(db, id, attempts, device, *answer)
        return len(rows)


async def _settle(db, id: int, attempts: int, device: int, status: str, reason: str | None, timestamp: int | None) -> None:
    """Handles Apple's response; Docs/OtherLanguages.md lists the responses."""
    if status == "200":
        await db.execute("DELETE FROM push WHERE id = %s", [id])
    elif status == "410":
        # The app was removed, unless it has registered this token again since.
        await db.execute("DELETE FROM push WHERE id = %s", [id])
        await db.execute(
            "UPDATE device SET token = NULL WHERE id = %s AND token_since < to_timestamp(%s / 1000.0)",
            [device, timestamp or time.time() * 1000],
        )
    elif status in ("403", "429", "500", "503") or (status == "0" and attempts < MOST_UNANSWERED):
        # Retry with increasing delays. 403 means an error of this server that will be fixed, such as a revoked key.
        wait = 900 * attempts if status in ("500", "503") else min(2 ** min(attempts, 10), 600)
        await db.execute("UPDATE push SET due = now() + make_interval(secs => %s) WHERE id = %s", [wait, id])
        log.warning("push %d waits %d seconds: %s %s", id, wait, status, reason)
    else:
        await db.execute("UPDATE push SET refused = %s WHERE id = %s", [reason or status, id])
        if reason in ("BadDeviceToken", "DeviceTokenNotForTopic"):
            await db.execute("UPDATE device SET token = NULL WHERE id = %s", [device])
        log.error("push %d was rejected: %s", id, reason)


async def _send(apns: APNs, token: str | None, payload: bytes, headers: dict[str, str]):
    """Returns Apple's status, reason, and timestamp; status 0 means that Apple didn't respond."""
    if token is None:
        return "400", "the token is gone", None
    try:
        request = NotificationRequest(
            device_token=token,
            message=json.loads(payload),
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
        return "0", type(error).__name__, None
    return result.status, result.description, result.timestamp


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
