#!/usr/bin/env python3
"""Makes, reads and checks receipts, as another device or server would.

The numbers in the comments, such as 16.2, are paragraphs of Docs/Specification.md. Nothing but Python's own library is needed
beside key_text.py. Takes a file of `name: value` lines, in the names of Tests/Vectors/Receipts, and prints lines of the same form.
"""

import base64
import hashlib
import hmac
import json
import pathlib
import re
import struct
import sys

sys.dont_write_bytecode = True

import key_text  # noqa: E402

REFUSED = 65
LENGTH = 128
MAC = 32
REASONS = (
    "malformed unknown-recipient locked keys-unavailable unknown-sender anonymous-not-allowed rejected malformed-content "
    "topic key-retired clock too-old expired replayed ledger-unavailable out-of-time"
).split()
COUNTS = 25
LATEST = 253402300799
MAXIMUM_AGE, MAXIMUM_LEAD = 604800, 93600


class Refused(Exception):
    """Checking ended with a code of 16.5."""


def blake2b(key, message, length):
    return hashlib.blake2b(message, digest_size=length, key=key).digest()


def hkdf(secret, info):
    """One block of HKDF-SHA256 without salt."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def server_key(sender_secret):
    """16.4"""
    return hkdf(sender_secret, b"sealedpush/v1 receipts")


def device_id(server, recipient):
    return blake2b(server, b"id\0" + recipient, 16)


def device_key(server, id):
    return blake2b(server, b"key\0" + id, 32)


def number_of(key, message):
    return blake2b(key, b"sealedpush/v1 receipt number\0" + message.encode(), 16)


def mac_of(key, body):
    return blake2b(key, b"sealedpush/v1 receipt\0" + body, MAC)


def unsigned(id, number, created, elapsed, counts, version=1, outcome=1):
    """16.2, bytes 0 to 95. `counts` is by number of the reason, from 1."""
    fields = [min(counts.get(index, 0), 0xFFFF) for index in range(1, COUNTS + 1)]
    head = bytes([version]) + id + number + struct.pack(">QBI", created, outcome, min(elapsed, 0xFFFFFFFF))
    return head + struct.pack(f">{COUNTS}H", *fields)


def make(key, id, message, created, elapsed, counts):
    body = unsigned(id, number_of(key, message), created, elapsed, counts)
    return body + mac_of(key, body)


def check(body, senders, now):
    """16.5: what the receipt says, by name."""
    if len(body) != LENGTH:
        raise Refused("wrong-size")
    if body[0] != 1:
        raise Refused("unknown-version")
    id = body[1:17]
    keys = [device_key(server_key(secret), id) for secret in senders[:16]]
    if not any(hmac.compare_digest(mac_of(key, body[:-MAC]), body[-MAC:]) for key in keys):
        raise Refused("rejected")
    created, outcome, elapsed = struct.unpack(">QBI", body[33:46])
    if created > LATEST or outcome != 1:
        raise Refused("malformed")
    if now - created > MAXIMUM_AGE:
        raise Refused("too-old")
    if created - now > MAXIMUM_LEAD:
        raise Refused("clock")
    found = struct.unpack(f">{COUNTS}H", body[46:96])
    counts = {index: count for index, count in enumerate(found, 1) if count}
    return {"id": id, "number": body[17:33], "created": created, "elapsed": elapsed, "counts": counts}


# The request, 16.1

ADDRESS = re.compile(
    r"""(?: https:// (?: [A-Za-z0-9.-]+ | \[[A-Za-z0-9.:]+\] )
          | http:// (?: (?i:localhost) | 127\.0\.0\.1 | \[::1\] ) )
        (?: : ([1-9][0-9]{0,4}) )?
        (?: [/?] [!$%&'()*+,\-./0-9:;=?A-Z\[\]_a-z~]* )?""",
    re.VERBOSE,
)


def is_address(text):
    match = isinstance(text, str) and len(text) <= 256 and ADDRESS.fullmatch(text)
    return bool(match) and int(match[1] or 1) <= 65535


def decoded(text, length):
    """base64url as in 2.4, or None."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    same = base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text
    return data if same and len(data) == length else None


def read_request(value):
    """The address, id and key, or None where the value breaks a rule."""
    if not isinstance(value, dict) or not is_address(value.get("url")):
        return None
    id, key = decoded(value.get("id"), 16), decoded(value.get("key"), 32)
    return None if id is None or key is None else (value["url"], id, key)


# Vectors


def read_lines(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def senders_of(values):
    names = [name for name in values if name.rstrip("0123456789") == "sender-secret"]
    return [key_text.decode(key_text.SENDER_SECRET, values[name]) for name in names]


def counts_text(counts):
    return " ".join(f"{index}={count}" for index, count in sorted(counts.items()))


def outcome_of(values):
    if "receipt" in values:
        return "reads" if read_request(json.loads(values["receipt"])) else "unreadable"
    try:
        check(bytes.fromhex(values["body"]), senders_of(values), int(values["now"]))
    except Refused as error:
        return str(error)
    return "taken"


def read(values):
    said = check(bytes.fromhex(values["body"]), senders_of(values), int(values["now"]))
    said["counts"] = counts_text(said["counts"])
    return said


def make_lines(values):
    """As a device: from what a message says about receipts."""
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
    except Refused as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
