"""Stores devices in PostgreSQL through psycopg 3, for a PhoneRouter.

`python -m sealed_push.postgres` prints the schema, for psql.
"""

import hashlib
import re
from collections.abc import Generator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, LiteralString

from .errors import SettingError
from .router import Entry, Found

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool, ConnectionPool

_COLUMNS: LiteralString = "SELECT account, state, token, environment, registered FROM sealed_push_device "
_SAVE: LiteralString = """
INSERT INTO sealed_push_device AS known (account, enrollment, state, proven, token, environment, registered)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (account, enrollment) DO UPDATE SET state = excluded.state, proven = excluded.proven, token = excluded.token,
    environment = excluded.environment, registered = excluded.registered,
    token_refused = CASE WHEN known.registered = excluded.registered THEN known.token_refused END,
    token_accepted = known.token_accepted AND (known.token, known.environment)
        IS NOT DISTINCT FROM (excluded.token, excluded.environment)
"""
_USABLE: LiteralString = "WHERE account = %s AND proven AND token IS NOT NULL AND token_refused IS NULL ORDER BY id"

# Statements to execute, whose rows are sent back.
_Steps = Generator[tuple[LiteralString, Sequence[Any]], list[Any], Any]


def schema() -> str:
    """Returns the statements that create the table `sealed_push_device`, unless it exists."""
    return resources.files(__package__).joinpath("postgres.sql").read_text("utf-8")


def address(text: str) -> str:
    """Returns a database's address if it is well-formed. Otherwise, errors of psycopg and libpq may repeat its password.

    Raises SettingError.
    """
    import psycopg.conninfo

    try:
        parts = psycopg.conninfo.conninfo_to_dict(text)
    except psycopg.ProgrammingError:
        raise SettingError("database") from None
    if "@" in str(parts.get("host", "")) or not re.fullmatch("[0-9,]*", str(parts.get("port", ""))):
        raise SettingError("database")
    return text


class PostgresStore:
    """The devices of all accounts, in the table `sealed_push_device`. Thread-safe; any number of processes can share it."""

    def __init__(self, pool: "ConnectionPool[Any]") -> None:
        self._pool = pool

    def load(self, enrollment: str, account: str | None) -> Found:
        """For PhoneRouter."""
        found: Found = self._run(_finding(enrollment, account))
        return found

    def save(self, enrollment: str, account: str | None, found: Found, entries: tuple[Entry, ...]) -> bool:
        """For PhoneRouter."""
        saved: bool = self._run(_saving(enrollment, account, found, entries))
        return saved

    def devices(self, account: str) -> list[Entry]:
        """Returns the account's devices that messages can be sealed and sent to."""
        devices: list[Entry] = self._run(_listing(account))
        return devices

    def _run(self, steps: _Steps) -> Any:
        with self._pool.connection() as db, db.transaction():
            try:
                step = next(steps)
                while True:
                    done = db.execute(*step)
                    step = steps.send(done.fetchall() if done.description else [])
            except StopIteration as end:
                return end.value


class AsyncPostgresStore:
    """A PostgresStore for asyncio."""

    def __init__(self, pool: "AsyncConnectionPool[Any]") -> None:
        self._pool = pool

    async def load(self, enrollment: str, account: str | None) -> Found:
        """For PhoneRouter."""
        found: Found = await self._run(_finding(enrollment, account))
        return found

    async def save(self, enrollment: str, account: str | None, found: Found, entries: tuple[Entry, ...]) -> bool:
        """For PhoneRouter."""
        saved: bool = await self._run(_saving(enrollment, account, found, entries))
        return saved

    async def devices(self, account: str) -> list[Entry]:
        """Returns the account's devices that messages can be sealed and sent to."""
        devices: list[Entry] = await self._run(_listing(account))
        return devices

    async def _run(self, steps: _Steps) -> Any:
        async with self._pool.connection() as db, db.transaction():
            try:
                step = next(steps)
                while True:
                    done = await db.execute(*step)
                    step = steps.send(await done.fetchall() if done.description else [])
            except StopIteration as end:
                return end.value


def _finding(enrollment: str, account: str | None, lock: LiteralString = "") -> _Steps:
    rows = yield _COLUMNS + "WHERE enrollment = %s" + lock, [enrollment]
    others = yield "SELECT count(*) FROM sealed_push_device WHERE account = %s AND enrollment <> %s", [account, enrollment]
    return Found(tuple(Entry(*row) for row in rows), others[0][0])


def _saving(enrollment: str, account: str | None, found: Found, entries: tuple[Entry, ...]) -> _Steps:
    from psycopg.types.json import Jsonb

    # Each statement sees what was committed before it, also what was committed while it waited for a lock.
    yield "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", []
    # One request at a time for a phone, and for an account, even before they have rows. Sorted, so that none deadlock.
    locks = [_lock("enrollment", enrollment)] + ([] if account is None else [_lock("account", account)])
    for lock in sorted(locks):
        yield "SELECT pg_advisory_xact_lock(%s)", [lock]
    if (yield from _finding(enrollment, account, " FOR UPDATE")) != found:
        return False
    kept = [each.account for each in entries]
    yield "DELETE FROM sealed_push_device WHERE enrollment = %s AND account <> ALL(%s)", [enrollment, kept]
    for each in entries:
        if each in found.entries:
            continue
        if each.is_proven:
            # From before the app was deleted and installed again.
            place = [each.account, each.token, enrollment]
            yield "DELETE FROM sealed_push_device WHERE account = %s AND token = %s AND enrollment <> %s", place
        row = [each.account, enrollment, Jsonb(each.state), each.is_proven]
        yield _SAVE, [*row, each.token, each.environment, each.registered_milliseconds]
    return True


def _listing(account: str) -> _Steps:
    rows = yield _COLUMNS + _USABLE, [account]
    return [Entry(*row) for row in rows]


def _lock(kind: str, name: str) -> int:
    data = f"sealed_push {kind} {name}".encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)


if __name__ == "__main__":
    print(schema(), end="")
