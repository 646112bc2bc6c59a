"""Signed records and the challenge of Sealed Push.

The numbers in the comments, such as 11.2, are paragraphs of Docs/Specification.md.
"""

import hashlib
import itertools
import os
import re
import typing

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from content import TOPIC
from key_text import is_public_key, is_signing_key, key_id
from sealed_push import AUTHENTICATED, MOST_TRIES, Context, Refused, decode_field, encode_field, public_key

DEVICE, SENDERS = 1, 2
LATEST = 253402300799
CHALLENGE = b"sealedpush/v1 challenge"


class Record(typing.NamedTuple):
    type: int
    signer: bytes
    counter: int
    created: int
    expires: int
    topic: str
    keys: tuple
    data: bytes


# Text (11.1.4, 11.5)


def armour(prefix, data):
    return prefix + encode_field(data)


def unarmour(prefix, text, least, most):
    """The bytes of a text whose length is from `least` to `most` bytes."""
    if not re.fullmatch(re.escape(prefix) + r"[A-Za-z0-9_-]{1,4096}", text):
        raise Refused("malformed")
    data = decode_field(text[len(prefix) :])
    if not least <= len(data) <= most:
        raise Refused("malformed")
    return data


def with_checksum(data):
    return data + hashlib.sha256(data).digest()[:4]


# Records (11.1 to 11.3)


def signing_public_key(secret):
    return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def signed_message(unsigned):
    return b"sealedpush/v1 record\0" + unsigned


def unsigned_record(type, signer, counter, created, expires, topic, keys):
    numbers = b"".join(number.to_bytes(8, "big") for number in (counter, created, expires))
    start = bytes([type, 1]) + signer + numbers + bytes([len(topic)]) + topic.encode()
    return start + bytes([len(keys)]) + b"".join(keys)


def sign_bytes(secret, unsigned):
    return unsigned + Ed25519PrivateKey.from_private_bytes(secret).sign(signed_message(unsigned))


def record_text(data):
    return armour("pushrecord.", with_checksum(data))


def sign_record(type, secret, *fields):
    """`fields`: counter, created, expires, topic, keys."""
    return record_text(sign_bytes(secret, unsigned_record(type, signing_public_key(secret), *fields)))


def read_record(type, text):
    """Checks form and signature (11.3, steps 1 to 5)."""
    data = unarmour("pushrecord.", text, 161, 795)
    if with_checksum(data[:-4]) != data:
        raise Refused("wrong-checksum")
    data = data[:-4]
    if data[0] != type:
        raise Refused("wrong-type")
    rest = iter(data[1:])

    def take(count):
        taken = bytes(itertools.islice(rest, count))
        if len(taken) != count:
            raise Refused("malformed")
        return taken

    version, signer = take(1)[0], take(32)
    counter, created, expires = (int.from_bytes(take(8), "big") for _ in range(3))
    topic = take(take(1)[0]).decode("latin-1")
    keys = tuple(take(32) for _ in range(take(1)[0]))
    signature = take(64)
    if (
        next(rest, None) is not None
        or version != 1
        or not created < expires <= LATEST
        or not TOPIC.fullmatch(topic)
        or not 1 <= len(keys) <= 16
        or len(set(keys)) != len(keys)
        or not all(is_public_key(key) for key in keys)
        or not is_signing_key(signer)
    ):
        raise Refused("malformed")
    try:
        Ed25519PublicKey.from_public_bytes(signer).verify(signature, signed_message(data[:-64]))
    except InvalidSignature as error:
        raise Refused("bad-signature") from error
    return Record(type, signer, counter, created, expires, topic, keys, data)


def check_record(record, pinned, topic, known, now):
    """11.3, steps 6 to 11."""
    if record.signer != pinned:
        raise Refused("foreign-signer")
    if record.topic != topic:
        raise Refused("other-topic")
    if now > record.expires:
        raise Refused("expired")
    if record.created - now > 93600:
        raise Refused("not-yet-valid")
    if known is None or known.topic != topic:
        return
    if record.counter < known.counter:
        raise Refused("rolled-back")
    if record.counter == known.counter and record.data != known.data:
        raise Refused("conflicting")


# The challenge (11.5)


def answer_to(random, recipient, enrolment):
    message = b"sealedpush/v1 answer\0" + recipient + enrolment
    return armour("pushanswer.", hashlib.blake2b(message, digest_size=32, key=random).digest())


def make_challenge(sender_secret, recipient, enrolment, topic, random=None, ephemeral=None):
    """The challenge and the answer to it. Only test vectors give the random bytes."""
    random = random or os.urandom(32)
    context = Context.to_seal(sender_secret, recipient, topic, ephemeral, purpose=CHALLENGE)
    text = armour("pushchallenge.", context.seal(0, random + enrolment))
    return text, answer_to(random, recipient, enrolment)


def answer_challenge(text, identities, senders, topic, enrolment):
    """The device's side: `enrolment` is its own."""
    envelope = unarmour("pushchallenge.", text, 125, 125)
    if envelope[0] != AUTHENTICATED or not is_public_key(envelope[9:41]):
        raise Refused("malformed")
    identities = [each for each in identities if key_id(public_key(each)) == envelope[1:5]]
    if not identities:
        raise Refused("unknown-recipient")
    senders = [each for each in senders if key_id(each) == envelope[5:9]]
    if not senders:
        raise Refused("unknown-sender")
    for identity, sender in itertools.islice(itertools.product(identities, senders), MOST_TRIES):
        try:
            context = Context.to_open(identity, envelope[9:41], sender, topic, purpose=CHALLENGE)
            opened = context.open(int.from_bytes(envelope[41:45], "big"), envelope[:45], envelope[45:])
        except (InvalidTag, ValueError):
            continue
        if opened[32:] != enrolment:
            raise Refused("foreign-enrolment")
        return answer_to(opened[:32], public_key(identity), enrolment)
    raise Refused("rejected")
