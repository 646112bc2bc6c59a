#!/usr/bin/env python3
"""A server in Python, one step per run. The file STATE has its state for the device.

  server.py STATE SENDER-FILE TOPIC enroll|update RECORD
  server.py STATE SENDER-FILE TOPIC challenge           prints the challenge
  server.py STATE SENDER-FILE TOPIC check ANSWER        prints the proven key
  server.py STATE SENDER-FILE TOPIC seal CONTENT        prints the payload, and on a second line the headers as JSON
"""

import json
import pathlib
import sys

from interop import REFUSED
from sealed_push import Device, SealedPushError, Sender


def secret_of(path):
    """Returns the secret in a keyring's private file, which has lines `kind: ...`, `created: ...`, `secret: PUSH-...`."""
    return pathlib.Path(path).read_text().split("secret: ", 1)[1].split()[0]


def run(state, sender, command, value=None):
    if command == "enroll":
        return Device.enroll(value, topic=sender.topic), None
    device = Device.from_dict(json.loads(state.read_text()))
    if command == "update":
        return device, "\n".join(device.update(value))
    if command == "challenge":
        return device, device.challenge(sender)
    if command == "check":
        return device, device.answer(value)
    push = sender.seal(json.loads(pathlib.Path(value).read_text()), device)
    return device, push.payload.decode() + "\n" + json.dumps(dict(push.headers))


def main(state, secret, topic, command, *value):
    try:
        device, said = run(pathlib.Path(state), Sender(secret_of(secret), topic=topic), command, *value)
    except SealedPushError as error:
        print(error.code, file=sys.stderr)
        return REFUSED
    pathlib.Path(state).write_text(json.dumps(device.to_dict()))
    if said:
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
