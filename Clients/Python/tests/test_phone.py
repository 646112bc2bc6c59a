"""Tests of the phone in sealed_push.testing. test_vectors tests it with each vector."""

import copy
import json
import os
import pickle
import time
import unittest

import sealed_push
from sealed_push import Device, OpenError, ReceiptReceiver, SealedPushError, Sender
from sealed_push.protocol import envelope, hpke, key_text, mlkem
from sealed_push.protocol.text import decode_base64, encode_base64
from sealed_push.testing import Phone

from .support import NINA, TOPIC, enrolled

NOW = int(time.time())
SECRET = sealed_push.generate_sender_secret()
RECEIPTS = "https://push.example.com/receipts"


class Phones(unittest.TestCase):
    def setUp(self):
        self.sender = Sender(SECRET, topic=TOPIC)
        self.phone, self.device = enrolled(self.sender)

    def refused(self, code, call, *arguments, **options):
        with self.assertRaises(SealedPushError) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.code, code)

    def test_it_opens_each_form_of_a_payload_once(self):
        for form in (bytes, lambda payload: payload.decode(), json.loads):
            payload = form(self.sender.seal(NINA, self.device).payload)
            self.assertEqual(self.phone.open(payload)["alert"], NINA["alert"])
            self.refused("replayed", self.phone.open, payload)
        for wrong in (b"", "{}", "[]", b"\xff", {}, None, 7, {envelope.FIELD: None}, {envelope.FIELD: 7}):
            self.refused("malformed", self.phone.open, wrong)
        with self.assertRaises(sealed_push.SettingError):
            self.phone.open(payload, now="now")

    def test_it_opens_only_what_is_for_it_from_a_sender_that_it_trusts(self):
        def sealed(secret=SECRET, topic=TOPIC, phone=self.phone):
            return Sender(secret, topic=topic).seal_unverified(NINA, phone.recipients[0]).payload

        stranger, other = sealed_push.generate_sender_secret(), Phone(topic=TOPIC, trusting=self.phone.trusting)
        self.refused("unknown-sender", self.phone.open, sealed(stranger))
        self.refused("unknown-recipient", self.phone.open, sealed(phone=other))
        self.refused("rejected", self.phone.open, sealed(topic="com.example.other"))
        self.phone.trusting.append(Sender(stranger, topic=TOPIC).public_key)
        self.assertTrue(self.phone.open(sealed(stranger)))
        self.phone.trusting.clear()
        self.refused("unknown-sender", self.phone.open, sealed())

    def test_it_opens_within_the_times_of_the_specification(self):
        for options, later, code in (
            ({"sent": NOW}, 30 * 86400, "too-old"),
            ({"sent": NOW, "expires": NOW + 60}, 660, "expired"),
        ):
            payload = self.sender.seal(NINA | options, self.device, now=NOW).payload
            self.refused(code, self.phone.open, payload, now=NOW + later + 1)
            self.assertTrue(self.phone.open(payload, now=NOW + later))
        payload = self.sender.seal(NINA | {"sent": NOW}, self.device).payload
        self.refused("clock", self.phone.open, payload, now=NOW - 93601)
        self.assertTrue(self.phone.open(payload, now=NOW - 93600))

    def test_anonymous_messages_open_if_they_are_allowed(self):
        for allowed in (False, True):
            phone = Phone(topic=TOPIC, allow_anonymous=allowed)
            plaintext = envelope.make_plaintext(envelope.complete(NINA, TOPIC), hpke.ANONYMOUS)
            payload = envelope.payload(hpke.seal_anonymous(key_text.recipient(phone.recipients[0]), plaintext))
            if allowed:
                self.assertEqual(phone.open(payload)["alert"], NINA["alert"])
                self.refused("replayed", phone.open, payload)
            else:
                self.refused("anonymous-not-allowed", phone.open, payload)

    def test_no_flipped_or_cut_byte_opens(self):
        kinds = [False, *([True] if mlkem.is_available() else [])]
        for phone in (Phone(topic=TOPIC, trusting=self.phone.trusting, hybrid=hybrid) for hybrid in kinds):
            payload = self.sender.seal_unverified(NINA, phone.recipients[0]).payload
            sealed = decode_base64(json.loads(payload)[envelope.FIELD])
            codes = set()
            for index in range(len(sealed)):
                flipped = sealed[:index] + bytes([sealed[index] ^ 1]) + sealed[index + 1 :]
                for wrong in (flipped, sealed[:index]):
                    with self.assertRaises(OpenError, msg=f"byte {index}") as raised:
                        phone.open({envelope.FIELD: encode_base64(wrong)})
                    codes.add(raised.exception.code)
            expected = {"malformed", "unknown-suite", "unknown-recipient", "unknown-sender", "rejected", "anonymous-not-allowed"}
            self.assertLessEqual(codes, expected)
            for index in range(len(payload)):
                with self.assertRaises(OpenError, msg=f"cut at {index}"):
                    phone.open(payload[:index])
            self.assertTrue(phone.open(payload))

    def test_it_answers_challenges_of_senders_that_it_trusts(self):
        device = Device.enroll(self.phone.record, topic=TOPIC)
        self.assertEqual(device.enrollment, self.phone.enrollment)
        question = device.challenge(self.sender)
        flipped = question[:-1] + ("A" if question[-1] != "A" else "Q")
        for wrong, code in ((question[:-1], "malformed"), (flipped, "rejected"), ("", "malformed"), (None, "malformed")):
            self.refused(code, self.phone.answer, wrong)
        self.assertEqual(device.answer(self.phone.answer(question)), self.phone.recipients[0])
        self.phone.trusting.clear()
        self.refused("unknown-sender", self.phone.answer, question)

    def test_a_retired_key_opens_what_was_sent_within_two_hours_and_answers_nothing(self):
        old = self.device.recipient()
        question = self.device.challenge(self.sender, old)
        self.phone.rotate()
        self.device.update(self.phone.record)
        self.device.answer(self.phone.answer(self.device.challenge(self.sender)))
        self.phone.retire(now=NOW)
        self.assertEqual(self.device.update(self.phone.record), (old,))
        self.refused("unknown-recipient", self.phone.answer, question)
        for sent, code in ((NOW + 7200, None), (NOW + 7201, "key-retired")):
            payload = self.sender.seal_unverified(NINA | {"sent": sent}, old).payload
            if code:
                self.refused(code, self.phone.open, payload)
            else:
                self.assertTrue(self.phone.open(payload))
        self.assertTrue(self.phone.open(self.sender.seal(NINA, self.device).payload))

    def test_its_keys_are_hybrid_where_that_is_asked_for(self):
        if not mlkem.is_available():
            self.refused("unsupported", Phone, topic=TOPIC, hybrid=True)
            self.refused("unsupported", self.phone.rotate, hybrid=True)
            return
        phone, device = enrolled(self.sender, Phone(topic=TOPIC, hybrid=True))
        self.assertTrue(device.recipient().startswith("pushpq."))
        self.assertTrue(phone.open(self.sender.seal(NINA, device).payload))
        self.assertTrue(phone.rotate(hybrid=False).startswith("push1"))
        self.assertTrue(phone.rotate().startswith("pushpq."))

    def test_it_makes_receipts_that_count_failures(self):
        sender = Sender(SECRET, topic=TOPIC, receipts=RECEIPTS)
        push = sender.seal(NINA, self.device)
        content = self.phone.open(push.payload)
        self.assertEqual(content["receipt"]["url"], RECEIPTS)
        self.refused("replayed", self.phone.open, push.payload)
        receiver = ReceiptReceiver([SECRET], topic=TOPIC)
        receipt = receiver.check(self.phone.receipt(content, elapsed_milliseconds=412, now=NOW), now=NOW)
        self.assertEqual(receipt.device, sender.receipt_device(push.recipient))
        self.assertEqual((receipt.shown_at, receipt.elapsed_milliseconds), (NOW, 412))
        self.assertEqual((receipt.failures, receipt.other_failures), ({"replayed": 1}, 0))
        self.assertEqual(receiver.check(self.phone.receipt(content)).failures, {})
        self.assertIsNone(self.phone.receipt(self.phone.open(self.sender.seal(NINA, self.device).payload)))

    def test_it_takes_the_same_keys_again(self):
        secret, enrollment = (key_text.encode(kind, os.urandom(32)) for kind in (key_text.IDENTITY, key_text.ENROLLMENT_SECRET))
        one, other = (Phone(topic=TOPIC, identities=[secret], enrollment_secret=enrollment) for _ in range(2))
        self.assertEqual((one.recipients, one.enrollment), (other.recipients, other.enrollment))

    def test_wrong_arguments(self):
        self.refused("topic", Phone, topic="a b")
        self.refused("not-a-key", Phone, topic=TOPIC, trusting=self.sender.public_key)
        self.refused("wrong-kind", Phone, topic=TOPIC, trusting=self.phone.recipients)
        self.refused("not-a-key", Phone, topic=TOPIC, identities=SECRET)
        for wrong in (None, 7, True, object()):
            self.refused("not-a-key", Phone, topic=TOPIC, trusting=wrong)
            self.refused("not-a-key", Phone, topic=TOPIC, identities=wrong)
            self.refused("not-given" if wrong is None else "not-a-key", Phone, topic=TOPIC, identities=[wrong])
        for wrong in (None, True, 0, 32, -1, 10**400, 1.5, "30", []):
            self.refused("keeps", Phone, topic=TOPIC, keeps=wrong)

    def test_it_shows_no_secret_and_is_not_copied(self):
        self.assertEqual(repr(self.phone), f"Phone({self.phone.enrollment}, {TOPIC}, 1 active)")
        for how in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaises(TypeError):
                how(self.phone)
