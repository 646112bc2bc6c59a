#!/usr/bin/env python3
"""Writes the test vectors for receipts into Tests/Vectors/Receipts. Each run writes the same files."""

import base64
import json
import pathlib
import textwrap

import receipts as tool
import url_cases
from make_vectors import IDENTITY, SENDER, STRANGER, TOPIC
from sealed_push.protocol import key_text, receipts
from sealed_push.protocol.hpke import public_key
from sealed_push.protocol.receipts import device_id, device_key, mac_of, number_of, server_key, unsigned

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Vectors" / "Receipts"
NOW = 1760000003
MESSAGE = "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09"
SERVER = server_key(SENDER, TOPIC)
PHONE = public_key(IDENTITY)
ID = device_id(SERVER, PHONE)
KEY = device_key(SERVER, ID)
NUMBER = number_of(KEY, MESSAGE)
URL = "https://push.example.com/receipts"


def write(name, sentence, values):
    lines = ["# " + line for line in textwrap.wrap(sentence, 100)]
    for key, value in values.items():
        lines.append(f"{key}: {value.hex() if isinstance(value, bytes) else value}")
    path = FOLDER / (name + ".txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = tool.outcome_of(tool.read_lines(path))
    if found != values["outcome"]:
        raise ValueError(f"{name}: {found}")


def text(secret):
    return key_text.encode(key_text.SENDER_SECRET, secret)


def body(name, sentence, outcome, data, senders=(SENDER,), now=NOW, **more):
    names = ["sender-secret" + (str(index) if index > 1 else "") for index in range(1, len(senders) + 1)]
    values = dict(zip(names, map(text, senders)))
    write(name, sentence, {**values, "topic": TOPIC, "now": now, "body": data, "outcome": outcome, **more})


def taken(name, sentence, created=NOW - 2, elapsed=412, counts=None, senders=(SENDER,), now=NOW):
    counts = counts or {}
    data = receipts.make(KEY, ID, MESSAGE, created, elapsed, counts)
    body(
        name, sentence, "taken", data, senders, now, **{"recipient": key_text.encode(key_text.RECIPIENT, PHONE)},
        **{"server-key": SERVER, "id": ID, "key": KEY, "message": MESSAGE, "number": NUMBER},
        **{"created": created, "elapsed": elapsed, "counts": tool.counts_text(counts), "mac": data[-32:]},
    )


def signed(data):
    return data + mac_of(KEY, data)


def write_bodies():
    taken("taken", "A message that was shown, and nothing that failed before it.")
    taken("taken-counts", "Five pushes did not open before it.", counts={2: 3, 7: 1, 16: 1})
    taken("taken-full-counts", "Every count as high as it goes.", counts={index: 65535 for index in range(1, 18)})
    taken("taken-later-reasons", "Counts of reasons that a later version knows.", counts={1: 1, 18: 2, 25: 3})
    taken("taken-last-known-reason", "A suite that the device does not know.", counts={17: 4})
    taken("taken-slow", "So slow that the milliseconds do not fit.", elapsed=0xFFFFFFFF)
    taken("taken-at-once", "In no time.", elapsed=0)
    taken("taken-oldest", "Made seven days ago, to the second.", created=NOW - 604800)
    taken("taken-ahead", "Made 26 hours ahead, to the second.", created=NOW + 93600)
    taken("taken-time-zero", "At the beginning of Unix time.", created=0, now=604800)
    taken("taken-second-sender", "The key comes from the second sender's.", senders=(STRANGER, SENDER))
    many = (STRANGER,) * 15
    taken("taken-sixteenth-sender", "The key comes from the sixteenth sender's.", senders=(*many, SENDER))
    good = receipts.make(KEY, ID, MESSAGE, NOW - 2, 412, {2: 3})
    for length in (0, 1, 96, 127):
        body(f"wrong-size-{length}", f"Cut to {length} bytes.", "wrong-size", good[:length])
    body("wrong-size-129", "A byte too many.", "wrong-size", good + b"\0")
    for version in (0, 2, 255):
        data = unsigned(ID, NUMBER, NOW, 412, {}, version=version)
        body(f"unknown-version-{version}", "Another version, with a MAC that holds.", "unknown-version", signed(data))
    places = {"id": 1, "number": 17, "created": 40, "outcome": 41, "elapsed": 45, "count": 49, "mac": 127, "mac-first": 96}
    for name, place in places.items():
        flipped = bytearray(good)
        flipped[place] ^= 1
        body(f"rejected-{name}", "One bit is flipped, and nothing is looked at.", "rejected", bytes(flipped))
    body("rejected-stranger", "Of a sender that is not the receiver's.", "rejected", good, senders=(STRANGER,))
    body("rejected-seventeenth-sender", "Only the seventeenth sender would take it.", "rejected", good,
         senders=(*many, STRANGER, SENDER))  # fmt: skip
    body("rejected-nobody", "The receiver has no sender.", "rejected", good, senders=())
    other = device_key(SERVER, bytes(16))
    data = unsigned(ID, NUMBER, NOW, 412, {})
    body("rejected-other-device", "Another device's key.", "rejected", data + mac_of(other, data))
    plain = receipts.blake2b(KEY, data, 32)
    body("rejected-no-label", "The MAC leaves out the label.", "rejected", data + plain)
    body("rejected-zero-mac", "A MAC of zeros.", "rejected", data + bytes(32))
    for outcome in (0, 2):
        data = unsigned(ID, NUMBER, NOW, 412, {}, outcome=outcome)
        body(f"malformed-outcome-{outcome}", "An outcome that there is not.", "malformed", signed(data))
    for name, created in (("late", receipts.LATEST + 1), ("huge", 2**64 - 1), ("sign", 2**63)):
        data = unsigned(ID, NUMBER, created, 412, {})
        body(f"malformed-time-{name}", "A time after the year 9999.", "malformed", signed(data))
    data = signed(unsigned(ID, NUMBER, NOW - 604801, 412, {}))
    body("too-old", "A second more than seven days.", "too-old", data)
    data = signed(unsigned(ID, NUMBER, NOW + 93601, 412, {}))
    body("clock", "A second more than 26 hours ahead.", "clock", data)
    data = signed(unsigned(ID, NUMBER, receipts.LATEST, 412, {}))
    body("clock-latest", "The last moment that there is.", "clock", data)


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def request(name, sentence, outcome, value=None, **changes):
    good = {"url": URL, "id": encoded(ID), "key": encoded(KEY)}
    value = {**good, **changes} if value is None else value
    value = {key: item for key, item in value.items() if item is not ...} if isinstance(value, dict) else value
    write(name, sentence, {"receipt": json.dumps(value, ensure_ascii=False), "outcome": outcome})


def write_requests():
    request("reads", "What a message says about receipts.", "reads")
    request("reads-more", "A member of a later version.", "reads", later={"a": [1]})
    for is_good, name, sentence, url in url_cases.cases(receipts.LONGEST_URL):
        outcome = "reads" if is_good else "unreadable"
        request(f"{outcome}-url-{name}", sentence, outcome, url=url)
    for name in ("url", "id", "key"):
        request(f"unreadable-no-{name}", f"Without {name}.", "unreadable", **{name: ...})
        for kind, value in (("null", None), ("number", 1), ("empty", ""), ("array", [])):
            request(f"unreadable-{name}-{kind}", f"{name} of a wrong kind.", "unreadable", **{name: value})
    for name, data in (("id", ID), ("key", KEY)):
        request(f"unreadable-{name}-short", "A byte too few.", "unreadable", **{name: encoded(data[:-1])})
        request(f"unreadable-{name}-long", "A byte too many.", "unreadable", **{name: encoded(data + b"x")})
        request(f"unreadable-{name}-padded", "Padding.", "unreadable", **{name: encoded(data) + "="})
        last = encoded(data)[:-1] + "_"
        request(f"unreadable-{name}-bits", "Bits that are not zero at the end.", "unreadable", **{name: last})
    for kind, value in (("null", None), ("text", "r"), ("array", []), ("empty", {})):
        name, sentence = f"unreadable-{kind}", "No request at all."
        write(name, sentence, {"receipt": json.dumps(value), "outcome": "unreadable"})


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    write_bodies()
    write_requests()
