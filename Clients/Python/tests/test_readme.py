"""Runs the README's blocks as they are."""

import asyncio
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import sealed_push

from .backends import Client, django, over_urls, phone_for
from .support import NINA, TOPIC, Phone, enrolled

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
SECRET = sealed_push.generate_sender_secret()


class Readme(unittest.TestCase):
    def setUp(self):
        self.blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        sender = sealed_push.Sender(SECRET, topic=TOPIC)
        self.phone, device = enrolled(sender)
        self.names = {"stored": device.to_dict()}
        self.enterContext(contextlib.chdir(self.enterContext(tempfile.TemporaryDirectory())))
        with mock.patch.dict(os.environ, SENDER_SECRET=SECRET):
            for block in self.blocks[1:]:
                if django is not None or "import sealed_push.django" not in block:
                    exec(compile(block, "README.md", "exec"), self.names)

    def test_in_one_minute(self):
        self.assertLessEqual(len(self.blocks[0].splitlines()), 12)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(self.blocks[0], "README.md", "exec"), {})
        self.assertEqual(printed.getvalue(), "Lunch at one?\n")

    def test_sealing_in_ten_lines(self):
        self.assertEqual(len(self.blocks), 9)
        self.assertLessEqual(len(self.blocks[1].splitlines()), 10)
        self.assertEqual(self.phone.open(self.names["push"].payload)["alert"]["body"], "Lunch at one?")

    def test_sending(self):
        try:
            import jwt
        except ImportError:
            jwt = None
        if jwt is not None:
            key = ec.generate_private_key(ec.SECP256R1())
            pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            made = self.names["new_provider_token"](pem, "ABCDE12345", "FGHIJ67890")
            self.assertEqual(jwt.get_unverified_header(made)["kid"], "ABCDE12345")
            claims = jwt.decode(made, key.public_key(), ["ES256"])
            self.assertEqual((set(claims), claims["iss"]), ({"iss", "iat"}, "FGHIJ67890"))
        sent = []

        class Client:
            async def post(self, url, content, headers):
                sent.append((url, content, headers))

        push = self.names["push"]
        asyncio.run(self.names["send"](Client(), "00ff", "token", push))
        (url, content, headers), = sent
        self.assertEqual((url, content), ("https://api.push.apple.com/3/device/00ff", push.payload))
        self.assertEqual(headers, dict(push.headers) | {"authorization": "bearer token"})
        try:
            import aioapns
        except ImportError:
            aioapns = mock.MagicMock()
        with mock.patch.dict(sys.modules, aioapns=aioapns):
            self.names["request"]("00ff", push)

    def test_enqueuing(self):
        push, connection = self.names["push"], mock.MagicMock()
        connection.execute.return_value.fetchone.return_value = ("enqueued",)
        self.assertEqual(self.names["enqueue"](connection, push, "phone", 4711), "enqueued")
        statement, arguments = connection.execute.call_args.args
        self.assertEqual(set(re.findall(r"%\((\w+)\)s", statement)), set(arguments))
        self.assertEqual((arguments["recipient"], arguments["key"]), (push.recipient, "message 4711 to phone"))

    @unittest.skipIf(django is None, "needs Django")
    def test_a_back_end(self):
        example, = (block for block in self.blocks if "import sealed_push.django" in block)
        self.assertLessEqual(len(example.splitlines()), 40)
        self.names["LOGINS"] = {"login": "alice"}
        client, phone = Client(self.names["urlpatterns"], over_urls), phone_for(self.names["sender"])
        self.assertEqual(client.enroll(phone, "guess").code, "unauthorized")
        self.assertEqual(client.enroll(phone, "login").status, 204)
        (token, environment, push), = self.names["pushes"]("alice", NINA)
        self.assertEqual((len(token), environment), (64, "production"))
        self.assertEqual(phone.open(push.payload)["alert"], NINA["alert"])
        self.assertEqual(client.leave(phone).status, 204)
        self.assertEqual(list(self.names["pushes"]("alice", NINA)), [])

    def test_devices(self):
        phone = Phone(topic=TOPIC, trusting=[self.names["sender"].public_key])
        stored, question = self.names["enroll"](phone.record)
        stored = self.names["answered"](json.loads(json.dumps(stored)), phone.answer(question))
        phone.rotate()
        stored, question = self.names["updated"](stored, phone.record)
        stored = self.names["answered"](stored, phone.answer(question))
        phone.retire()
        stored, question = self.names["updated"](stored, phone.record)
        self.assertIsNone(question)
        self.assertEqual(sealed_push.Device.from_dict(stored).recipient(), phone.recipients[0])

    def test_leaving(self):
        device, asked = sealed_push.Device.from_dict(self.names["stored"]), []

        def devices_with(enrollment):
            asked.append(enrollment)
            return [device]

        leaving = self.phone.leave()
        self.assertEqual(self.names["left"](leaving, devices_with), [device])
        self.assertEqual(asked, [device.enrollment])
        _, again = enrolled(sealed_push.Sender(SECRET, topic=TOPIC), self.phone)
        self.assertEqual(self.names["left"](leaving, lambda enrollment: [again]), [])

    def test_files(self):
        photo = io.BytesIO(b"\x89PNG\r\n\x1a\n and so on")
        with self.assertRaises(sealed_push.FileError):
            self.names["content_with_photo"](photo, io.BytesIO())
        photo = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "photo.png"
        photo.write_bytes(b"\x89PNG\r\n\x1a\n and so on")
        content = self.names["content_with_photo"](photo, io.BytesIO())
        device = sealed_push.Device.from_dict(self.names["stored"])
        self.assertTrue(self.names["sender"].seal(content, device))

    def test_receipts(self):
        sender = sealed_push.Sender(SECRET, topic=TOPIC, receipts="https://push.example.com/receipts")
        push = sender.seal({"alert": {"body": "b"}}, sealed_push.Device.from_dict(self.names["stored"]))
        body = self.phone.receipt(self.phone.open(push.payload))
        self.assertEqual(self.names["post"](body)[0], 204)
        self.assertEqual(self.names["post"](body[:-1]), (400, "wrong-size"))

    def test_every_error_is_in_its_list(self):
        text = README.read_text(encoding="utf-8")
        for error in sealed_push.SealedPushError.__subclasses__():
            if error is not sealed_push.OpenError:
                self.assertIn(f"- `{error.__name__}`: ", text)
