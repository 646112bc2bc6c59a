"""Invalid input of every kind raises only a SealedPushError."""

import json
import os
import unittest

import sealed_push
from sealed_push import Device, Leaving, ReceiptReceiver, SealedPushError, Sender, fingerprint, open_file
from sealed_push.protocol import chart, content, files, receipts

from .support import NINA, TOPIC, Phone, enrolled, read_vectors, seeded

COUNT = 20_000 if os.environ.get("THOROUGH") == "1" else 1_500
NAMES = (
    "id topic sent expires collapse-id alert title subtitle body badge sound critical name volume thread-id category "
    "interruption-level relevance-score attachments overflow chart receipt template disclosure data url size hash key plain type "
    "thumbnail hidden clip time kind points labels prefix suffix color axes enrollment record proven challenges recipient"
).split()
LEAVES = (
    None, True, False, 0, 1, -1, 2**63, 10**400, 1.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "x", "\u200b", "\ud800", "\0",
    "x" * 5000, "https://a.example/b", "https://[", "A" * 43, "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09", b"bytes", {1, 2}, object(),
    "line", "image/png", 59, TOPIC,
)  # fmt: skip


class Hostile(unittest.TestCase):
    def setUp(self):
        self.random = seeded(self)
        self.secret = sealed_push.generate_sender_secret()
        self.sender = Sender(self.secret, topic=TOPIC)
        self.phone, self.device = enrolled(self.sender)

    def value(self, depth=0):
        """Returns a random value of any type."""
        kind = self.random.randrange(6 if depth < 4 else 2)
        if kind < 3:
            return self.random.choice(LEAVES)
        if kind == 3:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if kind == 4 and depth == 0:
            nested = None
            for _ in range(self.random.choice((15, 16, 17, 500, 100_000))):
                nested = [nested] if self.random.random() < 0.5 else {"data": nested}
            return nested
        names = (*NAMES, 7, None, "é", "e\u0301")
        return {self.random.choice(names): self.value(depth + 1) for _ in range(self.random.randrange(5))}

    def holds(self, call, *arguments, **options):
        """Returns whether the call succeeds. An error other than SealedPushError fails the test."""
        try:
            call(*arguments, **options)
            return True
        except SealedPushError as error:
            self.assertTrue(error.code and error.hint and str(error))
            return False

    def mutated(self, text):
        text = list(text)
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(text) + 1)
            match self.random.randrange(4):
                case 0:
                    text[at:] = []
                case 1:
                    text.insert(at, self.random.choice("Aa1.-_ \0é\ud800٣"))
                case 2 if at < len(text):
                    text[at] = self.random.choice("AaBb1qQ2é-")
                case _:
                    text = text[at:] + text[:at]
            if not text:
                break
        return "".join(text)

    def test_content(self):
        good = 0
        for _ in range(COUNT):
            value = self.value()
            if isinstance(value, dict) and self.random.random() < 0.7:
                value = NINA | value
            elif self.random.random() < 0.5:
                value = NINA | {self.random.choice(NAMES): value}
            good += self.holds(self.sender.seal, value, self.device)
        self.assertGreater(good, 0)
        circular = dict(NINA)
        circular["data"] = circular
        self.assertFalse(self.holds(self.sender.seal, circular, self.device))

    def test_content_that_is_too_long(self):
        body = next(each["content"] for each in read_vectors(".").values() if "content" in each).encode()
        self.assertTrue(self.holds(content.parse, body.ljust(4096)))
        self.assertFalse(self.holds(content.parse, body.ljust(4097)))

    def test_arguments(self):
        for _ in range(COUNT // 3):
            one, other = self.value(), self.value()
            self.holds(Device.enroll, one, topic=other)
            self.holds(Device.from_dict, one)
            self.holds(Leaving, one, topic=other)
            self.holds(Device.from_dict, self.device.to_dict() | {self.random.choice(NAMES): one})
            self.holds(self.sender.seal, NINA, one)
            self.holds(self.sender.seal_unverified, NINA, one)
            self.holds(self.sender.seal, NINA, self.device, priority=one, expiration=other)
            self.holds(self.sender.seal, NINA, self.device, now=one)
            self.holds(self.device.update, one, now=other)
            self.holds(self.device.answer, one, now=other)
            self.holds(self.device.challenge, one, other)
            self.holds(self.device.challenge, self.sender, other)
            self.holds(fingerprint, one)
            self.holds(Sender, one, topic=other)
            self.holds(ReceiptReceiver, one, topic=TOPIC)
            self.holds(Device, self.device.enrollment, self.device.record, one, other)
            self.holds(Device, one, other)
            self.holds(sealed_push.OutboxKey, one)
            self.holds(Sender, self.secret, topic=TOPIC, safe_default=one, padding=other)
            self.holds(Sender, self.secret, topic=TOPIC, receipts=one, reserve=other)
            self.holds(ReceiptReceiver([self.secret], topic=TOPIC).check, one, now=other)
            self.holds(open_file, one, b"", "/nowhere/at/all")
            self.holds(sealed_push.seal_attachment, b"", b"", url=one, id=other, type=other, thumbnail=one)
            for read in (chart.read, receipts.read_request, files.read_attachment, files.read_file, files.are_attachments):
                read(one)

    def test_text_that_was_cut_or_changed(self):
        state = self.device.to_dict()
        question = self.device.challenge(self.sender, self.phone.recipients[0])
        answer = self.phone.answer(question)
        record, leaving = Phone(topic=TOPIC).record, Phone(topic=TOPIC).leave()
        for _ in range(COUNT):
            self.holds(Device.enroll, self.mutated(record), topic=TOPIC)
            self.holds(Leaving, self.mutated(leaving), topic=TOPIC)
            self.holds(Device, self.mutated(state["enrollment"]), state["record"])
            self.holds(Device, state["enrollment"], state["record"], [self.mutated(state["proven"][0])])
            self.holds(self.device.answer, self.mutated(answer))
            self.assertFalse(self.holds(Sender, self.mutated(self.secret[:-3]), topic=TOPIC))
            self.holds(ReceiptReceiver([self.secret], topic=TOPIC).check, self.random.randbytes(self.random.choice((0, 127, 128, 129))))
        self.assertEqual(self.device.proven, tuple(state["proven"]))

    def test_json_that_was_cut_or_changed(self):
        bodies = [each["content"] for each in read_vectors(".").values() if "content" in each]
        state = json.dumps(self.device.to_dict())
        for _ in range(COUNT):
            changed = self.mutated(self.random.choice(bodies)).encode("utf-8", "surrogatepass")
            self.holds(content.parse, changed)
            try:
                value = json.loads(self.mutated(state))
            except ValueError:
                continue
            self.holds(Device.from_dict, value)
