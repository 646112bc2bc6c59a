import pickle
import time
import unittest

import sealed_push
from sealed_push import OutboxKey, Sender, SettingError, enqueue_arguments

from .support import NINA, TOPIC, enrolled

WHOLE = "sealed-push-outbox-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n"


class Enqueuing(unittest.TestCase):
    def test_code_of_an_entry(self):
        # The same value as in Swift's ForgeryTests.
        arguments = {
            "priority": 10,
            "expiration": None,
            "apns_id": "00000000-0000-4000-8000-000000000000",
            "collapse_id": "c",
            "sender": "anonymous",
        }
        code = OutboxKey(f"\ufeff{WHOLE}\r\n")._code("phone", TOPIC, b"{}", arguments)
        self.assertEqual(code.hex(), "12c3e575657b57289fce8f6565edf4ed6c1022a3db3875962e3f92f6a17b0d8c")

    def test_arguments(self):
        sender = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)
        _, device = enrolled(sender)
        expiration = int(time.time()) + 86400
        push = sender.seal(NINA, device, priority=5, expiration=expiration)
        arguments = enqueue_arguments(push, "phone", key="message 4711", outbox_key=OutboxKey(WHOLE))
        self.assertEqual(arguments["payload"].encode(), push.payload)
        self.assertEqual((arguments["priority"], arguments["expiration"]), (5, expiration))
        self.assertEqual((arguments["sender"], arguments["recipient"]), (sender.public_key, device.recipient()))
        self.assertEqual(len(arguments["code"]), 32)
        for name in arguments:
            self.assertIn(f"%({name})s", sealed_push.ENQUEUE)
        plain = enqueue_arguments(sender.seal(NINA, device), "phone")
        self.assertEqual((plain["expiration"], plain["key"], plain["code"]), (None, None, None))

    def test_names_that_are_dot_segments(self):
        sender = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)
        push = sender.seal(NINA, enrolled(sender)[1])
        for name in (".", ".."):
            with self.assertRaises(SettingError) as caught:
                enqueue_arguments(push, name)
            self.assertEqual(caught.exception.code, "device-name")
        self.assertEqual(enqueue_arguments(push, "...")["device"], "...")

    def test_texts_that_are_no_key(self):
        words = ["sealed-push-outbox-key", WHOLE[:-3], WHOLE.upper(), "push-outbox AAAA", WHOLE + " more", None, b"key"]
        for text in words:
            with self.assertRaises(SettingError) as caught:
                OutboxKey(text)
            self.assertEqual(caught.exception.code, "outbox-key")

    def test_a_key_is_not_shown_or_copied(self):
        key = OutboxKey(WHOLE)
        self.assertEqual(repr(key), "OutboxKey()")
        with self.assertRaises(TypeError):
            pickle.dumps(key)
