#!/usr/bin/env python3
"""Seals and opens Sealed Push payloads, as a sender or receiver in another language would."""

import argparse
import json
import pathlib
import sys
import time

import client  # noqa: F401
from sealed_push import SealedPushError
from sealed_push.protocol import envelope, hpke, key_text, opening
from sealed_push.protocol.hpke import ANONYMOUS, AUTHENTICATED, Context

REFUSED = 65


def read_secret(path, kind):
    """The secret of a keyring's private file: lines `kind: ...`, `created: ...`, `secret: PUSH-...`."""
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "secret":
            return key_text.decode(kind, value.strip())
    raise ValueError("no secret in the file")


def read_bytes(path):
    return sys.stdin.buffer.read() if path == "-" else pathlib.Path(path).read_bytes()


def contents(arguments):
    """As many contents as asked for, each with the keys that the file leaves out."""
    given = json.loads(read_bytes(arguments.content))
    for _ in range(arguments.count):
        yield envelope.complete(given, arguments.topic)


def seal_authenticated(arguments):
    sender = read_secret(arguments.sender_secret_file, key_text.SENDER_SECRET)
    recipient = key_text.decode(key_text.RECIPIENT, arguments.recipient)
    context = Context.to_seal(sender, recipient, arguments.topic)
    for content in contents(arguments):
        plaintext = envelope.make_plaintext(content, AUTHENTICATED, arguments.padding)
        print(envelope.payload(context.seal(plaintext)).decode())


def seal_anonymous(arguments):
    recipient = key_text.decode(key_text.RECIPIENT, arguments.recipient)
    for content in contents(arguments):
        plaintext = envelope.make_plaintext(content, ANONYMOUS, arguments.padding)
        print(envelope.payload(hpke.seal_anonymous(recipient, plaintext)).decode())


def open_file(arguments):
    data, _, _ = opening.open_payload(
        read_bytes(arguments.file),
        [read_secret(path, key_text.IDENTITY) for path in arguments.identity_file],
        [key_text.decode(key_text.SENDER, text) for text in arguments.sender],
        arguments.topic,
        int(time.time()) if arguments.now is None else arguments.now,
        arguments.allow_anonymous,
    )
    print(data.decode())


def identifiers(arguments):
    seed = read_secret(arguments.sender_secret_file, key_text.SENDER_SECRET)
    key = envelope.header_key(seed, arguments.topic)
    recipient = key_text.decode(key_text.RECIPIENT, arguments.recipient)
    string = arguments.collapse or arguments.message_id
    print("apns-collapse-id:", envelope.collapse_id(key, recipient, string))
    print("apns-id:", envelope.apns_id(key, recipient, arguments.message_id))


def read_vector(path):
    """The values of a vector. A name may stand with a number after it: identity, identity2, ..."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def keys_of(vector, name, kind):
    read = {key_text.IDENTITY: hpke.read_identity, key_text.RECIPIENT: key_text.recipient}.get(
        kind, lambda text: key_text.decode(kind, text)
    )
    return [read(vector[each]) for each in vector if each.rstrip("0123456789") == name]


def outcome_of(vector):
    arguments = (
        keys_of(vector, "identity", key_text.IDENTITY),
        keys_of(vector, "sender", key_text.SENDER),
        vector["topic"],
        int(vector["now"]),
        vector["allow-anonymous"] == "yes",
    )
    try:
        if "payload" in vector:
            data, _, _ = opening.open_payload(vector["payload"].encode(), *arguments)
        else:
            data, _, _ = opening.open_field(vector["field"], *arguments)
    except SealedPushError as error:
        return error.code, None
    return "opened", data.decode()


def check_vectors(arguments):
    paths = sorted(pathlib.Path(arguments.folder).glob("*.txt"))
    wrong = 0
    for path in paths:
        vector = read_vector(path)
        found = outcome_of(vector)
        if found != (vector["outcome"], vector.get("content")):
            wrong += 1
            print(f"{path.name}: {found[0]}, not as written", file=sys.stderr)
    print(f"{len(paths)} vectors, {wrong} wrong")
    return 1 if wrong or not paths else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)

    def add(name, run, text):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    def add_sealing(command):
        command.add_argument("--recipient", required=True, metavar="push1...")
        command.add_argument("--topic", required=True)
        command.add_argument("--content", required=True, help="a file with content JSON; - for standard input")
        command.add_argument("--count", type=int, default=1, choices=range(1, 1025), metavar="N")
        command.add_argument("--padding", choices=("buckets", "none", "full"), default="buckets")

    command = add("seal-authenticated", seal_authenticated, "prints payloads of one context")
    command.add_argument("--sender-secret-file", required=True)
    add_sealing(command)

    add_sealing(add("seal-anonymous", seal_anonymous, "prints anonymous payloads"))

    command = add("open", open_file, "prints the content; a refusal ends with status 65 and its code")
    command.add_argument("--identity-file", required=True, action="append")
    command.add_argument("--sender", action="append", default=[], metavar="pushsender1...")
    command.add_argument("--topic", required=True)
    command.add_argument("--allow-anonymous", action="store_true")
    command.add_argument("--now", type=int, help="Unix seconds instead of the clock")
    command.add_argument("file", help="a payload; - for standard input")

    command = add("identifiers", identifiers, "prints the two identifiers of a push")
    command.add_argument("--sender-secret-file", required=True)
    command.add_argument("--recipient", required=True, metavar="push1...")
    command.add_argument("--topic", required=True)
    command.add_argument("--message-id", required=True)
    command.add_argument("--collapse", help="the app's collapse string")

    command = add("check-vectors", check_vectors, "opens every vector of a folder")
    command.add_argument("folder")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        return arguments.run(arguments)
    except SealedPushError as error:
        print(error.code, file=sys.stderr)
    except (OSError, ValueError) as error:
        print("error:", error, file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
