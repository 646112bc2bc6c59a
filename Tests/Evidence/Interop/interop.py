#!/usr/bin/env python3
"""Seals and opens payloads, as a sender or a receiver in another language does."""

import argparse
import json
import pathlib
import sys

import client  # noqa: F401
from sealed_push import SealedPushError
from sealed_push.protocol import envelope, hpke, key_text
from sealed_push.protocol.hpke import ANONYMOUS, AUTHENTICATED, Context
from sealed_push.testing import Phone

REFUSED = 65


def read_secret(path):
    """Returns the secret in a keyring's private file, which has lines `kind: ...`, `created: ...`, `secret: PUSH-...`."""
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "secret":
            return value.strip()
    raise ValueError("no secret in the file")


def read_bytes(path):
    return sys.stdin.buffer.read() if path == "-" else pathlib.Path(path).read_bytes()


def contents(arguments):
    """Yields the requested number of contents, each with the missing members filled in."""
    given = json.loads(read_bytes(arguments.content))
    for _ in range(arguments.count):
        yield envelope.complete(given, arguments.topic)


def seal_authenticated(arguments):
    sender = key_text.decode(key_text.SENDER_SECRET, read_secret(arguments.sender_secret_file))
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
    phone = Phone(
        topic=arguments.topic,
        trusting=arguments.sender,
        allow_anonymous=arguments.allow_anonymous,
        identities=[read_secret(path) for path in arguments.identity_file],
    )
    print(json.dumps(phone.open(read_bytes(arguments.file), now=arguments.now), ensure_ascii=False))


def identifiers(arguments):
    seed = key_text.decode(key_text.SENDER_SECRET, read_secret(arguments.sender_secret_file))
    key = envelope.header_key(seed, arguments.topic)
    recipient = key_text.decode(key_text.RECIPIENT, arguments.recipient)
    string = arguments.collapse or arguments.message_id
    print("apns-collapse-id:", envelope.collapse_id(key, recipient, string))
    print("apns-id:", envelope.apns_id(key, recipient, arguments.message_id))


def read_vector(path):
    """Returns the values of a vector. A name may end with a number: identity, identity2, ..."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def keys_of(vector, name, kind):
    read = {key_text.IDENTITY: hpke.read_identity, key_text.RECIPIENT: key_text.recipient}.get(
        kind, lambda text: key_text.decode(kind, text)
    )
    return [read(vector[each]) for each in vector if each.rstrip("0123456789") == name]


def outcome_of(vector):
    """Returns the outcome of opening a vector, and the content."""
    def texts(kind):
        return [value for name, value in vector.items() if name.rstrip("0123456789") == kind]

    phone = Phone(
        topic=vector["topic"],
        trusting=texts("sender"),
        allow_anonymous=vector["allow-anonymous"] == "yes",
        identities=texts("identity"),
    )
    try:
        return "opened", phone.open(vector.get("payload") or {envelope.FIELD: vector["field"]}, now=int(vector["now"]))
    except SealedPushError as error:
        return error.code, None


def expected_of(vector):
    """Returns the expected result of `outcome_of`."""
    return vector["outcome"], json.loads(vector["content"]) if "content" in vector else vector.get("answer")


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
        command.add_argument("--content", required=True, help="a file with the content as JSON, or - for standard input")
        command.add_argument("--count", type=int, default=1, choices=range(1, 1025), metavar="N")
        command.add_argument("--padding", choices=("buckets", "none", "full"), default="buckets")

    command = add("seal-authenticated", seal_authenticated, "prints payloads of one context")
    command.add_argument("--sender-secret-file", required=True)
    add_sealing(command)

    add_sealing(add("seal-anonymous", seal_anonymous, "prints anonymous payloads"))

    command = add("open", open_file, "prints the content; if refused, prints the code and exits with status 65")
    command.add_argument("--identity-file", required=True, action="append")
    command.add_argument("--sender", action="append", default=[], metavar="pushsender1...")
    command.add_argument("--topic", required=True)
    command.add_argument("--allow-anonymous", action="store_true")
    command.add_argument("--now", type=int, help="Unix seconds; by default, the current time")
    command.add_argument("file", help="a payload, or - for standard input")

    command = add("identifiers", identifiers, "prints the two identifiers of a push")
    command.add_argument("--sender-secret-file", required=True)
    command.add_argument("--recipient", required=True, metavar="push1...")
    command.add_argument("--topic", required=True)
    command.add_argument("--message-id", required=True)
    command.add_argument("--collapse", help="the app's collapse string")

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
