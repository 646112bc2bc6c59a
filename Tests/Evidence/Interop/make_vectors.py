#!/usr/bin/env python3
"""Writes the test vectors into Tests/Vectors, one text file per case.

A file has comment lines that describe the case, and then lines `name: value`:

  identity, identity2, ...   identities, active ones first; only test keys
  sender, sender2, ...       trusted senders in the order of the list; may be absent
  topic, allow-anonymous, now
  field or payload           the base64url text, or the whole payload
  outcome                    opened, or the code
  content, plaintext-bytes   if opened: the content's JSON as sealed, and the plaintext's length
  plaintext                  the sealed plaintext, if it was sealed by the rules

If the case opens, the intermediate values follow in hexadecimal. `ciphertext` doesn't include the tag. The sender also
derives `header-key`, `apns-collapse-id` (from the content's collapse-id, or else from the message ID), and `apns-id`. The
receiver's ledger key is `ledger-key`.

The ephemeral secret of a case is SHA-256 of "sealed push vector: " and the file's name without .txt, and the random bytes
of its number are the first 16 of SHA-256 of "sealed push number: " and that name, so that each run writes the same files.
A real sender never derives either.
"""

import hashlib
import json
import pathlib
import sys
import textwrap

import interop
import nacl.bindings
import nacl.public
import nacl.secret
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from sealed_push.protocol import envelope as envelopes
from sealed_push.protocol import hpke, key_text
from sealed_push.protocol.content import pad
from sealed_push.protocol.hpke import ANONYMOUS, AUTHENTICATED, HPKE, KEM, Context, public_key, sender_public_key
from sealed_push.protocol.text import encode_base64, to_json

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Vectors"

IDENTITY = bytes.fromhex("30acb5f13a0ee4d7037caf7bf326fa307a9231a3c99992b072af6c1b9c02debf")
IDENTITY_2 = bytes.fromhex("abb0d8911d350ffc092cffcaf0b78660f3e347002aac833edf876591771d22e1")
SENDER = bytes.fromhex("9ade163aa2be10936a866031897f04e4ad65d9dbe963cd2bd3d89de89c100d9f")
SENDER_2 = bytes.fromhex("f1b75b0330b71e9a209504229a8a7cb5001e3d9c4213fb228af046249d3a1cae")
STRANGER = bytes.fromhex("06d731422289e057ebe2868ccea9f90d341a9192cd5381bb986bca071bbb51ac")
# Pairs of secrets whose public keys have the same hint under this ephemeral secret: identities of each suite, and senders to
# IDENTITY and to the second identity of the authenticated suite.
SHARED = "shared hints"
SHARED_IDENTITIES, SHARED_IDENTITIES_ANONYMOUS, SHARED_SENDERS, SHARED_SENDERS_TO_SECOND = (
    tuple(hashlib.sha256(b"shared hint %d" % number).digest() for number in pair)
    for pair in ((54548, 55094), (87499, 87822), (71151, 125070), (57178, 64209))
)

TOPIC = "com.example.app"
SENT = 1760000000
NOW = SENT + 3
MESSAGE_ID = "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09"
BASE = {"id": MESSAGE_ID, "topic": TOPIC, "sent": SENT, "alert": {"title": "Nina", "body": "Lunch at one?"}}


# Writing a case


def ephemeral(name):
    return hashlib.sha256(b"sealed push vector: " + name.encode()).digest()


def random_of_number(name):
    return hashlib.sha256(b"sealed push number: " + name.encode()).digest()[:16]


def number_of(value):
    return value.to_bytes(12, "big")


def context(name, identity=IDENTITY, sender=SENDER, topic=TOPIC):
    return Context.to_seal(sender, public_key(identity), topic, ephemeral(name))


def seal(name, plaintext, *arguments, **options):
    """Returns an authenticated envelope with its number by the rules."""
    sealing = context(name, *arguments, **options)
    return sealing.seal(plaintext, sealing.number(plaintext, random_of_number(name)))


def anonymous_values(name, identity=IDENTITY):
    """Returns the ephemeral public key, the nonce, and the box key of 3.6.2."""
    enc = public_key(ephemeral(name))
    nonce = hashlib.blake2b(enc + public_key(identity), digest_size=24).digest()
    return enc, nonce, nacl.bindings.crypto_box_beforenm(public_key(identity), ephemeral(name))


def box(box_key, nonce, plaintext):
    """Returns the tag and the ciphertext."""
    return nacl.secret.SecretBox(box_key).encrypt(plaintext, nonce).ciphertext


def seal_anonymous(name, plaintext, identity=IDENTITY):
    enc, nonce, box_key = anonymous_values(name, identity)
    hint = hpke.recipient_hint(ANONYMOUS, enc, public_key(identity))
    return bytes([ANONYMOUS]) + hint + enc + box(box_key, nonce, plaintext)


def numbered(name, texts):
    return {name + (str(index) if index > 1 else ""): text for index, text in enumerate(texts, 1)}


def setting(identities, senders, topic, allow_anonymous, now):
    return (
        numbered("identity", [key_text.encode(key_text.IDENTITY, each) for each in identities])
        | numbered("sender", senders)
        | {"topic": topic, "allow-anonymous": "yes" if allow_anonymous else "no", "now": now}
    )


def sender_texts(secrets):
    return [key_text.encode(key_text.SENDER, sender_public_key(each)) for each in secrets]


def write(name, sentence, values):
    lines = ["# " + line for line in textwrap.wrap(sentence, 100)]
    for key, value in values.items():
        text = value.hex() if isinstance(value, bytes) else str(value)
        if "\n" in text or "\r" in text:
            raise ValueError(name + ": a value has more than one line")
        lines.append(f"{key}: {text}")
    path = FOLDER / (name + ".txt")
    if path.exists():
        raise ValueError(name + ": made twice")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    vector = interop.read_vector(path)
    if interop.outcome_of(vector) != interop.expected_of(vector):
        raise ValueError(f"{name}: {interop.outcome_of(vector)}")


def good(
    name,
    sentence,
    content=BASE,
    anonymous=False,
    policy="none",
    largest=None,
    number=None,
    now=NOW,
    identities=(IDENTITY,),
    senders=(SENDER,),
    identity=IDENTITY,
    sender=SENDER,
    topic=TOPIC,
    texts=None,
    wrap=None,
    agreed=None,
):
    """Writes a case that opens. `identity` and `sender` seal; the lists are the receiver's. `agreed` names the ephemeral secret."""
    name = "good-" + name
    agreed = agreed or name
    data = content if isinstance(content, bytes) else to_json(content)
    suite = ANONYMOUS if anonymous else AUTHENTICATED
    plaintext = pad(data, policy, largest or envelopes.largest_plaintext(suite))
    recipient = public_key(identity)
    if anonymous:
        enc, nonce, box_key = anonymous_values(agreed, identity)
        envelope = seal_anonymous(agreed, plaintext, identity)
        inner = {
            "enc": enc,
            "nonce": nonce,
            "box-key": box_key,
            "plaintext": plaintext,
            "tag": envelope[37:53],
            "ciphertext": envelope[53:],
            "ledger-key": envelopes.ledger_key(envelope, recipient),
        }
    else:
        sealing = context(agreed, identity, sender, topic)
        random = {} if number is not None else {"number-random": random_of_number(name)}
        number = sealing.number(plaintext, *random.values()) if number is None else number_of(number)
        envelope = sealing.seal(plaintext, number)
        key = envelopes.header_key(sender, topic)
        parsed = json.loads(data)
        string = parsed.get("collapse-id", parsed["id"])
        inner = {
            "sender-secret": sender,
            "number-key": sealing.number_key,
            **random,
            "number": number,
            "enc": sealing.enc,
            "shared-secret": sealing.shared_secret,
            "key": sealing.key,
            "base-nonce": sealing.base_nonce,
            "nonce": sealing.nonce(number),
            "aad": sealing.aad(number),
            "plaintext": plaintext,
            "ciphertext": envelope[53:-16],
            "tag": envelope[-16:],
            "header-key": key,
            "apns-collapse-id": envelopes.collapse_id(key, recipient, string),
            "apns-id": envelopes.apns_id(key, recipient, parsed["id"]),
            "ledger-key": envelopes.ledger_key(envelope, recipient, sender_public_key(sender)),
        }
    texts = texts or sender_texts(senders)
    sealed = {"field": encode_base64(envelope)}
    if wrap:
        sealed = {"payload": json.dumps(wrap(sealed["field"]))}
    values = setting(identities, texts, topic, anonymous, now) | sealed
    values |= {"outcome": "opened", "content": data.decode(), "plaintext-bytes": len(plaintext)}
    write(name, sentence + " It opens.", values | {"ephemeral-secret": ephemeral(agreed)} | inner)


def bad(
    name,
    sentence,
    envelope=None,
    field=None,
    payload=None,
    plaintext=None,
    identities=(IDENTITY,),
    senders=(SENDER,),
    allow_anonymous=False,
    now=NOW,
    code=None,
):
    """Writes a case that is refused. By default, its name begins with the code."""
    code = code or next(each for each in sorted(CODES, key=len, reverse=True) if name.startswith(each))
    values = setting(identities, sender_texts(senders), TOPIC, allow_anonymous, now)
    if payload is not None:
        values["payload"] = json.dumps(payload)
    else:
        values["field"] = field if field is not None else encode_base64(envelope)
    values["outcome"] = code
    if plaintext is not None:
        values["plaintext"] = plaintext
    write(name, f"{sentence} It is refused with {code}.", values)


CODES = (
    "malformed", "unknown-suite",
    "unknown-recipient", "unknown-sender", "anonymous-not-allowed", "rejected", "malformed-content",
    "topic", "clock", "too-old", "expired",
)  # fmt: skip


def without_padding(content):
    return (content if isinstance(content, bytes) else to_json(content)) + b"\x80"


def with_size(remainder, overhead):
    """Returns a plaintext for which the envelope's length modulo 3 is this remainder."""
    plaintext = without_padding(BASE)
    while (len(plaintext) + overhead) % 3 != remainder:
        plaintext += b"\0"
    return plaintext


def sealed_bad(name, sentence, plaintext, anonymous=False, topic=TOPIC, **options):
    """Writes a case that is sealed by the rules and refused for its content."""
    if anonymous:
        envelope = seal_anonymous(name, plaintext)
    else:
        envelope = seal(name, plaintext, topic=topic)
    options.setdefault("allow_anonymous", anonymous)
    bad(name, sentence, envelope, plaintext=plaintext, **options)


def flip(data, index, bit=0):
    changed = bytearray(data)
    changed[index] ^= 1 << bit
    return bytes(changed)


# The cases that open


def with_content(**changes):
    return BASE | {name.replace("_", "-"): value for name, value in changes.items()}


def withdrawing(withdraw, **changes):
    """Returns content without an alert."""
    content = with_content(withdraw=withdraw, **changes)
    del content["alert"]
    return content


def of_length(length):
    """Returns content of exactly this number of bytes."""
    room = length - len(to_json(BASE))
    return with_content(alert={"title": "Nina", "body": "Lunch at one?" + "x" * room})


def make_good_sizes():
    for anonymous, prefix, suite in (
        (False, "authenticated", "An authenticated"),
        (True, "anonymous", "An anonymous"),
    ):
        options = {"anonymous": anonymous}
        largest = envelopes.largest_plaintext(ANONYMOUS if anonymous else AUTHENTICATED)
        good(prefix + "-padding-none", f"{suite} message without padding.", **options)
        good(prefix + "-padding-full", f"{suite} message padded to the largest plaintext.", policy="full", **options)
        for size, length in ((256, 200), (512, 400), (1024, 1000), (2048, 1900), (largest, 2500)):
            good(
                f"{prefix}-bucket-{size}",
                f"{suite} message with a content of {length} bytes, in the bucket of {size}.",
                of_length(length),
                policy="buckets",
                **options,
            )
    good(
        "bucket-just-fits",
        "A content of 255 bytes and the byte 0x80 fill the bucket of 256.",
        of_length(255),
        policy="buckets",
    )
    good("bucket-just-not-fits", "A content of 256 bytes needs the bucket of 512.", of_length(256), policy="buckets")
    good(
        "largest-content",
        "The largest content that fits the usual payload: 2,932 bytes.",
        of_length(2932),
        policy="buckets",
    )
    good(
        "odd-padding", "A plaintext of 300 bytes: a receiver takes any length of padding.", policy="full", largest=300
    )
    good(
        "longest-field", "A field of 4,096 characters, the most that a receiver decodes.", policy="full", largest=3003
    )


def make_good_numbers():
    for number in (0, 1, 255, 256, 2**32 - 1, 2**64, 2**96 - 1):
        good(f"number-{number}", f"The number {number}; a receiver takes any.", number=number)


def make_good_keys():
    good("two-identities", "Sealed to the second of two identities.", identities=(IDENTITY_2, IDENTITY))
    good("two-senders", "Sealed by the second of two trusted senders.", senders=(SENDER_2, SENDER))
    good(
        "two-identities-anonymous",
        "An anonymous message to the second of two identities.",
        anonymous=True,
        identities=(IDENTITY_2, IDENTITY),
    )
    good(
        "senders-sharing-hint",
        "Two trusted senders have the same hint; the second one sealed it.",
        senders=SHARED_SENDERS,
        sender=SHARED_SENDERS[1],
        agreed=SHARED,
    )
    good(
        "identities-sharing-hint",
        "Two identities have the same hint; it is sealed to the second, for which alone the sender hint holds.",
        identities=SHARED_IDENTITIES,
        identity=SHARED_IDENTITIES[1],
        agreed=SHARED,
    )
    good(
        "identities-and-senders-sharing-hint",
        "Two identities share a hint, and for the second one two trusted senders do; the last pair opens it.",
        identities=SHARED_IDENTITIES,
        senders=SHARED_SENDERS_TO_SECOND,
        identity=SHARED_IDENTITIES[1],
        sender=SHARED_SENDERS_TO_SECOND[1],
        agreed=SHARED,
    )
    good(
        "identities-sharing-hint-anonymous",
        "Two identities have the same hint; it is sealed anonymously to the second.",
        anonymous=True,
        identities=SHARED_IDENTITIES_ANONYMOUS,
        identity=SHARED_IDENTITIES_ANONYMOUS[1],
        agreed=SHARED,
    )
    first, second = SHARED_SENDERS
    shared = {"sender": second, "agreed": SHARED}
    good("sixteenth-pair", "The sixteenth of the pairs that match opens it. A sender that is listed twice counts twice.",
         senders=(first,) * 15 + (second,), **shared)  # fmt: skip
    good(
        "identities-before-senders",
        "The ninth pair opens it. If senders came first, it would be the seventeenth.",
        identities=(IDENTITY, IDENTITY),
        senders=(first,) * 8 + (second,),
        **shared,
    )
    first, second = SHARED_IDENTITIES_ANONYMOUS
    good("sixteenth-identity-anonymous", "The sixteenth of the identities that match opens it.", anonymous=True,
         identities=(first,) * 15 + (second,), identity=second, agreed=SHARED)  # fmt: skip
    good(
        "key-text-in-capitals",
        "The trusted sender is written in capitals.",
        texts=[text.upper() for text in sender_texts([SENDER])],
    )
    good("anonymous-without-senders", "An anonymous message needs no trusted sender.", anonymous=True, senders=())
    good(
        "payload-with-other-keys",
        "The payload has keys beside the field, and sound and badge in aps; a receiver ignores them.",
        wrap=lambda text: {
            "aps": {
                "alert": {"title": "Forged", "loc-key": "X"},
                "sound": "forged.caf",
                "badge": 99,
                "mutable-content": 1,
            },
            "other": [1, None],
            "custom-encrypted-message": text,
            "sealed-push": {"outcome": "opened"},
        },
    )


ALL_KEYS = with_content(
    expires=SENT + 86400,
    collapse_id="lunch",
    alert={"title": "Nina", "subtitle": "Friday", "body": "Lunch at one?"},
    badge=3,
    sound={"critical": 1, "name": "bell.caf", "volume": 0.5},
    thread_id="nina",
    category="INVITATION",
    interruption_level="time-sensitive",
    relevance_score=0.75,
    filter_criteria="friends",
    target_content_id="room-7",
    data={"room": 7, "open": True, "note": None, "tags": ["a", "b"]},
)


def make_good_contents():
    good("all-keys", "Every key of 4.6 that is not reserved.", ALL_KEYS)
    good("all-keys-anonymous", "Every key of 4.6 that is not reserved, anonymous.", ALL_KEYS, anonymous=True)
    good(
        "reserved-keys",
        "The reserved keys with values of any type; they are carried and not acted on.",
        with_content(attachments=None, overflow=False, chart="x", receipt={"at": [1, 2]}),
    )
    good(
        "unknown-keys",
        "Unknown keys, in the content and inside alert and sound; null is allowed in them.",
        with_content(
            alert={"body": "Lunch at one?", "launch-image": "lunch.png", "action": None},
            sound={"name": "default", "pitch": None},
            color="green",
            nothing=None,
            Badge="no number, since names are compared exactly",
        ),
    )
    texts = {
        "non-ascii": ("Text outside ASCII.", "Grüße aus Århus, žluťoučký kůň, 東京で昼食"),
        "emoji": ("Emoji, some made of several scalars.", "🍜 👩‍👩‍👧 🇩🇰 👍🏽 ☕️"),
        "right-to-left": ("Right-to-left text.", "غداء في الواحدة؟ ארוחת צהריים"),
        "combining": ("Combining marks; nothing is normalized.", "e\u0301 \u00e9 \u1100\u1161"),
        "percent-signs": ("Percent signs; they are not doubled.", "100% of %@ and %%"),
    }
    for name, (sentence, text) in texts.items():
        good(name, sentence, with_content(alert={"title": text, "body": text}))
    good("title-only", "An alert with a title only.", with_content(alert={"title": "Nina"}))
    good("subtitle-only", "An alert with a subtitle only.", with_content(alert={"subtitle": "Friday"}))
    good("body-only", "An alert with a body only.", with_content(alert={"body": "Lunch at one?"}))
    good(
        "one-visible-text",
        "A blank title and an invisible subtitle beside a body that can be seen.",
        with_content(alert={"title": " ", "subtitle": "\u200b", "body": "."}),
    )
    good(
        "visible-among-invisible",
        "A body with one visible letter between invisible scalars.",
        with_content(alert={"body": "\u200b\u2060\u00a0x\ufeff"}),
    )
    good(
        "escapes",
        "JSON escapes, and a pair of surrogates for one scalar.",
        raw('"Lunch at one?"', '"\\u004cunch \\"at\\" one\\/two\\n\\t\\u00e9 \\ud83c\\udf5c\\u0000"'),
    )
    good(
        "white-space",
        "White space between the tokens and around the object.",
        b" " + json.dumps(BASE, indent=1).encode().replace(b"\n", b"\t") + b" \t",
    )
    good("badge-0", "The badge 0, which removes it.", with_content(badge=0))
    good("badge-largest", "The largest badge.", with_content(badge=2147483647))
    good("sound-text", "A sound by its name.", with_content(sound="default"))
    good(
        "sound-empty-object", "A sound object with nothing in it; all its keys are optional.", with_content(sound={})
    )
    good("sound-limits", "A sound with critical 0 and volume 0.", with_content(sound={"critical": 0, "volume": 0}))
    good("relevance-1", "The relevance score 1.", with_content(relevance_score=1))
    good("relevance-exponent", "A relevance score with an exponent.", raw('"sent"', '"relevance-score":5e-1,"sent"'))
    for level in ("passive", "active", "critical"):
        good("level-" + level, f"The interruption level {level}.", with_content(interruption_level=level))
    good("collapse-id-64-bytes", "A collapse ID of 64 bytes, in 32 characters.", with_content(collapse_id="é" * 32))
    good(
        "collapse-id-escaped",
        "A collapse ID of 64 bytes that is longer as JSON; lengths are counted after escapes are undone.",
        raw('"sent"', '"collapse-id":"' + "\\u0061" * 64 + '","sent"'),
    )
    longest = "com.example." + "Topic-of-155." * 11
    good("topic-155-bytes", "A topic of 155 bytes, the longest.", with_content(topic=longest), topic=longest)
    good(
        "message-id-nil",
        "A message ID of zeros; any version will do.",
        with_content(id="00000000-0000-0000-0000-000000000000"),
    )
    good("data-false", "The data is false; only null is refused.", with_content(data=False))
    good("depth-16-arrays", "Arrays down to level 16.", with_content(data=nested(15, [])))
    good("depth-16-objects", "Objects down to level 16.", with_content(data=nested(15, {})))
    good("name-256-bytes", "Names of 256 bytes.", with_content(data={"x" * 256: 1}, **{"\u00e9" * 128: 1}))
    good(
        "name-256-bytes-escaped",
        "A name of 256 bytes that is longer as JSON; lengths are counted after escapes are undone.",
        raw('"sent"', '"data":{"' + "\\u0061" * 256 + '":1},"sent"'),
    )
    good(
        "names-equivalent",
        "Two names that are canonically equivalent in Unicode, but differ in their bytes.",
        with_content(**{"caf\u00e9": 1, "cafe\u0301": 2}),
    )
    good(
        "numbers-rounded",
        "Numbers that are in range and whole only once they are rounded to a Double.",
        raw(
            '"sent"',
            '"badge":3.00000000000000000000001,"relevance-score":1.0000000000000000001,'
            '"expires":253402300799.000001,"sent"',
        ),
    )
    good(
        "numbers",
        "Numbers at the ends of Int64 and of Double.",
        raw('"sent"', '"data":[9223372036854775807,-9223372036854775808,1.7976931348623157e308,5e-324,-0.5],"sent"'),
    )


def make_good_extras():
    """Sections 19 to 21, and 26. A value that breaks a rule of 19 or 20 is ignored."""
    person = {"name": "Nina", "id": "user-17"}
    good("person", "A person.", with_content(person=person))
    good("person-image", "A person with a picture, 3 bytes.", with_content(person=person | {"image-data": "iVBO"}))
    good("person-image-wrong", "A picture that is not base64url.", with_content(person=person | {"image-data": "="}))
    group = {"name": "Lunch club", "recipients": [{"name": "Ole", "id": "user-18"}], "count": 3}
    good("group", "A group.", with_content(person=person, group=group))
    good("group-wrong", "A group whose picture, recipients, and count break their rules, which are ignored.",
         with_content(person=person, group={"name": "Lunch club", "image": 1, "recipients": [{}], "count": 1}))  # fmt: skip
    good("group-alone", "A group without a person.", with_content(group={"name": "Lunch club"}))
    good("person-blank", "A person whose name has nothing to see.", with_content(person=person | {"name": " "}))
    lunch = {"title": "Nina", "title-loc-key": "FROM", "title-loc-args": ["Nina"], "body": "Lunch?", "loc-key": "LUNCH"}
    good("translation", "Texts of the app's own language files.", with_content(alert=lunch))
    wrong = {"loc-key": "", "title-loc-key": None, "title-loc-args": ["Nina"], "subtitle-loc-args": [1]}
    good("translation-wrong", "Keys that break their rules.", with_content(alert={"title": "Nina", "body": "Lunch?"} | wrong))
    good("badge-add", "One more on the badge.", with_content(badge_add=1))
    good("badge-add-out-of-range", "More than the badge can grow by.", with_content(badge_add=100))
    good("withdraw-message", "A message to remove; there is no alert.", withdrawing({"message": MESSAGE_ID}))
    good("withdraw-thread", "A thread to remove, and the badge.", withdrawing({"thread": "nina"}, badge=2))
    both = {"message": MESSAGE_ID, "thread": "nina"}
    good("withdraw-both", "A thread to remove, and its newest message that was read.", withdrawing(both))
    good(
        "withdraw-filtered",
        "In an ordinary push; a receiver ignores the alert.",
        with_content(withdraw={"thread": "nina", "filtered": True}, alert=1),
    )
    good(
        "withdraw-alert-null",
        "A receiver ignores the alert, even if it is null.",
        with_content(withdraw={"message": MESSAGE_ID}, alert=None),
    )
    for level in ("full", "sender", "generic"):
        good(f"disclosure-{level}", "How much a notification shows.", with_content(disclosure=level))
    for name, value in (("unknown", "none"), ("null", None), ("capital", "Full")):
        good(f"disclosure-{name}", "Not a level: a receiver shows as little as it can.", with_content(disclosure=value))
    good("withdraw-wrong-beside-alert", "Not readable, beside an alert, which counts.", with_content(withdraw={}))


def make_good_times():
    good("clock-at-limit", "The time sent is exactly 26 hours ahead.", now=SENT - 93600)
    good("clock-at-limit-anonymous", "The time sent is exactly 10 minutes ahead.", anonymous=True, now=SENT - 600)
    good("too-old-at-limit", "The message is exactly 30 days old.", now=SENT + 2592000)
    good("too-old-at-limit-anonymous", "The message is exactly 30 days old.", anonymous=True, now=SENT + 2592000)
    expiring = with_content(expires=SENT + 60)
    good("expired-at-limit", "It expired exactly 10 minutes ago.", expiring, now=SENT + 660)
    good("expired-at-limit-anonymous", "It expired exactly 10 minutes ago.", expiring, anonymous=True, now=SENT + 660)
    good(
        "expires-before-sent",
        "It expired before it was sent, but within 10 minutes of now.",
        with_content(expires=SENT - 1),
        now=SENT,
    )
    good("sent-0", "Sent at the beginning of 1970.", with_content(sent=0), now=2592000)
    good(
        "sent-latest",
        "Sent in the last second of the year 9999.",
        with_content(sent=253402300799, expires=253402300799),
        now=253402300799,
    )


def nested(levels, innermost):
    value = innermost
    for _ in range(levels - 1):
        value = {"a": value} if isinstance(innermost, dict) else [value]
    return value


def raw(old, new, content=BASE):
    """Returns content with one part of its JSON replaced."""
    text = to_json(content).decode()
    if text.count(old) != 1:
        raise ValueError("doesn't replace exactly one part: " + old)
    return text.replace(old, new).encode()


# The cases that are refused


def make_malformed():
    name = "malformed-field-absent"
    aps = {"alert": "You have a new message!", "mutable-content": 1}
    field_key = envelopes.FIELD
    bad(name, "A payload without the field.", payload={"aps": aps})
    for kind, value in (("null", None), ("number", 1), ("false", False), ("array", ["AQ"]), ("object", {})):
        bad(
            f"malformed-field-{kind}",
            f"The field is no string: {json.dumps(value)}.",
            payload={"aps": aps, field_key: value},
        )
    bad("malformed-field-empty", "The field is an empty string.", payload={"aps": aps, field_key: ""})
    text = {
        remainder: encode_base64(seal("malformed-text-2", with_size(remainder, 69)))
        for remainder in (0, 1, 2)
    }
    bad("malformed-field-inside-aps", "The field stands inside aps.", payload={"aps": aps | {field_key: text[0]}})
    bad(
        "malformed-field-other-name",
        "The field's name has a capital.",
        payload={"aps": aps, "Custom-encrypted-message": text[0]},
    )
    changes = {
        "line-end": ("A line end after the text.", text[0] + "\n"),
        "line-end-crlf": ("A line end of two bytes in the middle of the text.", text[0][:64] + "\r\n" + text[0][64:]),
        "null-character": ("A character of value 0 after the text.", text[0] + "\0"),
    }
    for change, (sentence, value) in changes.items():
        bad("malformed-" + change, sentence, payload={"aps": aps, field_key: value})
    bad("malformed-padding-1", "The text ends in one padding character.", field=text[2] + "=")
    bad("malformed-padding-2", "The text ends in two padding characters.", field=text[1] + "==")
    bad("malformed-plus", "A character of the other base64 alphabet: +.", field=text[0].replace("-", "+"))
    bad("malformed-slash", "A character of the other base64 alphabet: /.", field=text[0].replace("_", "/"))
    bad("malformed-space", "A space in the text.", field=text[0][:8] + " " + text[0][8:])
    bad("malformed-full-width", "A full-width letter in the text.", field="\uff21" + text[0][1:])
    bad("malformed-length", "The length of the text leaves 1 when divided by 4.", field=text[0] + "A")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for remainder, unused in ((1, 4), (2, 2)):
        for bit in range(unused):
            last = alphabet[alphabet.index(text[remainder][-1]) | 1 << bit]
            bad(
                f"malformed-unused-bit-{bit}-of-{unused}",
                f"Of the last character's {unused} unused bits, bit {bit} is set.",
                field=text[remainder][:-1] + last,
            )
    name = "malformed-too-long"
    envelope = seal(name, pad(to_json(BASE), "full", 3004))
    bad(name, "A field of 4,098 characters, right otherwise.", envelope)

    envelope = seal("malformed-suite", without_padding(BASE))
    for suite in (0x00, 0x04, 0x81, 0xFF):
        bad(
            f"unknown-suite-{suite:02x}",
            f"An unknown suite byte, 0x{suite:02x}.",
            bytes([suite]) + envelope[1:],
            allow_anonymous=True,
        )
    bad("unknown-suite-alone", "Nothing but an unknown suite byte.", b"\x04")
    low = bytes([0x04]) + envelope[1:9] + bytes(32) + envelope[41:]
    bad("unknown-suite-enc-zero", "Nothing after an unknown suite byte is checked, such as enc.", low)
    longest = bytes([0x04]) + seal("unknown-suite-longest", pad(to_json(BASE), "full", 3003))[1:]
    bad("unknown-suite-longest", "An unknown suite byte in a field of 4,096 characters.", longest)
    bad("malformed-too-long-unknown-suite", "A field of 4,098 characters: the suite doesn't matter.", longest + b"\0")
    field = encode_base64(bytes([0x04]) + envelope[1:])
    bad("malformed-padded-unknown-suite", "A padded field: the suite doesn't matter.", field=field + "=" * (-len(field) % 4 or 4))
    bad("malformed-suite-alone", "Nothing but the suite byte.", envelope[:1])
    bad("malformed-suite-alone-anonymous", "Nothing but the suite byte.", b"\x02", allow_anonymous=True)
    bad("malformed-header-alone", "A header with nothing after it.", envelope[:53])
    name = "malformed-no-plaintext"
    bad(
        name,
        "An authenticated envelope of 69 bytes: an empty plaintext, sealed by the rules.",
        seal(name, b""),
    )
    name += "-anonymous"
    bad(
        name,
        "An anonymous envelope of 53 bytes: an empty plaintext, sealed by the rules.",
        seal_anonymous(name, b""),
        allow_anonymous=True,
    )

    for index, enc in enumerate(sorted(key_text.LOW_ORDER), 1):
        bad_enc(f"malformed-enc-low-order-{index}", "An ephemeral key of low order", enc, bytes(32))
    # 9 is the base point, so its product with the identity is the recipient.
    recipient = public_key(IDENTITY)
    bad_enc(
        "malformed-enc-not-reduced",
        "An ephemeral key that is not less than 2^255 - 19",
        (key_text.PRIME + 9).to_bytes(32, "little"),
        recipient,
    )
    bad_enc(
        "malformed-enc-prime", "An ephemeral key that is 2^255 - 19", key_text.PRIME.to_bytes(32, "little"), bytes(32)
    )
    name = "malformed-enc-top-bit"
    enc = flip(public_key(ephemeral(name)), 31, 7)
    bad_enc(name, "An ephemeral key with its top bit set", enc, hpke.x25519(ephemeral(name), recipient))
    bad_enc(
        "malformed-enc-top-bit-alone", "An ephemeral key with nothing but its top bit", bytes(31) + b"\x80", bytes(32)
    )
    envelope = seal_anonymous("malformed-before-recipient", without_padding(BASE), IDENTITY_2)
    bad(
        "malformed-before-recipient",
        "A field that is wrong, and for an unknown recipient besides.",
        field=encode_base64(envelope) + "=",
    )


def bad_enc(name, sentence, enc, dh):
    """Returns an envelope that would open if `enc` weren't checked."""
    recipient, sender = public_key(IDENTITY), sender_public_key(SENDER)
    sealing = Context(dh + hpke.x25519(hpke.sender_scalar(SENDER), recipient), enc, recipient, sender, TOPIC)
    bad(name, sentence + "; all the rest fits it.", sealing.seal(without_padding(BASE), number_of(0)))


def make_unknown():
    plaintext = without_padding(BASE)
    envelope = seal("unknown", plaintext)
    anonymous = seal_anonymous("unknown", plaintext)
    other = seal("unknown-recipient", plaintext, IDENTITY_2)
    bad("unknown-recipient", "Sealed to another recipient.", other)
    bad(
        "unknown-recipient-and-sender",
        "Sealed to another recipient by another sender: the recipient comes first.",
        other,
        senders=(),
    )
    bad(
        "unknown-recipient-anonymous",
        "Sealed to another recipient, anonymous.",
        seal_anonymous("unknown-recipient-anonymous", plaintext, IDENTITY_2),
        allow_anonymous=True,
    )
    bad(
        "unknown-recipient-anonymous-not-allowed",
        "Sealed to another recipient, anonymous, where that is not allowed: the recipient comes first.",
        seal_anonymous("unknown-recipient-anonymous", plaintext, IDENTITY_2),
    )
    for index in range(1, 5):
        bad(
            f"unknown-recipient-flipped-byte-{index}",
            "A bit of the recipient hint is flipped.",
            flip(envelope, index),
        )
    bad(
        "unknown-recipient-flipped-anonymous",
        "A bit of the recipient hint is flipped.",
        flip(anonymous, 1, 7),
        allow_anonymous=True,
    )
    bad(
        "unknown-recipient-hints-swapped",
        "The two hints have changed places.",
        envelope[:1] + envelope[5:9] + envelope[1:5] + envelope[9:],
    )
    stranger = seal("unknown-sender", plaintext, sender=STRANGER)
    bad("unknown-sender", "Sealed by a stranger.", stranger)
    bad("unknown-sender-none-trusted", "No sender is trusted.", envelope, senders=())
    bad(
        "unknown-sender-anonymous-allowed",
        "Sealed by a stranger where anonymous messages are allowed.",
        stranger,
        allow_anonymous=True,
    )
    for index in range(5, 9):
        bad(f"unknown-sender-flipped-byte-{index}", "A bit of the sender hint is flipped.", flip(envelope, index))
    bad(
        "unknown-recipient-suite-changed",
        "An anonymous envelope with the authenticated suite byte.",
        b"\x01" + seal_anonymous("unknown-recipient-suite-changed", pad(to_json(BASE), "full", 256))[1:],
        allow_anonymous=True,
    )
    bad("anonymous-not-allowed", "An anonymous message where the app has not allowed them.", anonymous)
    bad(
        "anonymous-not-allowed-broken",
        "An anonymous message with a flipped bit, where the app has not allowed them: it is not even tried.",
        flip(anonymous, -1),
    )


def make_rejected():
    first, second = SHARED_SENDERS
    sealing = context(SHARED, sender=second)
    plaintext = without_padding(BASE)
    envelope = sealing.seal(plaintext, sealing.number(plaintext, random_of_number("rejected-seventeenth-pair")))
    bad("rejected-seventeenth-pair", "Only the seventeenth of the pairs that match would open it.", envelope,
        senders=(first,) * 16 + (second,))  # fmt: skip
    first, second = SHARED_IDENTITIES_ANONYMOUS
    bad("rejected-seventeenth-identity-anonymous", "Only the seventeenth of the identities that match would open it.",
        seal_anonymous(SHARED, plaintext, second), identities=(first,) * 16 + (second,), allow_anonymous=True)  # fmt: skip
    plaintext = without_padding(BASE)
    sealing = context("rejected")
    envelope = sealing.seal(plaintext, number_of(5))
    recipient, sender = public_key(IDENTITY), sender_public_key(SENDER)
    for index, field in ((9, "enc-first-byte"), (40, "enc-last-byte")):
        bad("unknown-recipient-flipped-" + field, "A bit of enc is flipped, so no hint holds.", flip(envelope, index))
    for index, field in ((41, "number-first-byte"), (52, "number-last-byte")):
        bad("rejected-flipped-" + field, "A bit of the header is flipped.", flip(envelope, index))
    bad("rejected-flipped-ciphertext", "A bit of the ciphertext is flipped.", flip(envelope, 53))
    bad("rejected-flipped-padding", "A bit of the ciphertext's last byte is flipped.", flip(envelope, -17))
    bad("rejected-flipped-tag", "The first bit of the tag is flipped.", flip(envelope, -16))
    bad("rejected-flipped-tag-end", "The last bit of the tag is flipped.", flip(envelope, -1, 7))
    bad(
        "unknown-recipient-suite-changed-to-anonymous",
        "An authenticated envelope with the anonymous suite byte.",
        b"\x02" + envelope[1:],
        allow_anonymous=True,
    )
    bad("rejected-cut", "The last byte is missing.", envelope[:-1])
    bad("rejected-cut-short", "Cut to the shortest envelope, 70 bytes.", envelope[:70])
    bad("rejected-byte-added", "A byte is added at the end.", envelope + b"\0")
    bad(
        "rejected-tag-first",
        "The tag stands before the ciphertext.",
        envelope[:53] + envelope[-16:] + envelope[53:-16],
    )
    other = sealing.seal(plaintext, number_of(6))
    bad("rejected-headers-swapped", "The header of another message of the same context.", other[:53] + envelope[53:])
    other = context("rejected-contexts-swapped").seal(plaintext, number_of(5))
    bad("rejected-contexts-swapped", "The header of a message of another context.", other[:53] + envelope[53:])
    bad(
        "rejected-number-changed",
        "Another number than the one it was sealed with.",
        envelope[:52] + b"\x07" + envelope[53:],
    )
    little = sealing.header + (5).to_bytes(12, "little")
    bad("rejected-number-little-endian", "The number is written little endian.", little + envelope[53:])
    number_in_nonce_only = ChaCha20Poly1305(sealing.key).encrypt(
        sealing.nonce(number_of(5)), plaintext, sealing.header
    )
    bad("rejected-aad-without-number", "The number is not in the aad.", envelope[:53] + number_in_nonce_only)
    without_aad = ChaCha20Poly1305(sealing.key).encrypt(sealing.nonce(number_of(5)), plaintext, b"")
    bad("rejected-no-aad", "The header is not in the aad.", envelope[:53] + without_aad)

    name = "rejected-other-topic"
    bad(
        name,
        "Sealed for another app, with this app's topic in the content.",
        seal(name, plaintext, topic="com.example.other"),
    )
    name = "rejected-topic-in-capitals"
    bad(
        name,
        "Sealed for a topic that differs in case only.",
        seal(name, plaintext, topic="com.example.App"),
    )

    def with_hints(forged, named_recipient=recipient, named_sender=sender):
        enc = forged[9:41]
        hints = hpke.recipient_hint(AUTHENTICATED, enc, named_recipient)
        hints += hpke.sender_hint(AUTHENTICATED, enc, named_recipient, named_sender)
        return forged[:1] + hints + forged[9:]

    name = "rejected-forged-sender-hint"
    bad(
        name,
        "A stranger has written the hint of a trusted sender into the header.",
        with_hints(seal(name, plaintext, sender=STRANGER)),
    )
    name = "rejected-sender-sharing-hint"
    stranger = context(SHARED, sender=SHARED_SENDERS[1])
    bad(
        name,
        "A stranger has a key with the hint of a trusted sender.",
        stranger.seal(plaintext, number_of(0)),
        senders=SHARED_SENDERS[:1],
    )
    name = "rejected-other-sender-hint"
    bad(
        name,
        "The header names another trusted sender than the one that sealed it.",
        with_hints(seal(name, plaintext), named_sender=sender_public_key(SENDER_2)),
        senders=(SENDER, SENDER_2),
    )
    name = "rejected-other-recipient-hint"
    bad(
        name,
        "The header names another identity than the one it is sealed to.",
        with_hints(seal(name, plaintext), public_key(IDENTITY_2)),
        identities=(IDENTITY, IDENTITY_2),
    )
    name = "unknown-sender-other-recipient-hint"
    forged = seal(name, plaintext)
    bad(
        name,
        "The header names another identity, with the sender hint of the one it is sealed to.",
        with_hints(forged, public_key(IDENTITY_2))[:5] + forged[5:],
        identities=(IDENTITY, IDENTITY_2),
    )
    name = "rejected-wrong-recipient"
    bad(
        name,
        "Sealed to another recipient, with this one's hints in the header.",
        with_hints(seal(name, plaintext, IDENTITY_2)),
    )
    name = "unknown-sender-recipient-sharing-hint"
    bad(
        name,
        "Sealed to another recipient whose key has the same hint: the sender hint does not hold for this one.",
        context(SHARED, SHARED_IDENTITIES[1]).seal(plaintext, number_of(0)),
        identities=SHARED_IDENTITIES[:1],
    )

    name = "rejected-without-sender-secret"
    dh = hpke.x25519(ephemeral(name), recipient)
    forged = Context(dh + dh, public_key(ephemeral(name)), recipient, sender, TOPIC)
    bad(
        name,
        "Sealed with a trusted sender's public key but not its secret: the ephemeral one in its place.",
        forged.seal(plaintext, number_of(0)),
    )
    name = "rejected-base-mode"
    bad(name, "Sealed with HPKE's mode_base, which proves no sender.", base_mode(name, plaintext))

    anonymous = seal_anonymous("rejected-anonymous", plaintext)
    for index, bit, field in ((5, 0, "ephemeral"), (36, 7, "ephemeral-top-bit")):
        bad(
            "unknown-recipient-anonymous-flipped-" + field,
            "A bit of the ephemeral key is flipped, so the hint does not hold.",
            flip(anonymous, index, bit),
            allow_anonymous=True,
        )
    for index, field in ((37, "tag"), (53, "ciphertext"), (-1, "last-byte")):
        bad(
            "rejected-anonymous-flipped-" + field,
            "A bit of the sealed box is flipped.",
            flip(anonymous, index),
            allow_anonymous=True,
        )

    def with_hint(box):
        return anonymous[:1] + hpke.recipient_hint(ANONYMOUS, box[:32], recipient) + box

    bad(
        "rejected-anonymous-ephemeral-top-bit",
        "The ephemeral key's top bit is set afterwards, and the hint with it.",
        with_hint(flip(anonymous, 36, 7)[5:]),
        allow_anonymous=True,
    )
    bad(
        "rejected-anonymous-tag-last",
        "The tag stands after the ciphertext.",
        anonymous[:37] + anonymous[53:] + anonymous[37:53],
        allow_anonymous=True,
    )
    bad("rejected-anonymous-cut", "The last byte is missing.", anonymous[:-1], allow_anonymous=True)
    bad(
        "rejected-anonymous-cut-short",
        "Cut to the shortest envelope, 54 bytes.",
        anonymous[:54],
        allow_anonymous=True,
    )
    name = "rejected-anonymous-wrong-recipient"
    forged = seal_anonymous(name, plaintext, IDENTITY_2)
    bad(
        name,
        "Sealed to another recipient, with this one's hint in the header.",
        with_hint(forged[5:]),
        allow_anonymous=True,
    )
    name = "rejected-anonymous-random-nonce"
    enc, _, box_key = anonymous_values(name)
    forged = with_hint(enc + box(box_key, bytes(24), plaintext))
    bad(name, "The nonce is not the one of 3.6.2.", forged, allow_anonymous=True)
    for index, enc in enumerate(sorted(key_text.LOW_ORDER), 1):
        nonce = hashlib.blake2b(enc + recipient, digest_size=24).digest()
        forged = with_hint(enc + box(hsalsa20(bytes(32)), nonce, plaintext))
        bad(
            f"rejected-anonymous-low-order-{index}",
            "An ephemeral key of low order, and a box made with the zero that comes of it.",
            forged,
            allow_anonymous=True,
        )


def base_mode(name, plaintext):
    recipient, enc = public_key(IDENTITY), public_key(ephemeral(name))
    prk = hpke.labeled_extract(KEM, b"", b"eae_prk", hpke.x25519(ephemeral(name), recipient))
    shared_secret = hpke.labeled_expand(KEM, prk, b"shared_secret", enc + recipient, 32)
    info_hash = hpke.labeled_extract(HPKE, b"", b"info_hash", b"sealedpush/v1\0" + TOPIC.encode())
    schedule = b"\0" + hpke.labeled_extract(HPKE, b"", b"psk_id_hash", b"") + info_hash
    secret = hpke.labeled_extract(HPKE, shared_secret, b"secret", b"")
    key = hpke.labeled_expand(HPKE, secret, b"key", schedule, 32)
    nonce = hpke.labeled_expand(HPKE, secret, b"base_nonce", schedule, 12)
    aad = context(name).header + bytes(12)
    return aad + ChaCha20Poly1305(key).encrypt(nonce, plaintext, aad)


def hsalsa20(key):
    """Returns HSalsa20 of 16 zero bytes, because libsodium refuses a key agreement of zero."""
    constants = [int.from_bytes(b"expand 32-byte k"[index : index + 4], "little") for index in range(0, 16, 4)]
    words = [int.from_bytes(key[index : index + 4], "little") for index in range(0, 32, 4)]
    state = [constants[0], *words[:4], constants[1], 0, 0, 0, 0, constants[2], *words[4:], constants[3]]
    columns = ((0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11))
    rows = ((0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14))
    for lines in (columns, rows) * 10:
        for a, b, c, d in lines:
            for target, first, second, turn in ((b, a, d, 7), (c, b, a, 9), (d, c, b, 13), (a, d, c, 18)):
                total = state[first] + state[second] & 0xFFFFFFFF
                state[target] ^= (total << turn | total >> 32 - turn) & 0xFFFFFFFF
    return b"".join(state[index].to_bytes(4, "little") for index in (0, 5, 10, 15, 6, 7, 8, 9))


def make_malformed_content():
    base = to_json(BASE)
    plaintexts = {
        "padding-zeros-only": ("A plaintext of zeros only.", bytes(256)),
        "padding-missing": ("A content without the byte 0x80.", base),
        "padding-zeros-without-80": ("Zeros after the content, but not the byte 0x80.", base + bytes(8)),
        "padding-other-byte": ("The byte 0x81 in place of 0x80.", base + b"\x81" + bytes(8)),
        "padding-byte-after": ("A byte other than zero after the byte 0x80.", base + b"\x80" + bytes(8) + b"\x01"),
        "padding-twice": (
            "The byte 0x80 twice: the first one is part of the content, and no UTF-8.",
            base + b"\x80\x80",
        ),
        "padding-empty-content": ("An empty content.", b"\x80" + bytes(255)),
        "padding-shortest": ("The shortest plaintext: the byte 0x80 alone.", b"\x80"),
    }
    body = b"Lunch at one?"
    contents = {
        "utf8-byte-ff": ("A byte that is never UTF-8.", base.replace(body, b"\xff")),
        "utf8-overlong": ("UTF-8 that is longer than it needs to be.", base.replace(body, b"\xc1\x81")),
        "utf8-surrogate": ("A surrogate in UTF-8.", base.replace(body, b"\xed\xa0\xbd\xed\xb8\x80")),
        "utf8-cut": ("A scalar in UTF-8 that lacks its last byte.", base.replace(body, b"\xe2\x82")),
        "utf8-beyond-unicode": ("UTF-8 above U+10FFFF.", base.replace(body, b"\xf4\x90\x80\x80")),
        "utf8-in-unknown-key": (
            "A byte that is never UTF-8, in the name of an unknown key.",
            raw_bytes(b'"a\x80":1'),
        ),
        "byte-order-mark": ("A byte order mark before the object.", b"\xef\xbb\xbf" + base),
        "utf16": ("The content in UTF-16.", base.decode().encode("utf-16-be")),
        "json-text": ("No JSON.", b"Lunch at one?"),
        "json-array": ("An array in place of the object.", b"[" + base + b"]"),
        "json-string": ("A string in place of the object.", b'"Lunch at one?"'),
        "json-null": ("null in place of the object.", b"null"),
        "json-empty-object": ("An empty object.", b"{}"),
        "json-white-space-only": ("White space only.", b" \n"),
        "json-text-after": ("Text after the object.", base + b"x"),
        "json-second-object": ("A second object after the first.", base + b"{}"),
        "json-zero-byte-after": ("A zero byte between the object and the byte 0x80.", base + b"\0"),
        "json-cut": ("The object's last brace is missing.", base[:-1]),
        "json-comma": ("A comma after the last member.", base[:-1] + b",}"),
        "json-comma-in-array": ("A comma after the last value of an array.", raw_bytes(b'"data":[1,]')),
        "json-comment": ("A comment.", raw_bytes(b"/* */")),
        "json-single-quotes": ("Single quotes.", base.replace(b'"', b"'")),
        "json-name-without-quotes": ("A name without quotes.", raw_bytes(b"a:1")),
        "json-nan": ("A number that is none.", raw_bytes(b'"data":NaN')),
        "json-infinity": ("An infinite number.", raw_bytes(b'"data":-Infinity')),
        "json-leading-zero": ("A number with a leading zero.", raw_bytes(b'"badge":01')),
        "json-plus-sign": ("A number with a plus sign.", raw_bytes(b'"badge":+1')),
        "json-hexadecimal": ("A hexadecimal number.", raw_bytes(b'"badge":0x10')),
        "json-no-digit-after-point": ("A number with a point and no digit after it.", raw_bytes(b'"data":1.')),
        "json-control-character": ("A line end inside a string, not escaped.", base.replace(body, b"Lunch\nat one?")),
        "json-bad-escape": ("An escape that JSON does not have.", base.replace(body, b"Lunch\\x41")),
        "json-name-twice": ("A name twice.", raw_bytes(b'"x":1,"x":1')),
        "json-name-twice-escaped": ("A name twice, once with an escape.", raw_bytes(b'"x":1,"\\u0078":2')),
        "json-name-twice-inside": ("A name twice in an object inside.", raw_bytes(b'"data":[{"a":{},"a":1}]')),
        "json-name-twice-not-ascii": (
            "A name twice that is not ASCII, once with an escape.",
            raw_bytes('"caf\u00e9":1,"caf\\u00e9":2'.encode()),
        ),
        "json-name-257-bytes": ("A name of 257 bytes.", raw_bytes(b'"' + b"x" * 257 + b'":1')),
        "json-name-257-bytes-inside": (
            "A name of 257 bytes in an object inside an array, in 129 characters.",
            with_content(data=[{"\u00e9" * 128 + "x": 1}]),
        ),
        "json-name-of-marks": (
            "A name of 1,200 combining marks, which take long to normalize.",
            raw_bytes(b'"a' + "\u0301\u0316".encode() * 600 + b'":1'),
        ),
        "json-half-surrogate-pair": (
            "The first half of a surrogate pair.",
            base.replace(body, b"Lunch \\ud83d at one?"),
        ),
        "json-second-half-surrogate-pair": (
            "The second half of a surrogate pair.",
            base.replace(body, b"Lunch \\udc00 at one?"),
        ),
        "json-surrogates-in-wrong-order": (
            "The halves of a surrogate pair in the wrong order, in a name.",
            raw_bytes(b'"\\ude00\\ud83d":1'),
        ),
        "json-non-ascii-digits": ("A number in other digits than ASCII.", raw_bytes('"badge":\u0663'.encode())),
        "number-too-large": ("A number too large for a Double.", raw_bytes(b'"data":1e400')),
        "number-too-large-below-zero": (
            "A number below zero, too large for a Double, in an unknown key.",
            raw_bytes(b'"x":[-1e309]'),
        ),
        "number-too-long": ("An integer of 400 digits, too large for a Double.", raw_bytes(b'"data":1' + b"0" * 399)),
        "depth-17-arrays": ("Arrays down to level 17.", with_content(data=nested(16, []))),
        "depth-17-objects": ("Objects down to level 17.", with_content(data=nested(16, {}))),
        "depth-17-in-reserved-key": (
            "Arrays down to level 17 in a reserved key.",
            with_content(attachments=nested(16, [])),
        ),
        "depth-1400": ("Arrays down to level 1,400.", raw_bytes(b'"data":' + b"[" * 1399 + b"]" * 1399)),
        "depth-never-closed": ("2,900 arrays that are never closed.", b"[" * 2900),
    }
    contents = {name: (sentence, without_padding(content)) for name, (sentence, content) in contents.items()}
    for name, (sentence, plaintext) in (plaintexts | contents).items():
        sealed_bad("malformed-content-" + name, sentence, plaintext)
    for name in ("padding-missing", "padding-shortest"):
        sentence, plaintext = plaintexts[name]
        sealed_bad(f"malformed-content-anonymous-{name}", sentence[:-1] + ", anonymous.", plaintext, anonymous=True)

    for key in ("id", "topic", "sent", "alert"):
        content = {name: value for name, value in BASE.items() if name != key}
        sealed_bad(f"malformed-content-no-{key}", f"The required key {key} is missing.", without_padding(content))
    for name, (sentence, key, values) in VALUES.items():
        for index, value in enumerate(values, 1):
            suffix = f"-{index}" if len(values) > 1 else ""
            shown = json.dumps(value)
            text = f"{sentence}: {key} is {shown if len(shown) < 50 else 'one byte too long'}."
            sealed_bad(f"malformed-content-{name}{suffix}", text, without_padding(BASE | {key: value}))


def raw_bytes(member):
    """Returns content with one more member, written as given."""
    return to_json(BASE)[:-1] + b"," + member + b"}"


VALUES = {
    "id-type": ("A wrong type", "id", (None, 5, [MESSAGE_ID])),
    "id-capitals": ("No lowercase UUID", "id", (MESSAGE_ID.upper(),)),
    "id-form": (
        "No UUID of 8-4-4-4-12 digits",
        "id",
        (
            MESSAGE_ID.replace("-", ""),
            MESSAGE_ID + "0",
            "{" + MESSAGE_ID + "}",
            "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b0g",
            "",
            MESSAGE_ID + "\n",
        ),
    ),
    "topic-type": ("A wrong type", "topic", (None, 1)),
    "topic-form": (
        "No topic",
        "topic",
        ("", "com.example.app!", "com.example.äpp", "com example", "com_example", "com.example.app\n", "a" * 156),
    ),
    "sent-type": ("No integer", "sent", (None, str(SENT), True, 1760000000.5, [SENT])),
    "sent-range": ("Out of range", "sent", (-1, 253402300800)),
    "expires-type": ("No integer", "expires", (None, "1760000060", False, 1760000060.5)),
    "expires-range": ("Out of range", "expires", (-1, 253402300800)),
    "collapse-id-type": ("A wrong type", "collapse-id", (None, 7)),
    "collapse-id-length": ("Not 1 to 64 bytes", "collapse-id", ("", "x" * 65, "é" * 32 + "x")),
    "alert-type": ("A wrong type", "alert", (None, "Lunch at one?", ["Lunch at one?"], 1)),
    "alert-empty": (
        "Nothing to see",
        "alert",
        ({}, {"title": ""}, {"title": "", "subtitle": "", "body": ""}, {"Body": "Lunch"}, {"loc-key": "LUNCH"}),
    ),
    "alert-member-type": (
        "A wrong type beside a body that can be seen",
        "alert",
        (
            {"title": None, "body": "Lunch"},
            {"subtitle": 1, "body": "Lunch"},
            {"title": "Nina", "body": ["Lunch"]},
            {"title": True, "body": "Lunch"},
        ),
    ),
    "alert-white-space": (
        "White space only",
        "alert",
        ({"body": " \t\r\n\v\f"}, {"body": "\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"}),
    ),
    "alert-control": ("Control characters only", "alert", ({"body": "\u0000\u0007\u001b\u007f\u009f"},)),
    "alert-invisible": (
        "Only scalars that are not shown",
        "alert",
        (
            {"body": "\u200b"},
            {"body": "\u00ad\u034f\u061c"},
            {"body": "\u115f\u1160\u3164\uffa0"},
            {"body": "\u200e\u200f\u202a\u202e"},
            {"body": "\u2060\u2064\u2066\u206f\u2065"},
            {"body": "\ufeff\ufe0f\ufff0\ufff8"},
            {"body": "\u17b4\u17b5\u180b\u180e\u180f"},
            {"body": "\U000e0001\U000e0041\U000e0100\U000e0fff"},
            {"body": "\U0001bca0\U0001d173"},
            {"title": " \u200d", "subtitle": "\u2061", "body": "\u0008\u3000"},
        ),
    ),
    "badge-type": ("No integer", "badge", (None, "3", True, 1.5, {})),
    "badge-range": ("Out of range", "badge", (-1, 2147483648)),
    "sound-type": ("A wrong type", "sound", (None, 1, True, ["default"])),
    "sound-empty": ("An empty name", "sound", ("", {"name": ""})),
    "sound-name": ("A wrong type", "sound", ({"name": None}, {"name": 1})),
    "sound-critical": (
        "Not 0 or 1",
        "sound",
        (
            {"critical": 2},
            {"critical": -1},
            {"critical": 0.5},
            {"critical": True},
            {"critical": "1"},
            {"critical": None},
        ),
    ),
    "sound-volume": (
        "Not a number from 0 to 1",
        "sound",
        ({"volume": 1.5}, {"volume": -0.1}, {"volume": "1"}, {"volume": None}, {"volume": True}),
    ),
    "thread-id": ("A wrong type", "thread-id", (None, 1)),
    "category": ("A wrong type", "category", (None, ["A"])),
    "level": ("No level", "interruption-level", (None, 1, "", "Active", "timeSensitive", "loud")),
    "relevance": ("Not a number from 0 to 1", "relevance-score", (None, "0.5", True, 1.01, -0.01, 2)),
    "filter-criteria": ("A wrong type", "filter-criteria", (None, ["friends"])),
    "target-content-id": ("A wrong type", "target-content-id", (None, 7)),
    "data-null": ("The one value it can't have", "data", (None,)),
}


def make_refused_withdrawals():
    for name, sentence, withdraw in (
        ("nothing", "Neither a message nor a thread.", {}),
        ("both-message", "A thread, but no message ID.", {"message": MESSAGE_ID.upper(), "thread": "nina"}),
        ("both-thread", "A message, but an empty thread.", {"message": MESSAGE_ID, "thread": ""}),
        ("message", "No message ID.", {"message": MESSAGE_ID.upper()}),
        ("thread", "An empty thread.", {"thread": ""}),
        ("filtered", "No boolean.", {"thread": "nina", "filtered": 1}),
    ):
        plaintext = without_padding(withdrawing(withdraw))
        sealed_bad(f"malformed-content-withdraw-{name}", sentence + " So the alert is missing.", plaintext)
    plaintext = without_padding(withdrawing({"message": MESSAGE_ID}) | {"alert": {"body": "Lunch at one?"}})
    sealed_bad("malformed-content-withdraw-anonymous", "Only a known sender withdraws.", plaintext, anonymous=True)
    other = without_padding(withdrawing({"message": MESSAGE_ID}, topic="com.example.other"))
    sealed_bad(
        "malformed-content-withdraw-anonymous-before-topic",
        "Anonymous, with another topic, and ahead: the first in the order of 6.4 counts.",
        other,
        anonymous=True,
        now=SENT - 601,
    )
    plaintext = without_padding(withdrawing({"message": MESSAGE_ID}, sound=5))
    sealed_bad("malformed-content-withdraw-sound", "A wrong type beside a withdrawal: sound is 5.", plaintext)


def make_refused_later():
    """Writes the cases that 6.4 refuses after it has checked the content's form."""
    other = with_content(topic="com.example.other")
    capital = with_content(topic="com.example.App")
    expiring = with_content(expires=SENT + 60)
    suites = ((False, "", ""), (True, "-anonymous", ", anonymous"))
    for anonymous, suffix, words in suites:
        options = {"anonymous": anonymous}
        sealed_bad(
            "topic" + suffix, f"The content has another app's topic{words}.", without_padding(other), **options
        )
        sealed_bad(
            "topic-case" + suffix, f"The content's topic differs in case{words}.", without_padding(capital), **options
        )
        ahead = 600 if anonymous else 93600
        sealed_bad(
            "clock" + suffix,
            f"The time sent is {ahead + 1} seconds ahead{words}.",
            without_padding(BASE),
            now=SENT - ahead - 1,
            **options,
        )
        sealed_bad(
            "too-old" + suffix,
            f"The message is 30 days and a second old{words}.",
            without_padding(BASE),
            now=SENT + 2592001,
            **options,
        )
        sealed_bad(
            "expired" + suffix,
            f"It expired 601 seconds ago{words}.",
            without_padding(expiring),
            now=SENT + 661,
            **options,
        )
    sealed_bad(
        "clock-far",
        "The time sent is the last second of the year 9999.",
        without_padding(with_content(sent=253402300799)),
    )
    sealed_bad("too-old-sent-0", "The message is from 1970.", without_padding(with_content(sent=0)))
    sealed_bad("expired-at-0", "It expired in 1970.", without_padding(with_content(expires=0)))
    order = {
        "malformed-content-before-topic": (
            "A badge out of range, another topic, too old, expired",
            with_content(badge=-1, topic="com.example.other", expires=0),
            SENT + 2592001,
        ),
        "topic-before-clock": ("Another topic, and ahead", other, SENT - 93601),
        "clock-before-expired": ("Ahead, and expired", with_content(expires=0), SENT - 93601),
        "too-old-before-expired": ("Too old, and expired", expiring, SENT + 2592001),
    }
    for name, (sentence, content, now) in order.items():
        sealed_bad(name, sentence + ": the first in the order of 6.4 counts.", without_padding(content), now=now)


def main():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for make in (
        make_good_sizes, make_good_numbers, make_good_keys, make_good_contents, make_good_extras, make_good_times,
        make_malformed, make_unknown, make_rejected, make_malformed_content, make_refused_withdrawals, make_refused_later,
    ):  # fmt: skip
        make()
    print(len(list(FOLDER.glob("*.txt"))), "vectors")


if __name__ == "__main__":
    main()
