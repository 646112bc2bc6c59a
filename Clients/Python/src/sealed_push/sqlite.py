"""Stores devices in a file of SQLite, for a PhoneRouter."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from typing import Any

from .router import Entry, Found

SCHEMA = """
CREATE TABLE IF NOT EXISTS sealed_push_device (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    enrollment TEXT NOT NULL,
    state TEXT NOT NULL,
    proven INTEGER NOT NULL,
    -- Becomes part of a URL path.
    token TEXT CHECK (token NOT GLOB '*[^0-9A-Fa-f]*' AND length(token) BETWEEN 2 AND 200),
    environment TEXT NOT NULL CHECK (environment IN ('production', 'sandbox')),
    registered INTEGER NOT NULL,
    -- Apple's reason if it has refused the token. Cleared when the app sends its token again.
    token_refused TEXT,
    UNIQUE (account, enrollment)
) STRICT;
CREATE INDEX IF NOT EXISTS sealed_push_device_enrollment ON sealed_push_device (enrollment);
-- A key can be proven for only one account (Specification 11.5.8).
CREATE UNIQUE INDEX IF NOT EXISTS sealed_push_device_proven ON sealed_push_device (enrollment) WHERE proven;
"""
_COLUMNS = "SELECT account, state, token, environment, registered FROM sealed_push_device "
_SAVE = """
INSERT INTO sealed_push_device (account, enrollment, state, proven, token, environment, registered)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (account, enrollment) DO UPDATE SET state = excluded.state, proven = excluded.proven, token = excluded.token,
    environment = excluded.environment, registered = excluded.registered,
    token_refused = CASE WHEN registered = excluded.registered THEN token_refused END
"""


class SQLiteStore:
    """The devices of all accounts, in the table `sealed_push_device` of a file. Threads and processes can share the file.

    A call opens its own connection, which takes about 0.5 ms, and waits up to 5 seconds for other writers.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Creates the file and the table if they don't exist. Raises sqlite3.Error."""
        self._path = os.fspath(path)
        with self._connection() as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)

    def load(self, enrollment: str, account: str | None) -> Found:
        """For PhoneRouter."""
        with self._connection() as db:
            db.execute("BEGIN")
            return _found(db, enrollment, account)

    def save(self, enrollment: str, account: str | None, found: Found, entries: tuple[Entry, ...]) -> bool:
        """For PhoneRouter."""
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            if _found(db, enrollment, account) != found:
                return False
            kept = {each.account for each in entries}
            for each in found.entries:
                if each.account not in kept:
                    db.execute("DELETE FROM sealed_push_device WHERE account = ? AND enrollment = ?", [each.account, enrollment])
            for each in entries:
                if each in found.entries:
                    continue
                if each.is_proven:
                    # From before the app was deleted and installed again.
                    other = "DELETE FROM sealed_push_device WHERE account = ? AND token = ? AND enrollment <> ?"
                    db.execute(other, [each.account, each.token, enrollment])
                row = [each.account, enrollment, json.dumps(each.state), each.is_proven]
                db.execute(_SAVE, [*row, each.token, each.environment, each.registered_milliseconds])
            db.execute("COMMIT")
            return True

    def devices(self, account: str) -> list[Entry]:
        """Returns the account's devices that messages can be sealed and sent to."""
        usable = "WHERE account = ? AND proven AND token IS NOT NULL AND token_refused IS NULL ORDER BY id"
        with self._connection() as db:
            return [_entry(*row) for row in db.execute(_COLUMNS + usable, [account])]

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Opens the file. Closing rolls back a transaction that isn't committed."""
        with contextlib.closing(sqlite3.connect(self._path, timeout=5, isolation_level=None)) as db:
            db.execute("PRAGMA foreign_keys = ON")
            yield db


def _found(db: sqlite3.Connection, enrollment: str, account: str | None) -> Found:
    rows = db.execute(_COLUMNS + "WHERE enrollment = ?", [enrollment]).fetchall()
    others = "SELECT count(*) FROM sealed_push_device WHERE account = ? AND enrollment <> ?"
    return Found(tuple(_entry(*row) for row in rows), db.execute(others, [account, enrollment]).fetchone()[0])


def _entry(account: str, state: str, token: str | None, environment: Any, registered: int) -> Entry:
    return Entry(account, json.loads(state), token, environment, registered)
