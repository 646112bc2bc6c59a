"""Stores a chat message and enqueues its pushes in one transaction; `sealedpush work` sends them.

Usage: chat.py READER ID TEXT
Set DATABASE_URL and SENDER_SECRET in the environment, and OUTBOX_KEY_FILE if the outbox has a key.
"""

import json
import os
import pathlib
import sys

import psycopg
import sealed_push
import sealed_push.postgres


def post(db, sender, reader, id, text, outbox_key=None):
    """Returns the result of the push to each of the reader's phones."""
    became = {}
    with db.transaction():
        db.execute("INSERT INTO message(id, reader, body) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", [id, reader, text])
        # Use the same order everywhere, so that transactions can't deadlock.
        for name, state in db.execute("SELECT name, state FROM phone WHERE account = %s ORDER BY name", [reader]).fetchall():
            try:
                push = sender.seal({"alert": {"title": "Nina", "body": text}}, sealed_push.Device.from_dict(state))
            except sealed_push.RecordError as error:
                # Store the message anyway.
                became[name] = error.code
                continue
            arguments = sealed_push.enqueue_arguments(push, name, key=f"message {id} to {name}", outbox_key=outbox_key)
            became[name] = db.execute(sealed_push.ENQUEUE, arguments).fetchone()[0]
    return became


def main():
    reader, id, text = sys.argv[1:]
    try:
        (reader + text).encode()
    except UnicodeEncodeError:
        sys.exit("the arguments must be in UTF-8")
    try:
        address = sealed_push.postgres.address(os.environ["DATABASE_URL"])
    except sealed_push.SettingError as error:
        sys.exit(f"DATABASE_URL: {error}")
    sender = sealed_push.Sender(os.environ["SENDER_SECRET"], topic="com.example.app")
    key_file = os.environ.get("OUTBOX_KEY_FILE")
    key = sealed_push.OutboxKey(pathlib.Path(key_file).read_text("utf-8", "replace")) if key_file else None
    with psycopg.connect(address, connect_timeout=10) as db:
        print(json.dumps(post(db, sender, reader, int(id), text, key)))


if __name__ == "__main__":
    main()
