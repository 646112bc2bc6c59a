"""Text is UTF-8 or refused, limits count bytes, and no error repeats a secret."""

import copy
import io
import json
import os
import pathlib
import pickle
import tempfile
import traceback
import unittest

import sealed_push
from sealed_push import Device, Leaving, OutboxKey, ReceiptReceiver, SealedPushError, Sender, enqueue_arguments

from .support import NINA, TOPIC, Phone, enrolled

SECRET = sealed_push.generate_sender_secret()
URL = "https://files.example.com/9f2c"
PNG = b"\x89PNG\r\n\x1a\n"
OUTBOX_KEY = "sealed-push-outbox-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"


class Calls:
    """All calls that take text, as functions of that text."""

    def __init__(self, folder):
        self.sender = Sender(SECRET, topic=TOPIC)
        self.phone, self.device = enrolled(self.sender)
        self.push = self.sender.seal(NINA, self.device)
        state = self.device.to_dict()
        challenge = json.loads(json.dumps(self.device.to_dict()))["challenges"]
        photo = folder / "photo.png"
        photo.write_bytes(PNG)
        entry = sealed_push.seal_file(photo, io.BytesIO(), url=URL)
        seal = self.sender.seal
        self.all = {
            "secret": lambda text: Sender(text, topic=TOPIC),
            "topic": lambda text: Sender(SECRET, topic=text),
            "safe default": lambda text: Sender(SECRET, topic=TOPIC, safe_default=text),
            "localized safe default": lambda text: Sender(SECRET, topic=TOPIC, safe_default={"loc-key": text}),
            "localized argument": lambda text: Sender(SECRET, topic=TOPIC, safe_default={"loc-key": "k", "loc-args": [text]}),
            "padding": lambda text: Sender(SECRET, topic=TOPIC, padding=text),
            "receipts": lambda text: Sender(SECRET, topic=TOPIC, receipts=text),
            "title": lambda text: seal({"alert": {"title": text}}, self.device),
            **{
                name: lambda text, name=name: seal(NINA | {name: text}, self.device)
                for name in ("id", "topic", "collapse-id", "thread-id", "category", "sound", "data", "interruption-level")
            },
            "person": lambda text: seal(NINA | {"person": {"name": "Nina", "id": text}}, self.device),
            "chart": lambda text: seal(NINA | {"chart": {"kind": "line", "points": [1], "labels": [text]}}, self.device),
            "name": lambda text: seal(NINA | {text: 1}, self.device),
            "name in data": lambda text: seal(NINA | {"data": {text: 1}}, self.device),
            "withdrawn thread": lambda text: seal({"withdraw": {"thread": text}}, self.device),
            "recipient": lambda text: self.sender.seal_unverified(NINA, text),
            "forget": lambda text: self.sender.forget(text),
            "receipt device": lambda text: self.sender.receipt_device(text),
            "record": lambda text: Device.enroll(text, topic=TOPIC),
            "record's topic": lambda text: Device.enroll(self.phone.record, topic=text),
            "newer record": lambda text: self.device.update(text),
            "answer": lambda text: self.device.answer(text),
            "challenged key": lambda text: self.device.challenge(self.sender, text),
            "enrollment": lambda text: Device.from_dict(state | {"enrollment": text}),
            "proven": lambda text: Device.from_dict(state | {"proven": [text]}),
            "hash": lambda text: Device.from_dict(state | {"challenges": [challenge[0] | {"hash": text}]}),
            "leaving": lambda text: Leaving(text, topic=TOPIC),
            "leaving's topic": lambda text: Leaving(self.phone.leave(), topic=text),
            "fingerprint": lambda text: sealed_push.fingerprint(text),
            "receiver": lambda text: ReceiptReceiver([text], topic=TOPIC),
            "receiver's topic": lambda text: ReceiptReceiver([SECRET], topic=text),
            "outbox key": lambda text: OutboxKey(text),
            "device name": lambda text: enqueue_arguments(self.push, text),
            "device name with a code": lambda text: enqueue_arguments(self.push, text, outbox_key=OutboxKey(OUTBOX_KEY)),
            "idempotency key": lambda text: enqueue_arguments(self.push, "phone", key=text),
            "url": lambda text: sealed_push.seal_file(photo, io.BytesIO(), url=text),
            "attachment ID": lambda text: sealed_push.seal_attachment(photo, io.BytesIO(), url=URL, id=text),
            "attachment type": lambda text: sealed_push.seal_attachment(photo, io.BytesIO(), url=URL, id="a", type=text),
            "source": lambda text: sealed_push.seal_file(folder / text / "x", io.BytesIO(), url=URL),
            "destination": lambda text: sealed_push.seal_file(photo, folder / text / "x", url=URL),
            "entry's url": lambda text: sealed_push.open_file(entry | {"url": text}, photo, io.BytesIO()),
            "entry's key": lambda text: sealed_push.open_file(entry | {"key": text}, photo, io.BytesIO()),
            "phone's topic": lambda text: Phone(topic=text),
            "phone's sender": lambda text: Phone(topic=TOPIC, trusting=[text]),
            "phone's identity": lambda text: Phone(topic=TOPIC, identities=[text]),
            "challenge": lambda text: self.phone.answer(text),
            "payload": lambda text: self.phone.open(text),
            "field": lambda text: self.phone.open({"custom-encrypted-message": text}),
        }


class Text(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.calls = Calls(self.folder)

    def test_an_unpaired_surrogate_is_refused_everywhere(self):
        self.assertGreater(len(self.calls.all), 50)
        # U+DCE9 is how Python reads a byte that isn't UTF-8 from arguments, variables, and file names.
        for text in ("\ud800", "Zo\udce9", "\udfffx", "x\ude00\ud83d"):
            for name, call in self.calls.all.items():
                with self.subTest(f"{name}: {text!a}"), self.assertRaises(SealedPushError):
                    call(text)

    def test_bytes_that_are_not_utf_8_are_refused(self):
        for payload in (b"\xff", self.calls.push.payload[:-2] + b'\xff"}', self.calls.push.payload.decode().encode("utf-16")):
            with self.assertRaises(sealed_push.OpenError) as raised:
                self.calls.phone.open(payload)
            self.assertEqual(raised.exception.code, "malformed")
        name = os.fsencode(self.folder) + b"/caf\xe9"
        pathlib.Path(os.fsdecode(name)).write_bytes(PNG)
        # File names are bytes, so those of other encodings work.
        entry = sealed_push.seal_file(os.fsdecode(name), os.fsdecode(name + b"-1"), url=URL)
        sealed_push.open_file(entry, os.fsdecode(name + b"-1"), os.fsdecode(name + b"-\xe8"))
        self.assertEqual(len(os.listdir(os.fsencode(self.folder))), 4)

    def test_limits_count_bytes(self):
        for name, most in (
            ("attachment ID", 64), ("collapse-id", 64), ("device name", 128), ("idempotency key", 256), ("person", 128), ("chart", 48),
            ("name in data", 256), ("safe default", 1022),
        ):  # fmt: skip
            call = self.calls.all[name]
            for letter in ("a", "é", "字", "😀"):
                size = len(letter.encode())
                with self.subTest(f"{name}: {letter}"):
                    call(letter * (most // size) + "a" * (most % size))
                    with self.assertRaises(SealedPushError):
                        call(letter * (most // size) + "a" * (most % size + 1))

    def test_texts_that_look_alike_stay_apart(self):
        key = OutboxKey(OUTBOX_KEY)
        names = ("é", "e\u0301", "K", "\u212a", "ﬀ", "ff", "É")
        codes = {enqueue_arguments(self.calls.push, name, outbox_key=key)["code"] for name in names}
        collapse = {self.calls.sender.seal(NINA | {"collapse-id": name}, self.calls.device).headers["apns-collapse-id"] for name in names}
        self.assertEqual((len(codes), len(collapse)), (len(names), len(names)))


class Secrets(unittest.TestCase):
    def test_no_error_repeats_a_secret_whatever_it_is_given_for(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        calls = Calls(folder)
        hidden = "s3cr3t-pw"
        key = OUTBOX_KEY.split()[1]
        phone = Phone(topic=TOPIC)
        given = {
            "a secret": SECRET,
            "an altered secret": SECRET[:-1] + ("Q" if SECRET[-1] != "Q" else "P"),
            "a secret in lowercase": SECRET.lower(),
            "two secrets": f"{SECRET} {SECRET}",
            "a URL with a password": f"https://push:{hidden}@files.example.com/1",
            "a URL with a password and a wrong port": f"https://push:{hidden}@files.example.com:99999/1",
            "a URL with a password and a bracket": f"https://push:{hidden}@[::1/1",
            "an outbox key": OUTBOX_KEY + "x",
            "a header": f"bearer {hidden}",
            "a line end": f"x\r\n{hidden}",
        }
        # The names of files are in the system's errors, and must not be secret.
        skipped = {"source", "destination"}
        count = 0
        for what, text in given.items():
            for name, call in calls.all.items():
                if name in skipped:
                    continue
                try:
                    call(text)
                except SealedPushError as error:
                    count += 1
                    told = "".join(traceback.format_exception(error, chain=True)) if error.__context__ else ""
                    told += f"{error!r} {error} {error.args} {vars(error)} {error.__context__!r} {error.__cause__!r}"
                    with self.subTest(f"{what} as {name}"):
                        for secret in (SECRET[30:-2], SECRET[30:-2].lower(), hidden, key):
                            self.assertNotIn(secret, told)
                        again = pickle.loads(pickle.dumps(error))
                        self.assertEqual((again.code, str(again)), (error.code, str(error)))
        self.assertGreater(count, 300)
        for each in (calls.sender, calls.device, calls.push, phone, OutboxKey(OUTBOX_KEY), ReceiptReceiver([SECRET], topic=TOPIC)):
            shown = f"{each!r} {each}"
            for secret in (SECRET[30:-2], key, calls.push.message["custom-encrypted-message"], PNG.hex()):
                self.assertNotIn(secret, shown)
        for each in (calls.sender, phone, OutboxKey(OUTBOX_KEY), ReceiptReceiver([SECRET], topic=TOPIC)):
            for how in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaises(TypeError):
                    how(each)
