import copy
import datetime
import decimal
import io
import json
import os
import pickle
import signal
import threading
import time
import traceback
import unittest
import uuid
from unittest import mock

import sealed_push
from sealed_push import ContentError, KeyTextError, RecordError, Sender, SettingError, TooLargeError
from sealed_push.contexts import LIFETIME, MOST_HELD, MOST_MESSAGES, ContextCache
from sealed_push import content as contents
from sealed_push.errors import MOMENT
from sealed_push.protocol.content import NAMES
from sealed_push.protocol import hpke, key_text, mlkem, receipts
from sealed_push.protocol.text import decode_base64

from .support import NINA, TOPIC, Phone, enrolled, read_vectors

SECRET = sealed_push.generate_sender_secret()
# Not the current time, but near enough for records to be valid.
NOW = int(time.time()) - 60


def envelope_of(push):
    return decode_base64(push.message["custom-encrypted-message"])


def number_of(push):
    return envelope_of(push)[41:53]


class Sealing(unittest.TestCase):
    def setUp(self):
        self.sender = Sender(SECRET, topic=TOPIC)
        self.phone, self.device = enrolled(self.sender)

    def test_what_is_sealed_opens_with_what_was_left_out_filled_in(self):
        before = copy.deepcopy(NINA)
        push = self.sender.seal(NINA, self.device, now=NOW)
        self.assertEqual(NINA, before)
        device = sealed_push.Device.from_dict(self.device.to_dict())
        self.assertEqual(push.recipient, device.recipient())
        opened = self.phone.open(push.payload, now=NOW)
        self.assertEqual(opened, {"id": push.message_id, "topic": TOPIC, "sent": NOW} | NINA)
        clear = {"alert": "You have a new message!", "mutable-content": 1}
        self.assertEqual(push.message["aps"], clear)
        self.assertEqual(set(push.message), {"aps", "custom-encrypted-message"})

    def test_headers(self):
        content = NINA | {"id": "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09", "expires": NOW + 758}
        first = self.sender.seal(content, self.device, now=NOW)
        again = self.sender.seal(content, self.device, priority=5, now=NOW)
        self.assertEqual(first.headers | {"apns-priority": "5"}, again.headers)
        self.assertEqual(
            set(first.headers),
            {"apns-topic", "apns-push-type", "apns-priority", "apns-id", "apns-collapse-id", "apns-expiration"},
        )
        self.assertEqual(first.headers["apns-expiration"], str(NOW + 758))
        self.assertEqual(self.sender.seal(content, self.device, expiration=0, now=NOW).headers["apns-expiration"], "0")
        self.assertNotIn("apns-expiration", self.sender.seal(NINA, self.device).headers)
        self.assertNotEqual(first.payload, again.payload)

    def test_only_what_is_proven_and_in_time_is_sealed_to(self):
        fresh = Phone(topic=TOPIC, trusting=[self.sender.public_key])
        device = sealed_push.Device.enroll(fresh.record, topic=TOPIC)
        with self.assertRaises(RecordError) as raised:
            self.sender.seal(NINA, device)
        self.assertEqual(raised.exception.code, "unproven")
        with self.assertRaises(RecordError) as raised:
            self.sender.seal(NINA, self.device, now=self.device.expires + 1)
        self.assertEqual(raised.exception.code, "expired")
        with self.assertRaises(SettingError) as raised:
            Sender(SECRET, topic="com.example.other").seal(NINA, self.device)
        self.assertEqual(raised.exception.code, "other-topic")
        push = self.sender.seal_unverified(NINA, fresh.recipients[0])
        self.assertTrue(fresh.open(push.payload))

    def test_a_sender_that_requires_hybrid_keys_seals_to_no_others(self):
        sender = Sender(SECRET, topic=TOPIC, require_hybrid=True)

        for seal, to in ((sender.seal, self.device), (sender.seal_unverified, self.phone.recipients[0])):
            with self.assertRaises(RecordError) as raised:
                seal(NINA, to)
            self.assertEqual(raised.exception.code, "not-hybrid")

    @unittest.skipUnless(mlkem.is_available(), "needs cryptography 48")
    def test_a_sender_that_requires_hybrid_keys_seals_once_one_is_proven(self):
        sender = Sender(SECRET, topic=TOPIC, require_hybrid=True)
        self.phone.rotate(hybrid=True)
        self.device.update(self.phone.record)
        with self.assertRaises(RecordError) as raised:
            sender.seal(NINA, self.device)
        self.assertEqual(raised.exception.code, "not-hybrid")
        self.device.answer(self.phone.answer(self.device.challenge(sender)))
        for push in (sender.seal(NINA, self.device), sender.seal_unverified(NINA, self.phone.recipients[0])):
            self.assertEqual(envelope_of(push)[0], hpke.HYBRID)
            self.assertTrue(self.phone.open(push.payload))

    def test_nothing_expires_later_than_the_device_keeps_its_keys(self):
        for days in (1, 3, 29, 30, 31):
            self.device.update(self.phone.sign_record(keeps=days))
            self.assertEqual(self.device.keeps, days)
            sent = NOW - 60
            last = sent + days * 86400
            content = NINA | {"sent": sent}

            push = self.sender.seal(content, self.device, now=NOW)
            header, opened = push.headers.get("apns-expiration"), self.phone.open(push.payload, now=NOW)
            self.assertEqual((header, opened.get("expires")), (str(last), last) if days < 30 else (None, None))
            # The caller's expiration affects only the header.
            push = self.sender.seal(content, self.device, expiration=0, now=NOW)
            self.assertEqual(push.headers["apns-expiration"], "0")
            self.assertEqual("expires" in self.phone.open(push.payload, now=NOW), days < 30)

            push = self.sender.seal(content | {"expires": last + 3600}, self.device, now=NOW)
            self.assertEqual(push.headers["apns-expiration"], str(last + 3600))
            last_expiration = NOW + days * 86400 + 3600
            push = self.sender.seal(content, self.device, expiration=last_expiration, now=NOW)
            self.assertEqual(push.headers["apns-expiration"], str(last_expiration))
            for late, expiration in (
                *((content | {"expires": last + 3601}, given) for given in (None, 0)),
                (content, last_expiration + 1),
            ):
                with self.assertRaises(RecordError) as raised:
                    self.sender.seal(late, self.device, expiration=expiration, now=NOW)
                self.assertEqual(raised.exception.code, "expires-too-late")
                self.assertIn("Device.keeps", str(raised.exception))

            # It is unknown how long such a key is kept.
            late = {"expires": last + 3601}
            self.sender.seal_unverified(content | late, self.phone.recipients[0], expiration=last_expiration + 1, now=NOW)
            push = self.sender.seal_unverified(content, self.phone.recipients[0], now=NOW)
            self.assertNotIn("apns-expiration", push.headers)
            self.assertNotIn("expires", self.phone.open(push.payload, now=NOW))

    def test_content_is_refused_if_the_end_that_it_would_get_has_passed(self):
        for days in (1, 3, 29):
            self.device.update(self.phone.sign_record(keeps=days))
            for expiration in (None, 0):
                last = NOW - days * 86400
                push = self.sender.seal(NINA | {"sent": last}, self.device, expiration=expiration, now=NOW)
                self.assertEqual(self.phone.open(push.payload, now=NOW)["expires"], NOW)
                for sent in (last - 1, 0):
                    with self.assertRaises(RecordError) as raised:
                        self.sender.seal(NINA | {"sent": sent}, self.device, expiration=expiration, now=NOW)
                    self.assertEqual(raised.exception.code, "expires-too-late")
            # An explicit expiration is checked as in other content.
            self.assertEqual(self.refused(NINA | {"sent": last - 1, "expires": NOW - 1}).member, "expires")
            self.sender.seal(NINA | {"sent": last - 1, "expires": NOW + 3599}, self.device, now=NOW)

    def test_wrong_times_in_the_content_are_named_for_a_device_that_keeps_its_keys_briefly_too(self):
        self.device.update(self.phone.sign_record(keeps=3))
        for member, value in (("sent", "now"), ("sent", True), ("sent", -1), ("sent", None), ("expires", None)):
            self.assertEqual(self.refused(NINA | {member: value}).member, member)
        self.assertEqual(self.refused(NINA | {"expires": NOW * 1000}).member, "expires")

    def test_the_room_is_that_of_the_keys_that_are_sealed_to(self):
        classical = Sender(SECRET, topic=TOPIC).max_content_bytes
        self.assertEqual(Sender(SECRET, topic=TOPIC, require_hybrid=True).max_content_bytes, classical - 1088)

    def test_every_size_fits_or_is_told(self):
        for reserve, padding in ((0, "buckets"), (0, "full"), (6, "none"), (1024, "buckets")):
            sender = Sender(SECRET, topic=TOPIC, reserve=reserve, padding=padding)
            base = {"id": "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09", "sent": NOW, "alert": {"body": ""}}
            around = len(json.dumps(base | {"topic": TOPIC}, separators=(",", ":")))
            for length in (1, 100, 1000, sender.max_content_bytes - around):
                content = base | {"alert": {"body": "x" * length}}
                push = sender.seal(content, self.device)
                self.assertLessEqual(len(push.payload), 4096 - reserve)
                if reserve == 6:
                    # The JSON from a client that rewrites the payload.
                    self.assertLessEqual(len(json.dumps(push.message)), 4096)
                    self.assertEqual(len(json.dumps(push.message)) - len(push.payload), 6)
                self.assertTrue(self.phone.open(push.payload, now=NOW))
            with self.assertRaises(TooLargeError) as raised:
                sender.seal(base | {"alert": {"body": "x" * (length + 17)}}, self.device)
            self.assertEqual(raised.exception.excess, 17)

    def test_safe_defaults(self):
        localized = {"title-loc-key": "NEW_MESSAGE", "loc-key": "FROM", "loc-args": ["Nina"]}
        sender = Sender(SECRET, topic=TOPIC, safe_default=localized)
        self.assertEqual(sender.seal(NINA, self.device).message["aps"]["alert"], localized)
        self.assertTrue(self.phone.open(sender.seal(NINA, self.device).payload))
        for wrong in ("", " \u200b", None, 7, {}, {"body": 1}, {"loc-args": ["a"]}, {"other": "x"}, "x" * 1023, "\ud800a"):
            with self.assertRaises(SettingError) as raised:
                Sender(SECRET, topic=TOPIC, safe_default=wrong)
            self.assertEqual(raised.exception.code, "safe-default")

    def test_wrong_settings(self):
        for name, values in {
            "topic": ("", "a b", "x" * 156, None, 3),
            "padding": ("most", None, []),
            "reserve": (-1, 1025, "6", True, 1.5),
            "receipts": ("http://example.com", "", 7, "https://" + "x" * 256),
            "require_hybrid": (None, 1, "no"),
        }.items():
            for value in values:
                with self.assertRaises(SettingError) as raised:
                    Sender(SECRET, **({"topic": TOPIC} | {name: value}))
                self.assertEqual(raised.exception.code, name.replace("_", "-"))
        for name, value in (
            *(("priority", 9), ("priority", None), ("now", 1.5)),
            *(("expiration", wrong) for wrong in ("0", -1, 1, 86400, NOW - 600, (NOW + 600) * 1000, True)),
        ):
            with self.assertRaises(SettingError) as raised:
                self.sender.seal(NINA, self.device, **{name: value})
            self.assertEqual(raised.exception.code, name)

    def test_what_a_sender_may_not_emit(self):
        entry = {"id": "a", "url": "https://a.example/b", "size": 59, "hash": "A" * 43, "key": "A" * 43, "type": "image/png"}
        self.sender.seal(NINA | {"attachments": [entry, entry | {"id": "b"}]}, self.device)
        for name, value in {
            "attachments": [entry, entry],
            "overflow": {"url": "https://a.example/b"},
            "chart": {"kind": "line", "points": []},
            "receipt": {"url": "https://a.example"},
            "template": 1,
            "disclosure": "private",
            "badge": 3.0,
            "data": None,
            "alert": {"title": "\u200b"},
            "interruption-level": [],
            "id": "5B0F6C1E-8D3A-4F57-9A61-2F4C8E7D1B09",
            "sent": True,
        }.items():
            with self.assertRaises(ContentError) as raised:
                self.sender.seal(NINA | {name: value}, self.device)
            self.assertEqual(raised.exception.member, name)
        for url in ("http://files.example.com/p", "https://a_b.example/p", "https://[::1/p", "https://a:b@a.example/p"):
            with self.assertRaises(sealed_push.FileError) as raised:
                sealed_push.seal_file(io.BytesIO(b"x"), io.BytesIO(), url=url)
            self.assertEqual(raised.exception.code, "url")

    def test_what_is_surely_a_mistake_in_the_content_is_refused_with_the_name_of_the_member(self):
        for member, content in {
            "attachments[1].thumbnail.hidden": {"attachments": [{}, {"thumbnail": {"hidden": None}}]},
            "expires": {"expires": 3600},
            "alert": {"alert": "Lunch at one?"},
        }.items():
            with self.assertRaises(ContentError) as raised:
                self.sender.seal(NINA | content, self.device)
            self.assertEqual(raised.exception.member, member)
            self.assertIn(f'"{member}"', str(raised.exception))
        self.assertIn('such as {"title"', str(self.refused(NINA | {"alert": "Lunch at one?"})))
        for name, value in (
            ("expires", 3600), ("expires", NOW * 1000), ("expires", time.time() + 3600), ("expires", "2027-01-01T00:00:00Z"),
            ("sent", NOW * 1000), ("sent", time.time()), ("sent", str(NOW)),
        ):  # fmt: skip
            self.assertIn(MOMENT, str(self.refused(NINA | {name: value})))
        for name, value in (("expiration", NOW * 1000), ("expiration", 3600), ("now", NOW * 1000), ("now", time.time())):
            with self.assertRaises(SettingError) as raised:
                self.sender.seal(NINA, self.device, **{name: value})
            self.assertIn(MOMENT, str(raised.exception))
        with self.assertRaises(SettingError) as raised:
            self.device.recipient(now=NOW * 1000)
        self.assertIn(MOMENT, str(raised.exception))
        self.assertIn("leave it out", str(self.refused(NINA | {"badge": None})))
        # The whole content is wrong here.
        for content in ([], NINA | {7: 1}, NINA | {"\ud800": 1}, NINA | {"x" * 257: 1}):
            self.assertIsNone(self.refused(content).member)
        # The app's own values are allowed.
        own = {"kudos": None, "data": {"title": None, "id": [-(2**63), 2**63 - 1]}, "expires": NOW}
        self.sender.seal(NINA | own | {"chart": {"kind": "line", "points": [1, None]}}, self.device, now=NOW)

    def test_a_value_that_can_not_be_sealed_is_named_by_its_path_and_type(self):
        class Mine:
            pass

        now, deep = datetime.datetime(2027, 1, 1), []
        for _ in range(15):
            deep = [deep]
        circular = {}
        circular["again"] = circular
        for member, data, words in (
            ("data.order.createdAt", {"order": {"createdAt": now}}, "is a datetime; write it as text"),
            ("data", now.date(), "is a date; write it as text"),
            ("data[1].price", [{}, {"price": decimal.Decimal(1)}], "is a Decimal; write it as text"),
            ("data[0]", (b"bytes",), "is a bytes; write it as text"),
            ("data.a.b", {"a": {"b": uuid.UUID(int=1)}}, "is a UUID; write it as text"),
            ("data.tags", {"tags": {1, 2}}, "is a set; write it as text"),
            ("data.mine", {"mine": Mine()}, "is a Mine; write it as text"),
            ("data.n[0]", {"n": [2**63]}, "fit in 64 bits; write it as text"),
            ("data.n", {"n": -(2**63) - 1}, "fit in 64 bits; write it as text"),
            ("data.n", {"n": 10**400}, "fit in 64 bits; write it as text"),
            ("data.ratio", {"ratio": float("nan")}, "not a number that JSON can represent"),
            ("data.ratio", {"ratio": float("-inf")}, "not a number that JSON can represent"),
            ("data.text", {"text": "a\ud800"}, "unpaired surrogate"),
            ("data.a", {"a": {"b\udfff": 1}}, "unpaired surrogate in a name"),
            ("data.a", {"a": {7: 1}}, "a name that isn't text"),
            ("data.a", {"a": {None: 1}}, "a name that isn't text"),
            ("data.a", {"a": {"é" * 129: 1}}, "a name larger than 256 bytes"),
            ("data" + "[0]" * 15, [deep], "more than 16 levels"),
            ("data" + ".again" * 15, circular, "more than 16 levels"),
            # Names that may be data aren't shown.
            *(
                ("data.…", {name: now}, "is a datetime")
                for name in ("a b", "nina@example.com", "+49301234", "x" * 33, "", "é", "a.b", "a\n", "1", "-x")
            ),
        ):
            error = self.refused(NINA | {"data": data})
            self.assertEqual(error.member, member)
            self.assertIn(words, str(error))
        self.assertEqual(self.refused({"alert": {"body": b"x"}}).member, "alert.body")
        self.assertEqual(self.refused(NINA | {"sent": now}).member, "sent")
        self.assertEqual(self.refused(NINA | {"badge": 2**64}).member, "badge")

    def test_a_push_goes_through_a_queue_of_json(self):
        push = self.sender.seal(NINA, self.device)
        stored = json.loads(json.dumps(push.to_dict()))
        self.assertEqual(stored["payload"].encode(), push.payload)
        self.assertEqual(stored["headers"], push.headers)
        self.assertEqual(
            [stored[name] for name in ("message_id", "recipient", "sender")], [push.message_id, push.recipient, push.sender]
        )
        self.assertEqual(set(stored), {"payload", "headers", "message_id", "recipient", "sender"})
        self.assertEqual(self.phone.open(stored["payload"])["alert"], NINA["alert"])

    def test_members_that_look_misspelled_are_warned_of(self):
        with self.assertWarnsRegex(UserWarning, '"alert.titel" is not a known member') as warned:
            push = self.sender.seal({"alert": {"titel": "t", "body": "b"}}, self.device)
        self.assertEqual(warned.filename, __file__)
        self.assertIn("titel", self.phone.open(push.payload)["alert"])

    def test_the_types_of_content_name_all_of_its_members(self):
        members = set(contents.Content.__annotations__) | set(contents.Withdrawal.__annotations__)
        self.assertEqual(members, set(NAMES["content"]))
        for kind in ("Alert", "Sound", "Chart", "Person", "Withdraw"):
            self.assertEqual(set(getattr(contents, kind).__annotations__), set(NAMES[kind.lower()]))

    def test_a_withdrawal_is_a_background_push_without_a_receipt(self):
        for filtered, kind, priority in ((False, "background", "5"), (True, "alert", "10")):
            sender = Sender(SECRET, topic=TOPIC, receipts="https://example.com/receipts")
            push = sender.seal({"withdraw": {"thread": "nina", "filtered": filtered}}, self.device)
            self.assertEqual((push.headers["apns-push-type"], push.headers["apns-priority"]), (kind, priority))
            self.assertEqual(push.payload.startswith(b'{"aps":{"content-available":1},"custom-encrypted-message":"'), not filtered)
            self.assertNotIn("receipt", self.phone.open(push.payload))

    def refused(self, content):
        with self.assertRaises(ContentError) as raised:
            self.sender.seal(content, self.device)
        return raised.exception

    def test_a_receipt_is_asked_for_and_believed(self):
        sender = Sender(SECRET, topic=TOPIC, receipts="https://push.example.com/receipts")
        push = sender.seal(NINA, self.device)
        content = self.phone.open(push.payload)
        url, id, key = receipts.read_request(content["receipt"])
        self.assertEqual(url, "https://push.example.com/receipts")
        body = receipts.make(key, id, push.message_id, NOW, 412, {2: 3, 20: 1})
        said = sealed_push.ReceiptReceiver([sealed_push.generate_sender_secret(), SECRET], topic=TOPIC).check(body, now=NOW)
        self.assertEqual(said.device, sender.receipt_device(push.recipient))
        self.assertEqual((said.shown_at, said.elapsed_milliseconds), (NOW, 412))
        self.assertEqual((said.failures, said.other_failures), ({"unknown-recipient": 3}, 1))
        own = NINA | {"receipt": content["receipt"] | {"url": "https://other.example.com/"}}
        self.assertIn("other.example.com", self.phone.open(sender.seal(own, self.device).payload)["receipt"]["url"])


class Secrets(unittest.TestCase):
    def test_no_secret_is_printed_or_copied(self):
        sender = Sender(SECRET, topic=TOPIC, receipts="https://push.example.com/")
        phone, device = enrolled(sender)
        push = sender.seal({"alert": {"body": "a very private word"}}, device)
        receiver = sealed_push.ReceiptReceiver([SECRET], topic=TOPIC)
        shown = "".join(f"{each!r} {each}" for each in (sender, device, push, receiver))
        self.assertNotIn(SECRET[-20:], shown)
        self.assertNotIn("private", shown)
        self.assertNotIn(push.message["custom-encrypted-message"], shown)
        for each in (sender, receiver):
            for how in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaises(TypeError):
                    how(each)

    def test_no_error_repeats_what_it_was_given(self):
        wrong = SECRET[:-1] + ("Q" if SECRET[-1] != "Q" else "P")
        body = "a very private word"
        sender = Sender(SECRET, topic=TOPIC)
        phone, device = enrolled(sender)
        for call in (
            lambda: Sender(wrong, topic=TOPIC),
            lambda: Sender(SECRET.lower(), topic=TOPIC),
            lambda: Sender(SECRET + "Q", topic=TOPIC),
            lambda: sealed_push.ReceiptReceiver([wrong], topic=TOPIC),
            lambda: sealed_push.fingerprint(SECRET),
            lambda: sender.seal({"alert": {"body": body}, "data": {1, 2}}, device),
            lambda: sender.seal({"alert": {"body": body}, body: "\ud800"}, device),
            lambda: sender.seal({"alert": {"body": body * 500}}, device),
        ):
            with self.assertRaises(sealed_push.SealedPushError) as raised:
                call()
            error = raised.exception
            told = "".join(traceback.TracebackException.from_exception(error).format_exception_only())
            told += f"{error!r} {error} {error.args} {error.hint} {error.__context__!r} {error.__cause__!r}"
            self.assertNotIn("private", told)
            self.assertNotIn(SECRET[-20:-2], told)
            self.assertTrue(error.code and error.hint and error.message)
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((again.code, str(again)), (error.code, str(error)))


class Contexts(unittest.TestCase):
    def setUp(self):
        self.sender = Sender(SECRET, topic=TOPIC)
        self.phone, self.device = enrolled(self.sender)

    def test_a_context_ends_by_the_rules_and_each_message_has_a_number_of_its_own(self):
        pushes = [self.sender.seal(NINA, self.device) for _ in range(MOST_MESSAGES + 2)]
        self.assertEqual(len({number_of(push) for push in pushes}), len(pushes))
        encs = [envelope_of(push)[9:41] for push in pushes]
        self.assertEqual([encs.count(each) for each in dict.fromkeys(encs)], [MOST_MESSAGES, 2])
        for push in (pushes[0], pushes[-1], pushes[MOST_MESSAGES - 1]):
            self.assertTrue(self.phone.open(push.payload))
        self.sender.forget(push.recipient)
        self.assertNotIn(envelope_of(self.sender.seal(NINA, self.device))[9:41], encs)

    def test_a_number_is_never_that_of_another_plaintext_though_the_random_source_repeats(self):
        context = self.sender._make_context(key_text.recipient(self.phone.recipients[0]))
        with mock.patch("os.urandom", return_value=bytes(16)):
            numbers = {context.number(bytes([each])) for each in range(100)}
            self.assertEqual(context.number(b"a"), context.number(b"a"))
        self.assertEqual(len(numbers), 100)
        self.assertNotEqual(context.number(b"a"), context.number(b"a"))

    def test_an_hour_and_no_more_than_so_many(self):
        now, made = [0.0], []

        def make(recipient):
            made.append(recipient)
            return len(made)

        cache = ContextCache(make, clock=lambda: now[0])
        self.assertEqual(cache.get(b"a"), 1)
        now[0] = LIFETIME - 1
        self.assertEqual(cache.get(b"a"), 1)
        now[0] = LIFETIME
        self.assertEqual(cache.get(b"a"), 2)
        for number in range(MOST_HELD):
            cache.get(number)
        self.assertEqual(len(cache._held), MOST_HELD)
        self.assertEqual(cache.get(b"a"), MOST_HELD + 3)

    def test_threads_share_no_number(self):
        found, lock = [], threading.Lock()

        def work():
            own = [self.sender.seal(NINA, self.device) for _ in range(300)]
            with lock:
                found.extend((envelope_of(push)[9:41], number_of(push)) for push in own)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 2400)
        self.assertEqual(len(set(found)), 2400)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_child_seals_though_a_thread_of_its_parent_held_the_lock(self):
        first = self.sender.seal(NINA, self.device)
        reading, writing = os.pipe()
        with self.sender._contexts._lock:
            child = os.fork()
            if child == 0:
                try:
                    signal.alarm(10)
                    self.sender.forget(first.recipient)
                    os.write(writing, self.sender.seal(NINA, self.device).payload)
                finally:
                    os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            theirs = decode_base64(json.loads(pipe.read())["custom-encrypted-message"])
        os.waitpid(child, 0)
        ours = envelope_of(self.sender.seal(NINA, self.device))
        self.assertEqual(ours[9:41], envelope_of(first)[9:41])
        self.assertNotEqual(theirs[41:53], ours[41:53])


class Keys(unittest.TestCase):
    def test_fingerprints_are_those_of_the_specification(self):
        found = sealed_push.fingerprint("push1x56endjkd5mwg2fduh7vv8yel4reyvdlhvjtp3qdrd282sxwu3ksqhs462")
        self.assertEqual(found.digits, "91641 11652 10822 84328 05299 67106")
        self.assertEqual(found.words, "shrimp moss newt opera modern duet proud palace insect anchor garlic ideal")
        capitals = "PUSHSENDER1RAP9C6RWCS3D8PQUEDWHSTYE9GENPY6Z7AWXNXAALF8ZWL0A2DCS2DWSVJ"
        self.assertEqual(sealed_push.fingerprint(capitals).digits, "16500 83864 59234 19994 38065 70272")
        hybrid = sealed_push.fingerprint(read_vectors("Hybrid")["good-plain"]["recipient"])
        self.assertEqual(hybrid.digits, "03975 14906 22329 67738 21404 21662")
        self.assertEqual(hybrid.words, "farmer zesty guitar snow subway silver carpet duet frost smooth castle vase")

    def test_a_new_secret_is_a_key(self):
        sender = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)
        self.assertTrue(sender.public_key.startswith("pushsender1"))
        with self.assertRaises(KeyTextError):
            Sender(sender.public_key, topic=TOPIC)

    def test_a_secret_is_taken_as_files_and_variables_carry_it_or_named_for_what_it_is(self):
        for text in (f"{SECRET}\n", f"{SECRET}\r\n", f"  {SECRET}\t", f"\ufeff{SECRET}"):
            self.assertEqual(Sender(text, topic=TOPIC).public_key, Sender(SECRET, topic=TOPIC).public_key)
            sealed_push.ReceiptReceiver([text], topic=TOPIC)
        for text, code in {None: "not-given", "": "not-given", "\n": "not-given", "None": "not-given", "undefined": "not-given",
                           SECRET.lower(): "wrong-case", 7: "not-a-key", SECRET[:-1]: "wrong-checksum"}.items():  # fmt: skip
            with self.assertRaises(KeyTextError) as raised:
                Sender(text, topic=TOPIC)
            self.assertEqual(raised.exception.code, code)
        with self.assertRaises(KeyTextError) as raised:
            sealed_push.fingerprint(f"{Phone(topic=TOPIC).recipients[0]}\n")
        self.assertEqual(raised.exception.code, "white-space")

    def test_signing_keys_by_the_arithmetic_of_the_curve(self):
        """Compares libsodium with the formulas of RFC 8032, for valid points, other points, and points of low order."""
        prime, order = key_text.PRIME, key_text.ORDER
        d = -121665 * pow(121666, -1, prime) % prime

        def add(one, other):
            (x1, y1), (x2, y2) = one, other
            product = d * x1 * x2 * y1 * y2 % prime
            return (
                (x1 * y2 + x2 * y1) * pow(1 + product, -1, prime) % prime,
                (y1 * y2 + x1 * x2) * pow(1 - product, -1, prime) % prime,
            )

        def times(number, point):
            result = (0, 1)
            while number:
                if number & 1:
                    result = add(result, point)
                point, number = add(point, point), number >> 1
            return result

        def point(key):
            y = int.from_bytes(key, "little") & (1 << 255) - 1
            if y >= prime:
                return None
            square = (y * y - 1) * pow(d * y * y + 1, -1, prime) % prime
            x = pow(square, (prime + 3) // 8, prime)
            if (x * x - square) % prime:
                x = x * pow(2, (prime - 1) // 4, prime) % prime
            if (x * x - square) % prime:
                return None
            return (-x % prime if x & 1 != key[31] >> 7 else x, y)

        def expected(key):
            found = point(key)
            return found is not None and times(8, found) != (0, 1) and times(order, found) == (0, 1)

        def unchecked(scalar, key):
            x, y = times(int.from_bytes(scalar, "little"), point(key))
            return (y | (x & 1) << 255).to_bytes(32, "little")

        good = [key_text.decode(key_text.ENROLLMENT, Phone(topic=TOPIC).enrollment) for _ in range(3)]
        others = [os.urandom(32) for _ in range(6)]
        low = [bytes(32), (1).to_bytes(32, "little"), (prime - 1).to_bytes(32, "little"), prime.to_bytes(32, "little")]
        y = int.from_bytes(good[0], "little") & (1 << 255) - 1
        mixed = (prime - y | (1 - (good[0][31] >> 7)) << 255).to_bytes(32, "little")
        for key in (*good, *others, *low, mixed):
            self.assertEqual(key_text.is_signing_key(key), expected(key), key.hex())
        self.assertTrue(all(map(key_text.is_signing_key, good)))
        # With a libsodium that doesn't check the order: points of order 2L and 8L.
        eighth = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
        x, y = add(point(good[0]), point(eighth))
        for key in (mixed, (y | (x & 1) << 255).to_bytes(32, "little")):
            with mock.patch("nacl.bindings.crypto_scalarmult_ed25519_noclamp", unchecked):
                self.assertFalse(key_text.is_signing_key.__wrapped__(key))
                self.assertTrue(key_text.is_signing_key.__wrapped__(good[0]))
            with self.assertRaises(KeyTextError):
                key_text.encode(key_text.ENROLLMENT, key)
