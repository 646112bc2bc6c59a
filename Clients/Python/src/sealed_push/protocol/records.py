"""Signed records, leavings, and the challenge (Specification, section 11; EnrollmentHTTP, section 6)."""

import hashlib
import itertools
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import nacl.exceptions
import nacl.signing
from cryptography.exceptions import InvalidTag

from ..errors import ChallengeError, RecordError
from .hpke import ANONYMOUS, CHALLENGE, MOST_TRIES, OVERHEAD, Context, matches, matches_sender, recipient_of
from . import mlkem
from .key_text import is_public_key, is_recipient, is_signing_key
from .text import TOPIC, decode_base64, encode_base64

DEVICE, SENDERS = 1, 2
LATEST = 253402300799
HIGHEST = 2**62 - 1
VERSION = 3
SHORTEST, LONGEST = 130, 8192
# The lengths of the keys of each known algorithm, for each type of record.
KEY_LENGTHS = {DEVICE: {1: 32, 3: mlkem.PUBLIC + 32}, SENDERS: {1: 32}}


class Record(NamedTuple):
    type: int
    signer: bytes
    counter: int
    created: int
    expires: int
    keeps: int
    topic: str
    # Those of known algorithms.
    keys: tuple[bytes, ...]
    data: bytes


# Text (11.1.4, 11.5)


def armor(prefix: str, data: bytes) -> str:
    return prefix + encode_base64(data)


def unarmor(prefix: str, text: Any, least: int, most: int) -> bytes | None:
    """Returns a text's bytes, or None unless there are `least` to `most` of them."""
    if not isinstance(text, str) or not text.startswith(prefix):
        return None
    data = decode_base64(text[len(prefix) :], -(-most * 4 // 3))
    return data if data is not None and least <= len(data) <= most else None


def with_checksum(data: bytes) -> bytes:
    return data + hashlib.sha256(data).digest()[:4]


# Records (11.1 to 11.3)


def signing_public_key(secret: bytes) -> bytes:
    return bytes(nacl.signing.SigningKey(secret).verify_key)


def signed_message(unsigned: bytes) -> bytes:
    return b"sealedpush/v1 record\0" + unsigned


def unsigned_record(
    type: int,
    signer: bytes,
    counter: int,
    created: int,
    expires: int,
    topic: str,
    keys: Sequence[bytes | tuple[int, bytes]],
    keeps: int | None = None,
) -> bytes:
    """`keys`: each is X25519 or hybrid, as its length tells, or an algorithm's byte with any bytes."""
    numbers = b"".join(number.to_bytes(8, "big") for number in (counter, created, expires))
    keeps = (30 if type == DEVICE else 0) if keeps is None else keeps
    start = bytes([type, VERSION]) + signer + numbers + bytes([keeps, len(topic)]) + topic.encode()
    listed = [key if isinstance(key, tuple) else (1 if len(key) == 32 else 3, key) for key in keys]
    lengthened = (bytes([algorithm]) + len(key).to_bytes(2, "big") + key for algorithm, key in listed)
    return start + bytes([len(listed)]) + b"".join(lengthened)


def sign_bytes(secret: bytes, unsigned: bytes) -> bytes:
    return unsigned + nacl.signing.SigningKey(secret).sign(signed_message(unsigned)).signature


def record_text(data: bytes) -> str:
    return armor("pushrecord.", with_checksum(data))


def sign_record(type: int, secret: bytes, *fields: Any) -> str:
    """`fields`: counter, created, expires, topic, keys, and for a device the number of days it keeps retired secrets."""
    return record_text(sign_bytes(secret, unsigned_record(type, signing_public_key(secret), *fields)))


def read_record(type: int, text: Any) -> Record:
    """Checks the form and the signature (11.3, steps 1 to 5)."""
    data = unarmor("pushrecord.", text, SHORTEST + 4, LONGEST + 4)
    if data is None:
        raise RecordError("malformed")
    if with_checksum(data[:-4]) != data:
        raise RecordError("wrong-checksum")
    data = data[:-4]
    if data[0] != type:
        raise RecordError("wrong-type")
    if data[1] != VERSION:
        raise RecordError("unsupported")
    rest = iter(data[2:])

    def take(count: int) -> bytes:
        taken = bytes(itertools.islice(rest, count))
        if len(taken) != count:
            raise RecordError("malformed")
        return taken

    def take_key() -> tuple[int, bytes]:
        return take(1)[0], take(int.from_bytes(take(2), "big"))

    signer = take(32)
    counter, created, expires = (int.from_bytes(take(8), "big") for _ in range(3))
    keeps = take(1)[0]
    topic = take(take(1)[0]).decode("latin-1")
    listed = [take_key() for _ in range(take(1)[0])]
    known = [(length, key) for algorithm, key in listed if (length := KEY_LENGTHS[type].get(algorithm))]
    keys = tuple(key for _, key in known)
    signature = take(64)
    if (
        next(rest, None) is not None
        or keeps not in (range(1, 32) if type == DEVICE else (0,))
        or counter > HIGHEST
        or not created < expires <= LATEST
        or not TOPIC.fullmatch(topic)
        or not 1 <= len(listed) <= 16
        or not all(key for _, key in listed)
        or len(set(listed)) != len(listed)
        or any(len(key) != length for length, key in known)
        or not all(is_public_key(key) if type == SENDERS else is_recipient(key) for key in keys)
        or not is_signing_key(signer)
    ):
        raise RecordError("malformed")
    _verify(signer, signed_message(data[:-64]), signature)
    if not keys or (any(len(key) != 32 for key in keys) and not mlkem.is_available()):
        raise RecordError("unsupported")
    return Record(type, signer, counter, created, expires, keeps, topic, keys, data)


def check_record(record: Record, pinned: bytes, topic: str, known: Record | None, now: int) -> None:
    """Checks a record against the pin, the topic, the newest record, and the time (11.3, steps 6 to 11)."""
    if record.signer != pinned:
        raise RecordError("foreign-signer")
    if record.topic != topic:
        raise RecordError("other-topic")
    if now > record.expires:
        raise RecordError("expired")
    if record.created - now > 93600:
        raise RecordError("not-yet-valid")
    if known is None or known.topic != topic:
        return
    if record.counter < known.counter:
        raise RecordError("rolled-back")
    if record.counter == known.counter and record.data != known.data:
        raise RecordError("conflicting")


# Leavings (EnrollmentHTTP 6.1)


def _counted(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def _leaving_message(unsigned: bytes, topic: str) -> bytes:
    return b"sealedpush/v1 leaving\0" + unsigned + _counted(topic)


def sign_leaving(secret: bytes, counter: int, topic: str, service: str | None = None) -> str:
    """Signs a leaving; by default, the service's name is the topic."""
    unsigned = signing_public_key(secret) + counter.to_bytes(8, "big") + _counted(topic if service is None else service)
    signature = nacl.signing.SigningKey(secret).sign(_leaving_message(unsigned, topic)).signature
    return armor("pushleaving.", unsigned + signature)


def read_leaving(text: Any, topic: str, service: str) -> tuple[bytes, int]:
    """Checks the form, the signature, and the service. Returns the enrollment key and the counter, which may be one above a
    record's."""
    data = unarmor("pushleaving.", text, 106, 260)
    if data is None:
        raise RecordError("malformed")
    unsigned, signature = data[:-64], data[-64:]
    signer, counter, name = unsigned[:32], int.from_bytes(unsigned[32:40], "big"), unsigned[41:].decode("latin-1")
    if counter > HIGHEST + 1 or unsigned[40] != len(name) or not TOPIC.fullmatch(name) or not is_signing_key(signer):
        raise RecordError("malformed")
    _verify(signer, _leaving_message(unsigned, topic), signature)
    if name != service:
        raise RecordError("other-service")
    return signer, counter


def _verify(signer: bytes, message: bytes, signature: bytes) -> None:
    try:
        # libsodium performs the checks of 11.2.3.
        nacl.signing.VerifyKey(signer).verify(message, signature)
    except nacl.exceptions.BadSignatureError:
        raise RecordError("bad-signature") from None


# The challenge (11.5)


def answer_to(random: bytes, recipient: bytes, enrollment: bytes) -> str:
    message = b"sealedpush/v1 answer\0" + recipient + enrollment
    return armor("pushanswer.", hashlib.blake2b(message, digest_size=32, key=random).digest())


def make_challenge(
    seed: bytes,
    recipient: bytes,
    enrollment: bytes,
    topic: str,
    random: bytes | None = None,
    ephemeral: bytes | None = None,
    number: bytes | None = None,
    encapsulated: tuple[bytes, bytes] | None = None,
) -> tuple[str, str]:
    """Returns a challenge and its answer. Only test vectors pass the random bytes and the number."""
    random = random or os.urandom(32)
    context = Context.to_seal(seed, recipient, topic, ephemeral, CHALLENGE, encapsulated)
    text = armor("pushchallenge.", context.seal(random + enrollment, number))
    return text, answer_to(random, recipient, enrollment)


def answer_challenge(
    text: Any, identities: Sequence[bytes], senders: Sequence[bytes], topic: str, enrollment: bytes
) -> str:
    """Answers a challenge as a device does. `enrollment` is the device's own enrollment key."""
    envelope = unarmor("pushchallenge.", text, 133, 1221)
    suite = envelope[0] if envelope else ANONYMOUS
    if (
        envelope is None
        or suite == ANONYMOUS
        or len(envelope) != OVERHEAD.get(suite, 0) + 64
        or not is_public_key(envelope[9:41])
    ):
        raise ChallengeError("malformed")
    identities = [each for each in identities if matches(envelope, recipient_of(each))]
    if not identities:
        raise ChallengeError("unknown-recipient")
    pairs = [(one, other) for one in identities for other in senders if matches_sender(envelope, recipient_of(one), other)]
    if not pairs:
        raise ChallengeError("unknown-sender")
    for identity, sender in pairs[:MOST_TRIES]:
        try:
            opened = Context.to_open(identity, envelope, sender, topic, purpose=CHALLENGE).open(envelope)
        except (InvalidTag, ValueError):
            continue
        if opened[32:] != enrollment:
            raise ChallengeError("foreign-enrollment")
        return answer_to(opened[:32], recipient_of(identity), enrollment)
    raise ChallengeError("rejected")
