"""All of Tests/Vectors: which ones open, which are refused with which code, and which are sealed byte for byte."""

import io
import json
import re
import unittest
from collections import Counter

from sealed_push import (
    ContentError,
    Device,
    FileError,
    KeyTextError,
    Leaving,
    OpenError,
    ReceiptReceiver,
    SealedPushError,
    Sender,
    SettingError,
    generate_sender_secret,
)
from sealed_push.protocol import (
    chart,
    content,
    envelope,
    files,
    fingerprint,
    grants,
    hpke,
    key_text,
    mlkem,
    receipts,
    records,
    text,
    visible,
)

from .support import NINA, VECTORS, Phone, keys_of, phone_of, read_vectors


class Vectors(unittest.TestCase):
    def test_pushes(self):
        vectors = read_vectors(".")
        self.assertEqual(len(vectors), 427)
        for name, values in vectors.items():
            with self.subTest(name):
                self.assertEqual(self.opened(values), self.expected(values))
                if values["outcome"] == "opened" and "number" in values:
                    self.sealed(values)

    def opened(self, values):
        phone = phone_of(values, allow_anonymous=values["allow-anonymous"] == "yes")
        payload = values.get("payload") or {envelope.FIELD: values["field"]}
        try:
            opened = phone.open(payload, now=int(values["now"]))
        except OpenError as error:
            return error.code, None
        with self.assertRaises(OpenError) as raised:
            phone.open(payload, now=int(values["now"]))
        self.assertEqual(raised.exception.code, "replayed")
        return "opened", opened

    def expected(self, values):
        return values["outcome"], json.loads(values["content"]) if "content" in values else None

    def sealed(self, values):
        sender = bytes.fromhex(values["sender-secret"])
        identities = keys_of(values, "identity", key_text.IDENTITY)
        ephemeral, number = bytes.fromhex(values["ephemeral-secret"]), bytes.fromhex(values["number"])
        plaintext = bytes.fromhex(values["plaintext"])
        made = {}
        for identity in identities:
            context = hpke.Context.to_seal(sender, hpke.public_key(identity), values["topic"], ephemeral)
            made[context.shared_secret.hex()] = (context, hpke.public_key(identity))
        context, recipient = made[values["shared-secret"]]
        self.assertEqual(context.number_key.hex(), values["number-key"])
        if "number-random" in values:
            self.assertEqual(context.number(plaintext, bytes.fromhex(values["number-random"])), number)
        sealed = context.seal(plaintext, number)
        self.assertEqual(sealed.hex(), values["aad"] + values["ciphertext"] + values["tag"])
        if "field" in values:
            self.assertEqual(text.encode_base64(sealed), values["field"])
        made = content.parse(values["content"].encode())
        key = envelope.header_key(sender, values["topic"])
        self.assertEqual(key.hex(), values["header-key"])
        string = made.get("collapse-id", made["id"])
        self.assertEqual(envelope.collapse_id(key, recipient, string), values["apns-collapse-id"])
        self.assertEqual(envelope.apns_id(key, recipient, made["id"]), values["apns-id"])
        self.assertEqual(envelope.ledger_key(sealed, recipient, hpke.sender_public_key(sender)).hex(), values["ledger-key"])

    @unittest.skipUnless(mlkem.is_available(), "needs cryptography 48")
    def test_hybrid(self):
        vectors = read_vectors("Hybrid")
        self.assertEqual(len(vectors), 29)
        for name, values in vectors.items():
            with self.subTest(name):
                if "field" in values:
                    self.assertEqual(self.opened(values), self.expected(values))
                    if values["outcome"] == "opened":
                        self.sealed_hybrid(values)
                elif values["kind"] == "challenge":
                    self.assertEqual(self.answered(values), values["answer"])

    def test_hybrid_records(self):
        vectors = {name: each for name, each in read_vectors("Hybrid").items() if each.get("kind") == "device"}
        self.assertEqual(len(vectors), 4)
        for name, values in vectors.items():
            with self.subTest(name):
                is_unsupported = values["outcome"] == "accepted" and not mlkem.is_available()
                self.assertEqual(self.outcome(self.record, values), "unsupported" if is_unsupported else values["outcome"])

    def sealed_hybrid(self, values):
        data = {name: bytes.fromhex(values[name]) for name in ("sender-secret", "ephemeral-secret", "psk", "psk-id", "plaintext")}
        context = hpke.Context.to_seal(
            data["sender-secret"],
            key_text.recipient(values["recipient"]),
            values["topic"],
            data["ephemeral-secret"],
            encapsulated=(data["psk"], data["psk-id"]),
        )
        number = context.number(data["plaintext"], bytes.fromhex(values["number-random"]))
        self.assertEqual(text.encode_base64(context.seal(data["plaintext"], number)), values["field"])

    def test_records_and_challenges(self):
        vectors = read_vectors("Records")
        self.assertEqual(len(vectors), 138)
        for name, values in vectors.items():
            with self.subTest(name):
                check = self.challenge if values["kind"] == "challenge" else self.record
                self.assertEqual(self.outcome(check, values), values["outcome"])

    def outcome(self, check, values):
        try:
            return check(values)
        except SealedPushError as error:
            return error.code

    def record(self, values):
        kinds = {
            "device": (records.DEVICE, key_text.RECIPIENT, key_text.ENROLLMENT, key_text.ENROLLMENT_SECRET),
            "senders": (records.SENDERS, key_text.SENDER, key_text.AUTHORITY, key_text.AUTHORITY_SECRET),
        }
        type, key_kind, signer_kind, secret_kind = kinds[values["kind"]]
        known = records.read_record(type, values["known"]) if "known" in values else None
        read = records.read_record(type, values["record"])
        pinned = key_text.decode(signer_kind, values["pinned"])
        records.check_record(read, pinned, values["topic"], known, int(values["now"]))
        if "key" in values:
            self.assertEqual(tuple(keys_of(values, "key", key_kind)), read.keys)
        if "signer-secret" in values:
            numbers = [int(values[name]) for name in ("counter", "created", "expires")]
            secret = key_text.decode(secret_kind, values["signer-secret"])
            keys, keeps = keys_of(values, "key", key_kind), int(values["keeps"])
            made = records.sign_record(type, secret, *numbers, values["topic"], keys, keeps)
            self.assertEqual(made, values["record"])
        return "accepted"

    def answered(self, values):
        return records.answer_challenge(
            values["challenge"],
            keys_of(values, "identity", key_text.IDENTITY),
            keys_of(values, "sender", key_text.SENDER),
            values["topic"],
            key_text.decode(key_text.ENROLLMENT, values["enrollment"]),
        )

    def challenge(self, values):
        answer = self.answered(values)
        self.assertEqual(answer, values["answer"])
        made = records.make_challenge(
            key_text.decode(key_text.SENDER_SECRET, values["sender-secret"]),
            key_text.decode(key_text.RECIPIENT, values["recipient"]),
            key_text.decode(key_text.ENROLLMENT, values["asked-enrollment"]),
            values["topic"],
            bytes.fromhex(values["random"]),
            bytes.fromhex(values["ephemeral-secret"]),
            bytes.fromhex(values["number"]),
        )
        self.assertEqual(made, (values["challenge"], answer))
        return "answered"

    def test_leavings(self):
        vectors = read_vectors("Leavings")
        self.assertEqual(len(vectors), 46)
        for name, values in vectors.items():
            with self.subTest(name):
                self.assertEqual(self.outcome(self.leaving, values), values["outcome"])

    def leaving(self, values):
        leaving = Leaving(values["leaving"], topic=values["topic"], service=values["service"])
        self.assertEqual((leaving.enrollment, str(leaving.counter)), (values["enrollment"], values["counter"]))
        secret = key_text.decode(key_text.ENROLLMENT_SECRET, values["signer-secret"])
        self.assertEqual(records.sign_leaving(secret, leaving.counter, leaving.topic, leaving.service), values["leaving"])
        if "record" in values:
            record = records.read_record(records.DEVICE, values["record"])
            device = Device(key_text.encode(key_text.ENROLLMENT, record.signer), values["record"])
            self.assertEqual(leaving.ends(device), values["ends"] == "yes")
        return "accepted"

    def test_grants(self):
        vectors = read_vectors("Grants")
        self.assertEqual(len(vectors), 93)
        for name, values in vectors.items():
            with self.subTest(name):
                self.assertEqual(self.outcome(self.grant, values), values["outcome"])

    def grant(self, values):
        known = grants.read_grant(values["known"]) if "known" in values else None
        grant = grants.read_grant(values["grant"])
        relay, sender = bytes.fromhex(values["relay"]), key_text.decode(key_text.SENDER, values["sender"])
        pinned = key_text.decode(key_text.ENROLLMENT, values["pinned"]) if "pinned" in values else None
        now = int(values["now"])
        grants.check_grant(grant, (values["host"], relay), sender, [values["topic"]], known, now, pinned)
        found = grants.open_token(grant, bytes.fromhex(values["relay-secret"]))
        opened = values["environment"], bytes.fromhex(values["token"])
        self.assertEqual(found, opened)
        # The device makes the same grant.
        times = grant.counter, grant.created, grant.expires
        start = grants.beginning(grant.signer, *times, grant.topic, grant.host, (1, relay), (1, sender))
        plaintext, ephemeral = grants.token_plaintext(*opened), bytes.fromhex(values["ephemeral-secret"])
        self.assertEqual(plaintext.hex(), values["plaintext"])
        sealed = grants.seal_token(plaintext, start, relay, grant.topic, ephemeral)
        secret = key_text.decode(key_text.ENROLLMENT_SECRET, values["signer-secret"])
        self.assertEqual(grants.sign_grant(secret, start, sealed), values["grant"])
        return "accepted"

    def test_receipts(self):
        vectors = read_vectors("Receipts")
        self.assertEqual(len(vectors), 201)
        for name, values in vectors.items():
            with self.subTest(name):
                if "receipt" in values:
                    found = "reads" if receipts.read_request(json.loads(values["receipt"])) else "unreadable"
                else:
                    found = self.receipt(values)
                self.assertEqual(found, values["outcome"])

    def receipt(self, values):
        secrets = [values[each] for each in values if each.rstrip("0123456789") == "sender-secret"]
        try:
            said = ReceiptReceiver(secrets, topic=values["topic"]).check(bytes.fromhex(values["body"]), now=int(values["now"]))
        except SealedPushError as error:
            return error.code
        if "number" in values:
            self.assertEqual((said.device.hex(), said.number.hex()), (values["id"], values["number"]))
            self.assertEqual((said.shown_at, said.elapsed_milliseconds), (int(values["created"]), int(values["elapsed"])))
            pairs = [each.split("=") for each in values["counts"].split()]
            counts = {int(index): int(count) for index, count in pairs}
            key = bytes.fromhex(values["key"])
            server = bytes.fromhex(values["server-key"])
            self.assertEqual(receipts.device_id(server, key_text.recipient(values["recipient"])), said.device)
            self.assertEqual(receipts.device_key(server, said.device), key)
            made = receipts.make(key, said.device, values["message"], said.shown_at, said.elapsed_milliseconds, counts)
            self.assertEqual(made.hex(), values["body"])
            self.assertEqual(sum(said.failures.values()) + said.other_failures, sum(counts.values()))
        return "taken"

    def test_attachments(self):
        vectors = read_vectors("Attachments")
        self.assertEqual(len(vectors), 153)
        for name, values in vectors.items():
            with self.subTest(name):
                entry = files.read_attachment(json.loads(values["entry"]))
                plaintext, outcome = None, "unreadable"
                if entry:
                    try:
                        chunks = files.opened_chunks(entry, io.BytesIO(bytes.fromhex(values["stored"])))
                        data = b"".join(chunks)
                        if files.TYPES[entry["type"]][1](data[: files.SIGNATURE]):
                            plaintext, outcome = data.hex(), "opens"
                        else:
                            outcome = "wrong-type"
                    except FileError as error:
                        outcome = error.code
                self.assertEqual((outcome, plaintext), (values["outcome"], values.get("plaintext")))

    def test_charts(self):
        vectors = read_vectors("Charts")
        self.assertEqual(len(vectors), 43)
        for name, values in vectors.items():
            with self.subTest(name):
                read = chart.read(json.loads(values["chart"]))
                self.assertEqual("reads" if read else "unreadable", values["outcome"])
                if read:
                    self.assertEqual(read, json.loads(values["read"]))

    def test_what_a_sender_takes(self):
        vectors = read_vectors("Sealing")
        self.assertEqual(len(vectors), 413)
        for name, values in vectors.items():
            with self.subTest(name):
                # Swift reads JSON, and names the place of such an integer instead of the member.
                integer = {"refused-integer-unknown-key": "new"}.get(name, "data.n[0]" if name.startswith("refused-integer") else None)
                outcome, member = self.taken(values)
                expected = values.get("member", integer)
                # This client names the member of the content that contains the one at fault.
                if member is not None and re.match(re.escape(member) + r"[.\[]", expected or "") and "-part-" in name:
                    member = expected
                self.assertEqual((outcome, member), (values["outcome"], expected))

    def taken(self, values):
        if "start" in values:
            begins = files.TYPES[values["type"]][1]
            return "sealed" if begins(bytes.fromhex(values["start"])) else "refused", None
        try:
            content.for_sealing(envelope.complete(json.loads(values["content"]), "a.b", 0), "a.b", 0)
            return "sealed", None
        except ContentError as error:
            return "refused", error.member

    def test_visible_scalars(self):
        ranges = [line.partition("-") for line in (VECTORS / "Text/invisible.txt").read_text(encoding="utf-8").split("\n")[1:-1]]
        self.assertEqual(len(ranges), 62)
        invisible = {number for first, _, last in ranges for number in range(int(first, 16), int(last or first, 16) + 1)}
        scalars = (*range(0xD800), *range(0xE000, 0x110000))
        found = {number for number in scalars if not visible.is_visible(chr(number))}
        self.assertEqual(found, invisible)
        self.assertFalse(visible.is_visible("".join(map(chr, invisible))))

    def test_alerts_in_the_clear(self):
        lines = (VECTORS / "Text/alerts.tsv").read_text(encoding="utf-8").split("\n")
        cases = [line.split("\t", 1) for line in lines if line and not line.startswith("#")]
        taken = Counter(kind for kind, _ in cases)
        self.assertEqual(taken, {"allowed": 22, "other-form": 11, "refused": 65})
        secret = generate_sender_secret()
        for kind, given in cases:
            with self.subTest(given):
                try:
                    sender = Sender(secret, topic="a.b", safe_default=json.loads(given))
                except ValueError:
                    # Not JSON.
                    taken[kind] -= 1
                    continue
                except SettingError as error:
                    # A sender need not take other forms.
                    self.assertNotEqual(kind, "allowed")
                    self.assertEqual(error.code, "safe-default")
                    taken[kind] -= 1
                    continue
                self.assertIn(kind, ("allowed", "other-form"))
                payload = sender.seal_unverified(NINA, Phone(topic="a.b").recipients[0]).payload
                self.assertEqual(f'"alert":{given},"mutable-content"'.encode() in payload, kind == "allowed")
        self.assertEqual(taken, {"allowed": 22, "other-form": 11, "refused": 0})

    def test_members_that_look_misspelled(self):
        for line in (VECTORS / "Members" / "suspects.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            given, paths = line.split("\t")
            self.assertEqual(content.suspects(json.loads(given)), paths.split(), given)

    def test_key_texts(self):
        lines = (VECTORS / "Text/keys.tsv").read_text(encoding="utf-8").splitlines()[2:]
        self.assertEqual(len(lines), 201)
        for line in lines:
            kind, expected, quoted, sentence = line.split("\t")
            if kind == key_text.HYBRID_RECIPIENT and not mlkem.is_available():
                continue
            with self.subTest(f"{kind}: {sentence}"):
                try:
                    found = key_text.decode(kind, json.loads(quoted)).hex()
                except KeyTextError:
                    found = "refused"
                self.assertEqual(found, expected)
                if found != "refused":
                    self.assertEqual(key_text.encode(kind, bytes.fromhex(found)).lower(), json.loads(quoted).lower())

    def test_fingerprints(self):
        words = (VECTORS / "Text/words.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual(fingerprint.WORDS, words)
        self.assertEqual(len(set(words)), 256)
        lines = (VECTORS / "Text/fingerprints.tsv").read_text(encoding="utf-8").splitlines()[1:]
        self.assertEqual(len(lines), 8)
        for line in lines:
            kind, key, digits, named = line.split("\t")
            value = fingerprint.fingerprint(kind, bytes.fromhex(key))
            self.assertEqual((fingerprint.digits(value), fingerprint.words(value)), (digits, named))

    def test_sizes(self):
        suites = {"authenticated": hpke.AUTHENTICATED, "anonymous": hpke.ANONYMOUS, "hybrid": hpke.HYBRID}
        lines = (VECTORS / "Text/sizes.tsv").read_text(encoding="utf-8").splitlines()[1:]
        self.assertEqual(len(lines), 15)
        largest = {}
        for line in lines:
            suite, *numbers = line.split("\t")
            plaintext, sealed, characters, payload = map(int, numbers)
            made = envelope.payload(bytes(plaintext + hpke.OVERHEAD[suites[suite]]))
            length = len(made) - len(envelope.payload(None))
            self.assertEqual((plaintext + hpke.OVERHEAD[suites[suite]], length, len(made)), (sealed, characters, payload))
            largest[suite] = plaintext
        self.assertEqual({suite: envelope.largest_plaintext(each) for suite, each in suites.items()}, largest)
