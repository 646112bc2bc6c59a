#!/usr/bin/env python3
"""Makes, reads, and checks receipts, as another device or server does.

Takes a file of `name: value` lines, with the names of Tests/Vectors/Receipts, and prints lines in the same form.
"""

import json
import pathlib
import sys

import client  # noqa: F401
from sealed_push import SealedPushError
from sealed_push.protocol import key_text
from sealed_push.protocol.receipts import check, make, read_request, server_key

REFUSED = 65


def read_lines(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def senders_of(values):
    names = [name for name in values if name.rstrip("0123456789") == "sender-secret"]
    return [server_key(key_text.decode(key_text.SENDER_SECRET, values[name]), values["topic"]) for name in names]


def counts_text(counts):
    return " ".join(f"{index}={count}" for index, count in sorted(counts.items()))


def outcome_of(values):
    if "receipt" in values:
        return "reads" if read_request(json.loads(values["receipt"])) else "unreadable"
    try:
        check(bytes.fromhex(values["body"]), senders_of(values), int(values["now"]))
    except SealedPushError as error:
        return error.code
    return "taken"


def read(values):
    said = check(bytes.fromhex(values["body"]), senders_of(values), int(values["now"]))
    said["counts"] = counts_text(said["counts"])
    return said


def make_lines(values):
    """Makes a receipt, as a device does, from the request in a message."""
    _, id, key = read_request(json.loads(values["receipt"]))
    counts = {int(pair.split("=")[0]): int(pair.split("=")[1]) for pair in values["counts"].split()}
    body = make(key, id, values["message"], int(values["created"]), int(values["elapsed"]), counts)
    return {"body": body}


def check_vectors(folder):
    paths = sorted(pathlib.Path(folder).glob("*.txt"))
    wrong = 0
    for path in paths:
        values = read_lines(path)
        if outcome_of(values) != values["outcome"]:
            wrong += 1
            print(f"{path.name}: {outcome_of(values)}", file=sys.stderr)
    print(f"{len(paths)} vectors, {wrong} wrong")
    return 1 if wrong or not paths else 0


def main():
    command, path = sys.argv[1:]
    if command == "check-vectors":
        return check_vectors(path)
    try:
        for name, value in {"read": read, "make": make_lines}[command](read_lines(path)).items():
            print(f"{name}: {value.hex() if isinstance(value, bytes) else value}")
    except SealedPushError as error:
        print(error.code, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
