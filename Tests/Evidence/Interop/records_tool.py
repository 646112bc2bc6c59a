#!/usr/bin/env python3
"""Signs and reads records, and makes and answers challenges, as another implementation does.

Takes a file of `name: value` lines, with the names of Tests/Vectors/Records, and prints lines in the same form. If
refused, it prints the code and exits with status 65.
"""

import pathlib
import sys

from interop import REFUSED, keys_of, read_vector
from sealed_push import SealedPushError
from sealed_push.protocol import key_text, records

# For each kind of record: its type, and the kinds of its keys, of its signer, and of its signer's secret.
KINDS = {
    "device": (records.DEVICE, key_text.RECIPIENT, key_text.ENROLLMENT, key_text.ENROLLMENT_SECRET),
    "senders": (records.SENDERS, key_text.SENDER, key_text.AUTHORITY, key_text.AUTHORITY_SECRET),
}


def lines_of_record(kind, record):
    _, key_kind, signer_kind, _ = KINDS[kind]
    values = {
        "signer": key_text.encode(signer_kind, record.signer),
        "counter": record.counter,
        "created": record.created,
        "expires": record.expires,
        "keeps": record.keeps,
        "topic": record.topic,
    }
    text_of = key_text.recipient_text if kind == "device" else lambda key: key_text.encode(key_kind, key)
    for index, key in enumerate(record.keys, 1):
        values["key" + (str(index) if index > 1 else "")] = text_of(key)
    return values


def sign(values):
    type, key_kind, _, secret_kind = KINDS[values["kind"]]
    secret = key_text.decode(secret_kind, values["signer-secret"])
    numbers = [int(values[name]) for name in ("counter", "created", "expires")]
    keys = keys_of(values, "key", key_kind)
    keeps = int(values["keeps"]) if "keeps" in values else None
    return {"record": records.sign_record(type, secret, *numbers, values["topic"], keys, keeps)}


def read(values):
    return lines_of_record(values["kind"], records.read_record(KINDS[values["kind"]][0], values["record"]))


def ask(values):
    text, answer = records.make_challenge(
        key_text.decode(key_text.SENDER_SECRET, values["sender-secret"]),
        key_text.decode(key_text.RECIPIENT, values["recipient"]),
        key_text.decode(key_text.ENROLLMENT, values["asked-enrollment"]),
        values["topic"],
    )
    return {"challenge": text, "answer": answer}


def answer(values):
    text = records.answer_challenge(
        values["challenge"],
        keys_of(values, "identity", key_text.IDENTITY),
        keys_of(values, "sender", key_text.SENDER),
        values["topic"],
        key_text.decode(key_text.ENROLLMENT, values["enrollment"]),
    )
    return {"answer": text}


def outcome_of(vector):
    """Returns the outcome of a case of Tests/Vectors/Records."""
    try:
        if vector["kind"] == "challenge":
            return "answered", answer(vector)["answer"]
        type, _, signer_kind, _ = KINDS[vector["kind"]]
        known = records.read_record(type, vector["known"]) if "known" in vector else None
        record = records.read_record(type, vector["record"])
        pinned = key_text.decode(signer_kind, vector["pinned"])
        records.check_record(record, pinned, vector["topic"], known, int(vector["now"]))
        return "accepted", None
    except SealedPushError as error:
        return error.code, None


def main():
    command, path = sys.argv[1:]
    run = {"sign": sign, "read": read, "ask": ask, "answer": answer}[command]
    try:
        for name, value in run(read_vector(pathlib.Path(path))).items():
            print(f"{name}: {value}")
        return 0
    except SealedPushError as error:
        print(error.code, file=sys.stderr)
    except (OSError, ValueError, KeyError) as error:
        print("error:", error, file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
