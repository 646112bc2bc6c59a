"""Sends what the table `push` holds, through aioapns, until Apple takes or refuses it. Several processes may do so at once."""

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
# How long a push is this process's own. After that, it is taken for lost, and sent again: the same bytes under the same IDs.
LEASE = int(os.environ.get("LEASE_SECONDS", "60"))
AT_ONCE = 100
# How often a push is sent without any answer: some 15 hours.
MOST_UNANSWERED = 100


class Delivery:
    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool
        self._waiting = asyncio.Event()

    def wake(self) -> None:
        """There is something to send."""
        self._waiting.set()

    async def run(self) -> None:
        # One of Apple's services for apps of Xcode's, one for all others.
        clients = {name: _client(name) for name in ("production", "sandbox")}
        while True:
            self._waiting.clear()
            count = 0
            try:
                count = await self._send_some(clients)
            except (psycopg.OperationalError, PoolTimeout):
                log.warning("the database is away")
            except Exception:
                log.exception("what was to be sent waits for its next turn")
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
        # The first goes alone: Apple allows one at a time until it has seen the provider token, and aioapns loses count of how
        # many it may send when others wait meanwhile.
        answers = [await _send(clients[row[3]], *row[4:]) for row in rows[:1]]
        answers += await asyncio.gather(*(_send(clients[row[3]], *row[4:]) for row in rows[1:]))
        async with self._pool.connection() as db:
            for (id, attempts, device, *_), answer in zip(rows, answers, strict=True):
                await _settle(db, id, attempts, device, *answer)
        return len(rows)


async def _settle(db, id: int, attempts: int, device: int, status: str, reason: str | None, timestamp: int | None) -> None:
    """What Apple's answers mean is in Docs/OtherLanguages.md."""
    if status == "200":
        await db.execute("DELETE FROM push WHERE id = %s", [id])
    elif status == "410":
        # The app is gone, unless it has given this token again since.
        await db.execute("DELETE FROM push WHERE id = %s", [id])
        await db.execute(
            "UPDATE device SET token = NULL WHERE id = %s AND token_since < to_timestamp(%s / 1000.0)",
            [device, timestamp or time.time() * 1000],
        )
    elif status in ("403", "429", "500", "503") or (status == "0" and attempts < MOST_UNANSWERED):
        # Later, and ever more seldom. 403 is this server's own fault, such as a revoked key: somebody mends it.
        wait = 900 * attempts if status in ("500", "503") else min(2 ** min(attempts, 10), 600)
        await db.execute("UPDATE push SET due = now() + make_interval(secs => %s) WHERE id = %s", [wait, id])
        log.warning("push %d waits %d seconds: %s %s", id, wait, status, reason)
    else:
        await db.execute("UPDATE push SET refused = %s WHERE id = %s", [reason or status, id])
        if reason in ("BadDeviceToken", "DeviceTokenNotForTopic"):
            await db.execute("UPDATE device SET token = NULL WHERE id = %s", [device])
        log.error("push %d is refused: %s", id, reason)


async def _send(apns: APNs, token: str | None, payload: bytes, headers: dict[str, str]):
    """Apple's status, reason and timestamp; status 0 where there was no answer."""
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
        # aioapns itself waits for ever, such as for a stream after Apple has lowered their number.
        result = await asyncio.wait_for(apns.send_notification(request), LEASE / 2)
    except Exception as error:
        # Whatever this is about, the others' are sent. Only a connection that is silent is given up.
        if isinstance(error, TimeoutError):
            apns.pool.close()
        return "0", type(error).__name__, None
    return result.status, result.description, result.timestamp


def _client(environment: str) -> APNs:
    """Apple's, or the local one of `device-simulator apns --folder FOLDER`, where LOCAL_APNS names FOLDER/address.json."""
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
    # One connection: aioapns makes a provider token for each, and Apple wants few of them.
    return APNs(
        key=Path(key).read_text(), key_id=key_id, team_id=team_id, topic=os.environ.get("TOPIC", "com.example.app"),
        max_connections=1, ssl_context=context, use_sandbox=environment == "sandbox",
    )  # fmt: skip
