import json
import time
import unittest

import sealed_push
from sealed_push import ChallengeError, Device, KeyTextError, Leaving, RecordError, Sender, SettingError
from sealed_push.protocol import hpke, key_text, mlkem, records
from sealed_push.protocol.text import decode_base64

from .support import NINA, TOPIC, Phone, enrolled

NOW = int(time.time())


class Devices(unittest.TestCase):
    def setUp(self):
        self.sender = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)
        self.phone = Phone(topic=TOPIC, trusting=[self.sender.public_key])

    def refused(self, code, call, *arguments, **options):
        with self.assertRaises(sealed_push.SealedPushError) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.code, code)
        return raised.exception

    def stored(self, device):
        """Returns the device from its JSON, as a server stores it."""
        again = Device.from_dict(json.loads(json.dumps(device.to_dict())))
        self.assertEqual(again, device)
        return again

    def test_a_life(self):
        device = self.stored(Device.enroll(self.phone.record, topic=TOPIC))
        self.assertEqual(device.enrollment, self.phone.enrollment)
        self.assertEqual((device.unproven, device.proven), (self.phone.recipients, ()))
        question = device.challenge(self.sender)
        device = self.stored(device)
        answer = self.phone.answer(question)
        self.assertEqual(device.answer(answer), self.phone.recipients[0])
        self.assertEqual(device.answer(answer), self.phone.recipients[0])
        device = self.stored(device)
        self.assertEqual(device.recipient(), self.phone.recipients[0])
        self.refused("nothing-to-ask", device.challenge, self.sender)

        # Rotation: the new key is used once it is proven, and the next record drops the old one.
        first = self.phone.recipients[0]
        self.phone.rotate()
        self.assertEqual(device.update(self.phone.record), ())
        device = self.stored(device)
        self.assertEqual(device.recipient(), first)
        self.assertEqual(device.unproven, (self.phone.recipients[0],))
        device.answer(self.phone.answer(device.challenge(self.sender)))
        self.assertEqual(device.recipient(), self.phone.recipients[0])
        self.phone.retire()
        self.assertEqual(device.update(self.phone.record), (first,))
        device = self.stored(device)
        self.assertEqual(device.proven, (self.phone.recipients[0],))
        self.assertTrue(self.phone.open(self.sender.seal(NINA, device).payload))

        # A key that comes back must be proven again.
        device.update(self.phone.sign_record(recipients=Phone(topic=TOPIC).recipients))
        device.update(self.phone.sign_record())
        self.assertEqual(device.proven, ())
        self.refused("unproven", device.recipient)

    @unittest.skipUnless(mlkem.is_available(), "needs cryptography 48")
    def test_a_life_with_six_hybrid_keys(self):
        _, device = enrolled(self.sender, self.phone)
        for count in range(1, 7):
            self.phone.rotate(hybrid=True)
            if count == 1:
                self.phone.retire()
            device.update(self.phone.record)
            device = self.stored(device)
            device.answer(self.phone.answer(device.challenge(self.sender)))
            device = self.stored(device)
            self.assertEqual(device.recipient(), self.phone.recipients[0])
            self.assertEqual(len(device.proven), count)
            self.assertTrue(self.phone.open(self.sender.seal(NINA, device).payload))
        before = device.to_dict()
        self.phone.rotate(hybrid=True)
        self.refused("malformed", device.update, self.phone.record)
        self.assertEqual(device.to_dict(), before)

    def test_a_text_has_as_many_characters_as_its_bytes_need(self):
        # Texts other than records have at most 4,096 characters (2.5).
        self.assertEqual([len(decode_base64("A" * count) or b"") for count in (4096, 4098)], [3072, 0])
        for most in (32, 3073, 8192, 8193, 8194):
            texts = [records.armor("pushrecord.", bytes(count)) for count in (most, most + 1)]
            self.assertEqual([records.unarmor("pushrecord.", text, 1, most) for text in texts], [bytes(most), None])

    def test_a_device_leaves_once_and_can_come_back(self):
        device = self.stored(enrolled(self.sender, self.phone)[1])
        in_transit = self.sender.seal(NINA, device)
        leaving = Leaving(self.phone.leave(), topic=TOPIC)
        self.assertTrue(leaving.ends(device))
        self.assertFalse(leaving.ends(enrolled(self.sender)[1]))
        with self.assertRaises(sealed_push.OpenError) as raised:
            self.phone.open(in_transit.payload)
        self.assertEqual(raised.exception.code, "unknown-recipient")
        again = self.stored(enrolled(self.sender, self.phone)[1])
        self.assertFalse(leaving.ends(again))
        self.assertTrue(self.phone.open(self.sender.seal(NINA, again).payload))
        text = self.phone.leave()
        self.assertTrue(Leaving(text, topic=TOPIC).ends(again))
        for index in range(len(text)):
            flipped = text[:index] + ("B" if text[index] == "A" else "A") + text[index + 1 :]
            for wrong in (flipped, text[:index], text[index:] if index else text + "A"):
                with self.assertRaises(RecordError):
                    Leaving(wrong, topic=TOPIC)
        self.refused("bad-signature", Leaving, text, topic="com.example.other")
        staging = self.phone.leave(service="staging")
        self.assertEqual(Leaving(staging, topic=TOPIC, service="staging").service, "staging")
        self.refused("other-service", Leaving, staging, topic=TOPIC)
        self.refused("other-service", Leaving, text, topic=TOPIC, service="staging")
        for service in ("", "a b", "x" * 156, 7):
            self.refused("service", Leaving, text, topic=TOPIC, service=service)
            self.refused("service", self.phone.leave, service=service)
        for topic in (None, "", "a b", "x" * 156):
            self.refused("topic", Leaving, text, topic=topic)
        for wrong in (None, 7, b"pushleaving.", "pushleaving.", self.phone.record):
            self.refused("malformed", Leaving, wrong, topic=TOPIC)
        self.refused("device", leaving.ends, again.to_dict())
        self.assertEqual(repr(leaving), f"Leaving({self.phone.enrollment}, counter {leaving.counter})")

    def test_keys_of_unknown_algorithms_are_skipped(self):
        secret, identities = bytes(32), [b"old".ljust(32), b"new".ljust(32)]
        enrollment = records.signing_public_key(secret)
        old, new = map(hpke.public_key, identities)
        senders = [key_text.decode(key_text.SENDER, self.sender.public_key)]

        def sign(counter, *keys):
            return records.sign_record(records.DEVICE, secret, counter, NOW, NOW + 86400, TOPIC, keys)

        device = None
        for counter, keys in ((1, [(9, bytes(1568)), old]), (2, [new, old, (9, b"x")])):
            record = sign(counter, *keys)
            if device:
                self.assertEqual(device.update(record, now=NOW), ())
            else:
                device = Device.enroll(record, topic=TOPIC, now=NOW)
            question = device.challenge(self.sender, now=NOW)
            device.answer(records.answer_challenge(question, identities, senders, TOPIC, enrollment), now=NOW)
            self.assertEqual((device.record, device.unproven), (record, ()))
            device = self.stored(device)
            newest = next(key for key in keys if isinstance(key, bytes))
            self.assertEqual(device.recipient(now=NOW), key_text.recipient_text(newest))
        self.assertEqual(device.update(sign(2, new, old, (9, b"x")), now=NOW), ())
        self.refused("conflicting", device.update, sign(2, new, old, (9, b"y")), now=NOW)
        self.refused("conflicting", device.update, sign(2, new, old), now=NOW)
        self.refused("unsupported", device.update, sign(3, (9, b"x")), now=NOW)

    def test_records_that_are_refused_change_nothing(self):
        device = Device.enroll(self.phone.sign_record(counter=7), topic=TOPIC)
        before = device.to_dict()
        older, other = self.phone.sign_record(counter=6), Phone(topic=TOPIC)
        self.assertEqual(device.update(before["record"]), ())
        self.refused("rolled-back", device.update, older)
        self.refused("conflicting", device.update, self.phone.sign_record(counter=7, lifetime=99))
        self.refused("foreign-signer", device.update, other.sign_record(counter=8))
        self.refused("expired", device.update, self.phone.sign_record(counter=8, created=NOW - 100, lifetime=50))
        self.refused("not-yet-valid", device.update, self.phone.sign_record(counter=8, created=NOW + 100000))
        self.refused("malformed", device.update, "pushrecord.")
        self.refused("malformed", device.update, None)
        self.refused("other-topic", Device.enroll, Phone(topic="com.example.other").record, topic=TOPIC)
        self.refused("topic", Device.enroll, self.phone.record, topic=None)
        self.assertEqual(device.to_dict(), before)

    def test_every_flipped_or_cut_character_of_a_record_is_refused(self):
        record = self.phone.record
        for index in range(len(record)):
            flipped = record[:index] + ("B" if record[index] == "A" else "A") + record[index + 1 :]
            for wrong in (flipped, record[:index], record[index:] if index else record + "A"):
                with self.assertRaises(RecordError):
                    Device.enroll(wrong, topic=TOPIC)

    def test_challenges(self):
        device = Device.enroll(self.phone.record, topic=TOPIC)
        self.refused("wrong-answer", device.answer, "pushanswer." + "A" * 43)
        question = device.challenge(self.sender, now=NOW)
        answer = self.phone.answer(question)
        self.refused("late", device.answer, answer, now=NOW + 601)
        for wrong in (answer[:-1], answer + "A", question, "", None, 7, answer.replace("pushanswer", "Pushanswer")):
            self.refused("malformed", device.answer, wrong)
        self.refused("wrong-answer", device.answer, "pushanswer." + "A" * 43, now=NOW)
        self.assertEqual(device.proven, ())
        device.answer(answer, now=NOW + 600)

        # The challenged key has been removed since.
        self.phone.rotate()
        device.update(self.phone.record)
        answer = self.phone.answer(device.challenge(self.sender))
        device.update(self.phone.sign_record(recipients=self.phone.recipients[1:]))
        self.refused("not-in-record", device.answer, answer)
        self.refused("not-in-record", device.challenge, self.sender, Phone(topic=TOPIC).recipients[0])
        self.refused("other-topic", device.challenge, Sender(sealed_push.generate_sender_secret(), topic="a.b"))
        self.refused("sender", device.challenge, None)

    def test_another_devices_key_can_not_be_enrolled_as_ones_own(self):
        """11.5.4: Mallory's record names Alice's key, and Mallory forwards the challenge to her."""
        alice, mallory = self.phone, Phone(topic=TOPIC, trusting=[self.sender.public_key])
        device = Device.enroll(mallory.sign_record(recipients=alice.recipients), topic=TOPIC)
        question = device.challenge(self.sender)
        self.refused("foreign-enrollment", alice.answer, question)
        self.refused("unknown-recipient", mallory.answer, question)

    def test_several_questions_wait_and_old_ones_go(self):
        device = Device.enroll(self.phone.record, topic=TOPIC)
        questions = [device.challenge(self.sender, now=NOW) for _ in range(17)]
        self.assertEqual(len(device.to_dict()["challenges"]), 16)
        self.refused("wrong-answer", device.answer, self.phone.answer(questions[0]), now=NOW)
        device.answer(self.phone.answer(questions[1]), now=NOW)
        device.challenge(self.sender, self.phone.recipients[0], now=NOW + 601)
        self.assertEqual(len(device.to_dict()["challenges"]), 1)

    def test_what_is_stored_answers_nothing(self):
        device = Device.enroll(self.phone.record, topic=TOPIC)
        answer = self.phone.answer(device.challenge(self.sender))
        self.assertNotIn(answer.removeprefix("pushanswer."), json.dumps(device.to_dict()))

    def test_loading(self):
        _, device = enrolled(self.sender, self.phone)
        state = device.to_dict()
        self.assertEqual(Device(state["enrollment"], state["record"], state["proven"]).recipient(), device.recipient())
        stranger = Phone(topic=TOPIC)
        state["proven"].append(stranger.recipients[0])
        loaded = Device.from_dict(state)
        self.assertEqual(loaded.proven, device.proven)
        # It isn't proven either when a record names it later.
        loaded.update(self.phone.sign_record(recipients=(*stranger.recipients, *self.phone.recipients)))
        self.assertEqual(loaded.unproven, stranger.recipients)
        self.refused("foreign-signer", Device.from_dict, state | {"enrollment": stranger.enrollment})
        self.refused("malformed-state", Device.from_dict, state | {"proven": state["proven"][0]})
        self.refused("malformed-state", Device.from_dict, state | {"challenges": [1]})
        self.refused("malformed-state", Device.from_dict, [])
        senders = records.sign_record(records.SENDERS, bytes(32), 9, NOW, NOW + 9, TOPIC, [hpke.public_key(b"x" * 32)])
        self.refused("wrong-type", Device.from_dict, state | {"record": senders})
        # An expired record loads, but can't be sealed to.
        ended = Device(state["enrollment"], self.phone.sign_record(created=NOW - 100, lifetime=50), state["proven"])
        self.refused("expired", ended.recipient)
        with self.assertRaises(TypeError):
            hash(device)
        for error in (ChallengeError, KeyTextError, RecordError, SettingError):
            self.assertTrue(issubclass(error, sealed_push.SealedPushError))
