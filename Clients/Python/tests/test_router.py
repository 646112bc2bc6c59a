"""The phones' requests, through ASGI and Django."""

import asyncio
import json
import pickle
import time
import unittest
from dataclasses import replace

import sealed_push
from sealed_push import Device, RecordError, Sender, SettingError, asgi
from sealed_push.protocol import records
from sealed_push.protocol.key_text import ENROLLMENT, encode
from sealed_push.router import Entry, Found, PhoneRouter, Request, bearer_token

from .backends import TOKEN, Body, Client, MemoryStore, django, over_asgi, over_django, path_of, phone_for, router_of
from .support import HERE, TOPIC, read_vectors, seeded

SECRET = sealed_push.generate_sender_secret()
SENDER = Sender(SECRET, topic=TOPIC)
OPENAPI = HERE.parents[3] / "Docs" / "openapi.yaml"


class RouterTest(unittest.TestCase):
    over = staticmethod(over_asgi)

    def make(self, store=None, sender=SENDER, **options):
        self.store = MemoryStore() if store is None else store
        self.router = router_of(sender, self.store, **options)
        self.client = Client(self.router, self.over)
        return self.client

    def phone(self, **options):
        return phone_for(SENDER, **options)

    def entries(self, phone):
        return {each.account: each for each in self.store.load(phone.enrollment, None).entries}

    def expect(self, answer, status, code=None):
        self.assertEqual((answer.status, answer.code), (status, code), answer)
        self.assertEqual(answer.headers.get("cache-control"), "no-store")
        if code is not None:
            self.assertEqual(answer.headers["content-type"], "application/problem+json")
            self.assertEqual((answer.json["type"], answer.json["status"]), (f"/Docs/Codes.md#{code}", status))
            self.assertLessEqual({"title", "detail"}, set(answer.json))
        elif status == 204:
            self.assertEqual((answer.body, answer.headers.get("content-type")), (b"", None))
        else:
            self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertEqual("retry-after" in answer.headers, status in (429, 503))
        self.assertEqual(answer.headers.get("www-authenticate"), "Bearer" if status == 401 else None)


class Requests(RouterTest):
    def test_life_of_a_phone(self):
        client, phone = self.make(), self.phone()
        first = client.register(phone)
        self.expect(first, 200)
        self.assertEqual(first.json["device"], phone.enrollment)
        challenge, = first.json["challenges"]
        self.expect(client.reply(phone, challenge), 204)
        self.expect(client.reply(phone, challenge), 204)
        again = client.register(phone, token="abcd", environment="sandbox")
        self.assertEqual(again.json, {"device": phone.enrollment, "challenges": []})
        entry = self.entries(phone)["alice"]
        self.assertEqual((entry.token, entry.environment, entry.is_proven), ("abcd", "sandbox", True))
        self.assertLess(abs(entry.registered_milliseconds - time.time() * 1000), 600_000)
        phone.rotate()
        phone.rotate()
        asked = client.register(phone).json["challenges"]
        self.assertEqual(len(asked), 2)
        # The newest key is first.
        for each, count in ((asked[1], 2), (asked[0], 3)):
            self.expect(client.reply(phone, each), 204)
            self.assertEqual(len(Device.from_dict(self.entries(phone)["alice"].state).proven), count)
        push = SENDER.seal({"alert": {"body": "b"}}, Device.from_dict(self.entries(phone)["alice"].state))
        self.assertEqual(phone.open(push.payload)["alert"]["body"], "b")
        phone.retire()
        self.assertEqual(client.register(phone).json["challenges"], [])
        for _ in range(2):
            self.expect(client.send("DELETE", path_of(phone)), 204)
            self.assertEqual(self.entries(phone), {})

    def test_a_restored_phone_gets_the_newest_record_and_its_token_is_stored(self):
        client, phone = self.make(), self.phone()
        old = phone.record
        client.enroll(phone)
        newest = phone.sign_record()
        client.enroll(phone)
        for record, code in ((old, "rolled-back"), (phone.sign_record(counter=2, lifetime=5), "conflicting")):
            body = {"record": record, "token": "abcd", "environment": "sandbox"}
            answer = client.send("PUT", path_of(phone), body)
            self.expect(answer, 409, code)
            self.assertEqual(answer.json["record"], newest)
            entry = self.entries(phone)["alice"]
            self.assertEqual((entry.token, entry.environment, entry.state["record"]), ("abcd", "sandbox", newest))
            client.register(phone, token=TOKEN) if code == "rolled-back" else None
        phone.sign_record(counter=9, created=int(time.time()) - 100, lifetime=50)
        answer = client.register(phone, token="ef")
        self.expect(answer, 422, "expired")
        self.assertNotIn("record", answer.json)
        self.assertEqual(self.entries(phone)["alice"].token, "ef")
        phone.sign_record(counter=10)
        self.expect(client.register(phone), 200)

    def test_a_phone_belongs_to_the_account_that_proved_it(self):
        client, phone = self.make(), self.phone()
        claimed, = client.register(phone, "mallory").json["challenges"]
        own, = client.register(phone, "alice").json["challenges"]
        self.assertEqual(set(self.entries(phone)), {"alice", "mallory"})
        # An answer counts only for the account that was asked.
        self.expect(client.reply(phone, own, "mallory"), 409, "unknown-challenge")
        self.expect(client.reply(phone, own, "bob"), 404, "unknown-device")
        self.expect(client.reply(phone, own, "alice"), 204)
        self.assertEqual(set(self.entries(phone)), {"alice"})
        self.expect(client.reply(phone, claimed, "mallory"), 404, "unknown-device")
        self.expect(client.register(phone, "mallory"), 409, "enrolled-elsewhere")
        self.assertEqual(set(self.entries(phone)), {"alice"})
        self.expect(client.send("DELETE", path_of(phone), account="mallory"), 204)
        self.assertEqual(set(self.entries(phone)), {"alice"})
        self.expect(client.send("DELETE", path_of(phone)), 204)
        self.expect(client.enroll(phone, "mallory"), 204)

    def test_two_accounts_prove_a_phone(self):
        client, phone = self.make(), self.phone()
        asked = {account: client.register(phone, account).json["challenges"][0] for account in ("alice", "bob")}
        found = self.store.load(phone.enrollment, None)
        self.expect(client.reply(phone, asked["alice"], "alice"), 204)
        # As if bob's claim had come afterwards.
        mine = self.store.load(phone.enrollment, None)
        theirs = next(each for each in found.entries if each.account == "bob")
        self.assertTrue(self.store.save(phone.enrollment, None, mine, Found((*mine.entries, theirs), 0).entries))
        self.expect(client.reply(phone, asked["bob"], "bob"), 409, "enrolled-elsewhere")

    def test_leaving_needs_no_login_and_counts_once(self):
        client, phone, other = self.make(), self.phone(), self.phone()
        client.enroll(other)
        client.enroll(phone)
        left = phone.leave()
        for account in (None, "alice", "nobody"):
            self.expect(client.send("POST", "/v1/leavings", {"leaving": left}, account), 204)
            self.assertEqual(self.entries(phone), {})
            self.expect(client.enroll(phone, "bob"), 204)
            self.expect(client.send("POST", "/v1/leavings", {"leaving": left}, account), 204)
            self.assertEqual(set(self.entries(phone)), {"bob"})
            left = phone.leave()
        self.assertEqual(set(self.entries(other)), {"alice"})
        # Unproven claims of all accounts end, too.
        claimed = self.phone()
        for account in ("alice", "bob"):
            self.expect(client.register(claimed, account), 200)
        self.expect(client.leave(claimed), 204)
        self.assertEqual(self.entries(claimed), {})

    def test_leavings_that_are_refused(self):
        client, phone = self.make(service="staging"), self.phone()
        client.enroll(phone)
        stranger = self.phone().leave(service="staging")
        left = phone.leave(service="staging")
        refused = {
            (400, "malformed"): ["", "x", left[12:], left[:-1], left + "A", phone.record, "pushleaving.\ud800", 7, None, [], {}],
            (400, "bad-signature"): [left[:-4] + ("AAAA" if left[-4:] != "AAAA" else "BBBB"), left[:66] + stranger[66:]],
            (409, "other-service"): [self.phone().leave(), phone.leave(), phone.leave(service="Staging")],
        }
        for (status, code), texts in refused.items():
            for text in texts:
                self.expect(client.send("POST", "/v1/leavings", {"leaving": text}, None), status, code)
        self.assertEqual(set(self.entries(phone)), {"alice"})
        self.expect(client.leave(phone, service="staging"), 204)
        self.assertEqual(self.entries(phone), {})

    def test_vectors(self):
        """Each record and leaving of the vectors gets its own code."""
        count = 0
        for name, values in read_vectors("Records").items():
            if values["kind"] != "device":
                continue
            client = self.make(sender=Sender(SECRET, topic=values["topic"]), clock=lambda now=int(values["now"]): now)
            if "known" in values:
                known = records.read_record(records.DEVICE, values["known"])
                if known.topic != values["topic"] or encode(ENROLLMENT, known.signer) != values["pinned"]:
                    continue
                state = {"enrollment": values["pinned"], "record": values["known"]}
                self.store.entries[values["pinned"]] = (Entry("alice", state, TOKEN, "production", 0),)
            body = {"record": values["record"], "token": "ab", "environment": "sandbox"}
            answer = client.send("PUT", f"/v1/phones/{values['pinned']}", body)
            # The path names the pinned key.
            code = {"accepted": None, "foreign-signer": "malformed"}.get(values["outcome"], values["outcome"])
            self.assertEqual(answer.code, code, name)
            self.assertEqual(answer.json.get("record"), values["known"] if code in ("rolled-back", "conflicting") else None)
            count += 1
        self.assertGreater(count, 70)
        for name, values in read_vectors("Leavings").items():
            client = self.make(sender=Sender(SECRET, topic=values["topic"]), service=values["service"])
            answer = client.send("POST", "/v1/leavings", {"leaving": values["leaving"]}, None)
            self.assertEqual(answer.code, None if values["outcome"] == "accepted" else values["outcome"], name)

    def test_paths_and_methods(self):
        client, phone = self.make(sender_set=None), self.phone()
        path = path_of(phone)
        there = {
            path: ("DELETE", "PUT"), path + "/answers": ("POST",), "/v1/sender-set": ("GET", "HEAD"), "/v1/leavings": ("POST",)}
        for place, methods in there.items():
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"):
                if method in methods:
                    continue
                answer = client.send(method, place, {})
                self.expect(answer, 405, "wrong-method" if method != "HEAD" else None) if method != "HEAD" else None
                self.assertEqual((answer.status, answer.headers["allow"]), (405, ", ".join(methods)))
            self.expect(client.send("PROPFIND", place, {}), 501, "unknown-method")
        for place in (path + "/", path + "/answers/", path + "/test", path + "/x", "/v1/phones//answers"):
            self.assertEqual(client.send("POST", place, {}).status, 404, place)
        for place in ("", "/", "/v1", "/v1/", "/v1/phones", "/V1/sender-set", "/v1/sender-set/", "/v1/leavings\n"):
            self.assertEqual(client.send("GET", place).status, 404, place)
        for key in ("x", "%00", "pushenrollment1", phone.enrollment[:-1], phone.enrollment + "\0", phone.recipients[0], "é"):
            self.expect(client.send("PUT", f"/v1/phones/{key}", {}), 400, "malformed")
        # Mixed case is malformed; uppercase is the same key.
        self.expect(client.send("DELETE", f"/v1/phones/{phone.enrollment.title()}"), 400, "malformed")
        client.enroll(phone)
        self.expect(client.send("DELETE", f"/v1/phones/{phone.enrollment.upper()}"), 204)
        self.assertEqual(self.entries(phone), {})

    def test_a_base_address(self):
        client, phone = self.make(), self.phone()
        body = {"record": phone.record, "token": TOKEN, "environment": "production"}
        self.expect(client.send("PUT", path_of(phone), body, place="/push"), 200)
        self.assertEqual(client.send("PUT", "/x" + path_of(phone), body, place="/push").status, 404)

    def test_logins(self):
        client, phone = self.make(), self.phone()
        body = Body(b"{}")
        for account in (None, "nobody", "", "alice bob"):
            for method, place in (("PUT", ""), ("DELETE", ""), ("POST", "/answers")):
                self.expect(client.send(method, path_of(phone) + place, body, account), 401, "unauthorized")
            self.expect(client.send("GET", "/v1/sender-set", account=account), 401, "unauthorized")
        self.assertEqual(body.read_bytes, 0, "without a login, no body is read")
        for header, status in {
            "bearer alice": 204, "BEARER  alice  ": 204, "Bearer": 401, "Basic alice": 401, "Bearerx alice": 401,
            "Bearer \xe9": 401, "Bearer " + "x" * 600: 401,
        }.items():  # fmt: skip
            self.assertEqual(client.send("GET", "/v1/sender-set", authorization=header).status, status, header)
        # An anonymous user of a framework.
        anonymous = Client(router_of(SENDER, account=lambda request: ""), self.over)
        self.expect(anonymous.send("GET", "/v1/sender-set"), 401, "unauthorized")
        twice = [("authorization", "Bearer alice")] * 2
        self.expect(client.raw("GET", "/v1/sender-set", b"", twice), 401, "unauthorized")

    def test_sender_sets(self):
        client = self.make()
        self.expect(client.send("GET", "/v1/sender-set"), 204)
        fields = (1, 1, 2**30, TOPIC, [SENDER._public])
        text = records.sign_record(records.SENDERS, bytes(32), *fields)
        self.router.sender_set = text
        answer = client.send("GET", "/v1/sender-set")
        self.expect(answer, 200)
        self.assertEqual(answer.json, {"senderSet": text})
        self.assertEqual(client.send("HEAD", "/v1/sender-set").body, b"")
        with self.assertRaises(RecordError):
            self.router.sender_set = self.phone().record
        self.assertEqual(self.router.sender_set, text)

    def test_without_a_sender(self):
        client, phone = self.make(), self.phone()
        client.enroll(phone)
        self.router.sender = None
        for method, place in (("PUT", ""), ("DELETE", ""), ("POST", "/answers")):
            self.expect(client.send(method, path_of(phone) + place, {}), 503, "no-sender")
        self.expect(client.leave(phone), 204)
        other = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)
        self.router.sender = other
        asked, = client.register(phone).json["challenges"]
        with self.assertRaises(sealed_push.ChallengeError):
            phone.answer(asked["challenge"])
        phone.trusting.append(other.public_key)
        self.expect(client.reply(phone, asked), 204)

    def test_tests(self):
        sent, results = [], []

        def test(entry, push):
            sent.append((entry, push))
            return results.pop() if results else None

        client, phone = self.make(test=test), self.phone()
        path = path_of(phone) + "/test"
        self.expect(client.send("POST", path), 404, "unknown-device")
        client.register(phone)
        answer = client.send("POST", path)
        self.expect(answer, 202)
        self.assertEqual((answer.json["enqueued"], answer.json["skipped"]), (0, {"unproven": 1}))
        client.enroll(phone)
        answer = client.send("POST", path, account="alice", content_type=None)
        self.expect(answer, 202)
        (entry, push), = sent
        self.assertEqual((entry.account, entry.token), ("alice", TOKEN))
        self.assertEqual(answer.json, {"id": push.message_id, "enqueued": 1, "alreadyEnqueued": 0, "skipped": {}})
        self.assertEqual(phone.open(push.payload)["alert"]["title"], "Test")
        results.append("too-large")
        self.assertEqual(client.send("POST", path).json["skipped"], {"too-large": 1})
        found = self.store.load(phone.enrollment, "alice")
        self.store.save(phone.enrollment, "alice", found, (replace(found.entries[0], token=None),))
        self.assertEqual(client.send("POST", path).json["skipped"], {"no-token": 1})
        limited = client.send("POST", path)
        self.expect(limited, 429, "too-many-requests")
        self.assertEqual(limited.headers["retry-after"], "720")
        self.expect(client.send("GET", path), 405, "wrong-method")

    def test_limits_for_an_account(self):
        now = [1_800_000_000.0]
        client = self.make(clock=lambda: now[0])
        statuses = [client.send("GET", "/v1/sender-set").status for _ in range(62)]
        self.assertEqual(statuses, [204] * 60 + [429] * 2)
        self.expect(client.send("GET", "/v1/sender-set"), 429, "too-many-requests")
        self.expect(client.send("GET", "/v1/sender-set", account="bob"), 204)
        now[0] += 2.5
        self.assertEqual([client.send("GET", "/v1/sender-set").status for _ in range(3)], [204, 204, 429])
        now[0] += 10_000
        self.assertEqual([client.send("GET", "/v1/sender-set").status for _ in range(61)], [204] * 60 + [429])

    def test_too_many_devices(self):
        client = self.make()
        phones = [self.phone() for _ in range(101)]
        for phone in phones[:100]:
            self.assertEqual(client.register(phone).status, 200)
            self.router._requests._full.clear()
        self.expect(client.register(phones[100]), 409, "too-many-devices")
        self.assertEqual(self.entries(phones[100]), {})
        self.expect(client.register(phones[0]), 200)
        self.expect(client.register(phones[100], "bob"), 200)
        self.expect(client.leave(phones[0]), 204)
        self.expect(client.register(phones[100]), 200)

    def test_records_that_are_refused(self):
        client, phone = self.make(), self.phone()
        now, record = int(time.time()), phone.record
        foreign, bank = self.phone(), sealed_push.testing.Phone(topic="com.example.bank")
        unknown = records.record_text(records.sign_bytes(phone._secret, records.unsigned_record(
            1, records.signing_public_key(phone._secret), 5, now, now + 99, TOPIC, [(9, b"key")])))
        senders = records.sign_record(records.SENDERS, phone._secret, 1, 1, 2, TOPIC, [SENDER._public])
        altered = bytearray(sealed_push.protocol.text.decode_base64(record[11:])[:-4])
        altered[-1] ^= 1
        cases = [
            (phone, record[:40], 400, "malformed"), (phone, record + "=", 400, "malformed"), (phone, "", 400, "malformed"),
            (phone, "pushrecord.\ud800", 400, "malformed"), (phone, 7, 400, "malformed"), (phone, None, 400, "malformed"),
            (phone, record[:50] + ("A" if record[50] != "A" else "B") + record[51:], 400, "wrong-checksum"),
            (phone, senders, 400, "wrong-type"), (phone, records.record_text(bytes(altered)), 400, "bad-signature"),
            (phone, foreign.record, 400, "malformed"), (phone, unknown, 422, "unsupported"),
            (bank, bank.record, 409, "other-topic"),
            (phone, phone.sign_record(created=now - 100, lifetime=50), 422, "expired"),
            (phone, phone.sign_record(created=now + 100_000), 422, "not-yet-valid"),
        ]  # fmt: skip
        for enrolled in (False, True):
            for each, text, status, code in cases:
                answer = client.send("PUT", path_of(each), {"record": text, "token": "ab", "environment": "sandbox"})
                self.expect(answer, status, code)
            if not enrolled:
                self.assertEqual(self.store.entries, {})
                phone.sign_record(counter=1, created=now)
                self.expect(client.enroll(phone), 204)
            self.router._requests._full.clear()

    def test_tokens_that_are_refused(self):
        client, phone = self.make(), self.phone()
        good = {"record": phone.record, "token": "ab" * 100, "environment": "production"}
        for token in ("", "a", "abc", "not hex", "abcd\n", "../3/device/ab", "ab" * 101, "ａｂ", "٠١", 12, ["ab"], None, True):
            self.expect(client.send("PUT", path_of(phone), good | {"token": token}), 400, "malformed")
        for environment in ("", "Production", "development", 1, None, ["sandbox"], {"production": 1}):
            self.expect(client.send("PUT", path_of(phone), good | {"environment": environment}), 400, "malformed")
        self.assertEqual(self.store.entries, {})
        self.expect(client.send("PUT", path_of(phone), good), 200)

    def test_answers_that_are_refused(self):
        now = [time.time()]
        client, phone = self.make(clock=lambda: now[0]), self.phone()
        path = path_of(phone) + "/answers"
        asked, = client.register(phone).json["challenges"]
        right = phone.answer(asked["challenge"])
        for answer in ("", "pushanswer.x", right[:-1], right + "A", "pushanswer.\ud800", 5, None):
            self.expect(client.send("POST", path, {"answer": answer}), 400, "malformed")
        for state in (5, "x" * 4097, "\ud800", [], {}):
            self.expect(client.send("POST", path, {"answer": right, "state": state}), 400, "malformed")
        wrong = "pushanswer." + "A" * 43
        self.expect(client.send("POST", path, {"answer": wrong}), 409, "unknown-challenge")
        old = phone.sign_record(recipients=[self.phone().recipients[0]])
        phone._record = old
        client.register(phone)
        self.expect(client.send("POST", path, {"answer": right}), 409, "not-in-record")
        phone.sign_record()
        asked, = client.register(phone).json["challenges"]
        right = phone.answer(asked["challenge"])
        now[0] += 601
        self.expect(client.send("POST", path, {"answer": right, "state": None}), 409, "late")
        asked, = client.register(phone).json["challenges"]
        self.expect(client.send("POST", path, {"answer": phone.answer(asked["challenge"]), "state": "x" * 4096}), 204)

    def test_hostile_bodies(self):
        client, phone = self.make(), self.phone()
        good = {"record": phone.record, "token": "ab", "environment": "sandbox"}
        whole = json.dumps(good).encode()
        deep, long = b'{"a":' * 60 + b"1" + b"}" * 60, b'{"' + b"x" * 300 + b'":1}'
        bodies = [
            b"", b"{", b"null", b"[]", b'"x"', b"7", b"{}", b"\xff", whole[:-2] + b'\xff"}', whole.decode().encode("utf-16"),
            whole.decode().encode("utf-16-le"), whole.decode().encode("utf-32"), whole + b"x", whole + whole, b"\0" + whole, whole + b"\0",
            whole[:-1] + b',"token":"cd"}', whole[:-1] + b',"t\\u006fken":"cd"}', whole[:-1] + b',"user":"alice"}',
            whole[:-1] + b',"x":NaN}', whole[:-1] + b',"x":1e999}', whole[:-1] + b',"x":-Infinity}', whole[:-1] + b',"x":"\\ud800"}',
            whole[:-1] + b',"x":' + b"9" * 5000 + b"}", whole[:-1] + b',"x":"\n"}', deep, long, b"[" * 60_000, b'{"a":' * 12_000,
            whole[:-1] + b',"\\ud800":1}', whole.replace(b'"ab"', b'"ab\\u0000"'),
        ]  # fmt: skip
        for body in bodies:
            for method, place in (("PUT", ""), ("POST", "/answers")):
                self.expect(client.send(method, path_of(phone) + place, body), 400, "malformed")
            if len(body) <= 1024:
                self.expect(client.send("POST", "/v1/leavings", body, None), 400, "malformed")
            self.router._requests._full.clear()
        self.assertEqual(self.store.entries, {})
        # What serve accepts, too: a byte order mark, and null for an absent member.
        self.expect(client.send("PUT", path_of(phone), b"\xef\xbb\xbf " + whole[:-1] + b',"x":null}'), 200)

    def test_random_bodies(self):
        client, phone, draw = self.make(), self.phone(), seeded(self)
        whole = json.dumps({"record": phone.record, "token": "ab", "environment": "sandbox"}).encode()
        for _ in range(300):
            body = bytearray(whole)
            for _ in range(draw.randrange(1, 4)):
                body[draw.randrange(len(body))] = draw.randrange(256)
            answer = client.send("PUT", path_of(phone), bytes(body))
            self.assertIn(answer.status, (200, 400, 409, 422), bytes(body))
            self.router._requests._full.clear()

    def test_sizes(self):
        client, phone = self.make(), self.phone()
        whole = json.dumps({"record": phone.record, "token": "ab", "environment": "sandbox"}).encode()
        left = json.dumps({"leaving": self.phone().leave()}).encode()
        for method, place, data, limit, account in (
            ("PUT", path_of(phone), whole, 65536, "alice"), ("POST", "/v1/leavings", left, 1024, None)):
            self.assertIn(client.send(method, place, data.ljust(limit), account).status, (200, 204))
            self.expect(client.send(method, place, data.ljust(limit + 1), account), 413, "body-too-large")
            # Much more than that isn't read, and neither is a body that never ends.
            huge = Body(b" " * 5_000_000, size=10**15)
            self.expect(client.send(method, place, huge, account), 413, "body-too-large")
            self.assertLessEqual(huge.read_bytes, limit + 70_000)
            cut = Body(data[:100], size=1000)
            self.expect(client.send(method, place, cut, account), 400, "malformed")

    def test_content_types(self):
        client, phone = self.make(), self.phone()
        body = {"record": phone.record, "token": "ab", "environment": "sandbox"}
        for type in (None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"):
            self.expect(client.send("PUT", path_of(phone), body, content_type=type), 415, "wrong-media-type")
        for encoding in ("gzip", "br", "identity, gzip"):
            answer = client.send("PUT", path_of(phone), body, content_encoding=encoding)
            self.expect(answer, 415, "encoded")
            self.assertEqual(answer.headers["accept-encoding"], "identity")
        self.assertEqual(self.store.entries, {})
        for type in ("application/json", "Application/JSON; charset=utf-8", "application/json\t;x"):
            self.expect(client.send("PUT", path_of(phone), body, content_type=type, content_encoding="Identity"), 200)

    def test_functions_that_fail(self):
        phone, secret = self.phone(), "s3cr3t row"

        def fail(*arguments):
            raise RuntimeError(secret)

        for name in ("account", "load", "save"):
            client = self.make(**{name: fail})
            with self.assertLogs("sealed_push", "ERROR") as logged:
                answer = client.send("PUT", path_of(phone), {"record": phone.record, "token": "ab", "environment": "sandbox"})
            self.expect(answer, 503, "unavailable")
            said = "".join(logged.output)
            self.assertIn("RuntimeError", said)
            self.assertIn(f"`{name}`", said)
            self.assertNotIn(secret, said.replace('"s3cr3t row"', "") + str(answer))
        for wrong, words in (
            ({"account": lambda request: 4711}, "account returned neither text nor None: return the name of the account as text: a number needs str("),
            ({"load": lambda *_: ()}, "load must return a Found"), ({"save": lambda *_: "yes"}, "save must return True or False"),
        ):
            with self.assertLogs("sealed_push", "ERROR") as logged:
                answer = self.make(**wrong).send("PUT", path_of(phone), {"record": phone.record, "token": "ab", "environment": "sandbox"})
            self.expect(answer, 503, "unavailable")
            for said in (logged.output[0], answer.json["detail"]):
                self.assertIn(f"the function {words}", said)
                self.assertNotIn("4711", said)

    def test_a_stored_device_that_is_damaged(self):
        client, phone = self.make(), self.phone()
        client.enroll(phone)
        good, = self.store.entries[phone.enrollment]
        for state in ({}, good.state | {"record": "x"}, good.state | {"enrollment": "x"}, good.state | {"proven": 5}):
            self.store.entries[phone.enrollment] = (replace(good, state=state),)
            with self.assertLogs("sealed_push", "ERROR"):
                self.expect(client.send("PUT", path_of(phone), {"record": phone.record, "token": "ab", "environment": "sandbox"}), 503, "unavailable")
            self.assertEqual(self.store.entries[phone.enrollment][0].state, state)
        # Its owner can still remove it.
        self.expect(client.send("DELETE", path_of(phone)), 204)

    def test_saves_that_lose_the_race(self):
        phone, losses = self.phone(), [3]
        store = MemoryStore()

        def save(enrollment, account, found, entries):
            losses[0] -= 1
            return losses[0] < 0 and store.save(enrollment, account, found, entries)

        client = self.make(store, save=save)
        self.expect(client.enroll(phone), 204)
        losses[0] = 10**9
        answer = client.send("PUT", path_of(phone), {"record": phone.record, "token": "ab", "environment": "sandbox"})
        self.expect(answer, 503, "unavailable")
        self.assertEqual(self.entries(phone)["alice"].token, TOKEN)

    def test_the_openapi_description(self):
        """The same description as that of `sealedpush serve`."""
        try:
            import jsonschema
            import ruamel.yaml
        except ImportError:
            self.skipTest("needs jsonschema and ruamel.yaml")
        if not OPENAPI.exists():
            self.skipTest("needs a checkout")
        document = ruamel.yaml.YAML(typ="safe", pure=True).load(OPENAPI)
        client, phone = self.make(test=lambda entry, push: None), self.phone()
        checked = set()

        def check(path, method, answer):
            responses = document["paths"][path][method.lower()]["responses"]
            described = responses.get(str(answer.status), responses["default"])
            if "$ref" in described:
                described = document["components"]["responses"][described["$ref"].rpartition("/")[2]]
            if answer.body:
                content = described["content"][answer.headers["content-type"]]["schema"]
                # A server that stores its challenges may omit the state (EnrollmentHTTP 3.3).
                for each in answer.json.get("challenges", ()):
                    each["state"] = ""
                jsonschema.validate(answer.json, {"components": document["components"], **content})
            else:
                self.assertNotIn("content", described)
            checked.add((path, method, answer.status))

        place, body = "/v1/phones/{enrollment}", {"record": phone.record, "token": "ab", "environment": "sandbox"}
        for account, sent in (("nobody", body), ("alice", {}), ("alice", body)):
            check(place, "PUT", client.send("PUT", path_of(phone), sent, account))
        for answer in ("pushanswer." + "A" * 43, phone.answer(client.register(phone).json["challenges"][0]["challenge"])):
            check(place + "/answers", "POST", client.send("POST", path_of(phone) + "/answers", {"answer": answer}))
        phone.sign_record()
        client.register(phone)
        check(place, "PUT", client.send("PUT", path_of(phone), body))
        for _ in range(6):
            check(place + "/test", "POST", client.send("POST", path_of(phone) + "/test"))
        check("/v1/sender-set", "GET", client.send("GET", "/v1/sender-set"))
        self.router.sender_set = records.sign_record(records.SENDERS, bytes(32), 1, 1, 2**30, TOPIC, [SENDER._public])
        check("/v1/sender-set", "GET", client.send("GET", "/v1/sender-set"))
        check(place, "DELETE", client.send("DELETE", path_of(phone)))
        for left in ("x", phone.leave()):
            check("/v1/leavings", "POST", client.send("POST", "/v1/leavings", {"leaving": left}, None))
        self.assertEqual(len(checked), 13)
        phones = {path for path in document["paths"] if "/phones/" in path or path in ("/v1/sender-set", "/v1/leavings")}
        self.assertEqual({path for path, _, _ in checked}, phones)


@unittest.skipIf(django is None, "needs Django")
class RequestsOverDjango(Requests):
    over = staticmethod(over_django)

    def test_asynchronous_functions_are_refused(self):
        from sealed_push.django import urls

        async def load(*arguments):
            raise AssertionError

        with self.assertRaises(SettingError) as caught:
            urls(router_of(SENDER, load=load))
        self.assertEqual(caught.exception.code, "asynchronous")
        # A function can hide that it's asynchronous.
        client = Client(router_of(SENDER, load=lambda *arguments: asyncio.sleep(0)), over_django)
        phone = self.phone()
        with self.assertLogs("sealed_push", "ERROR"), self.assertWarns(RuntimeWarning):
            self.expect(client.send("DELETE", path_of(phone)), 503, "unavailable")
            import gc
            gc.collect()


class RouterArguments(unittest.TestCase):
    def test_settings(self):
        for options, code in (({"service": ""}, "service"), ({"service": 5}, "service")):
            with self.assertRaises(SettingError) as caught:
                router_of(SENDER, **options)
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(SettingError):
            router_of(None)
        router = router_of(SENDER)
        with self.assertRaises(SettingError) as caught:
            router.sender = Sender(SECRET, topic="com.example.bank")
        self.assertEqual(caught.exception.code, "other-topic")
        with self.assertRaises(SettingError):
            router.sender = SECRET
        self.assertIs(router.sender, SENDER)

    def test_nothing_is_shown_or_copied(self):
        router = router_of(SENDER)
        self.assertEqual(repr(router), f"PhoneRouter({TOPIC})")
        with self.assertRaises(TypeError):
            pickle.dumps(router)

    def test_bearer_tokens(self):
        for header, token in {"Bearer x": "x", "bearer   x ": "x", "Bearer": None, "": None, None: None, "Bearer x y": None}.items():
            self.assertEqual(bearer_token(header), token)


class ASGI(RouterTest):
    def test_functions_of_each_kind(self):
        store = MemoryStore()

        async def account(request):
            self.assertIsInstance(request, Request)
            self.assertEqual(request.native["type"], "http")
            return request.bearer

        async def load(*arguments):
            await asyncio.sleep(0)
            return store.load(*arguments)

        client, phone = self.make(store, account=account, load=load, save=lambda *a: self.later(store.save(*a))), self.phone()
        self.expect(client.enroll(phone), 204)
        self.assertTrue(self.entries(phone)["alice"].is_proven)

    async def later(self, value):
        await asyncio.sleep(0)
        return value

    def test_lifespan_and_websockets(self):
        app, sent = asgi.application(router_of(SENDER)), []
        messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive():
            return next(messages)

        async def send(message):
            sent.append(message["type"])

        asyncio.run(app({"type": "lifespan"}, receive, send))
        asyncio.run(app({"type": "websocket"}, receive, send))
        self.assertEqual(sent, ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"])

    def test_mounted_in_starlette_and_fastapi(self):
        try:
            import fastapi
            import starlette.applications
            import starlette.routing
        except ImportError:
            self.skipTest("needs FastAPI")
        phone = self.phone()
        body = json.dumps({"record": phone.record, "token": "ab", "environment": "sandbox"}).encode()
        for kind in ("starlette", "fastapi"):
            for place in ("", "/push"):
                own = asgi.application(router_of(SENDER))
                if kind == "fastapi":
                    app = fastapi.FastAPI()
                    app.mount(place, own)
                else:
                    app = starlette.applications.Starlette(routes=[starlette.routing.Mount(place, app=own)])
                sent = []

                async def receive():
                    return {"type": "http.request", "body": body}

                async def send(message):
                    sent.append(message)

                headers = [(b"authorization", b"Bearer alice"), (b"content-type", b"application/json")]
                scope = {"type": "http", "method": "PUT", "path": place + path_of(phone), "headers": headers, "query_string": b"",
                         "root_path": "", "server": ("localhost", 80), "scheme": "http", "http_version": "1.1"}  # fmt: skip
                asyncio.run(app(scope, receive, send))
                self.assertEqual(sent[0]["status"], 200, (kind, place, sent))
