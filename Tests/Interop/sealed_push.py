"""Sealed Push, version 1: sealing and opening.

The numbers in the comments, such as 3.4.2, are paragraphs of Docs/Specification.md.
"""

import base64
import hashlib
import itertools
import json
import os
import re
import time
import uuid

import nacl.exceptions
import nacl.public
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from content import TOPIC, MalformedContent, pad, parse, to_json, unpad
from key_text import is_public_key, key_id

AUTHENTICATED, ANONYMOUS = 1, 2
OVERHEAD = {AUTHENTICATED: 61, ANONYMOUS: 53}
FIELD = "custom-encrypted-message"
GENERIC_TEXT = "You have a new message!"
MOST_TRIES = 16
KEM, HPKE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x03"


class Refused(Exception):
    """Opening ended with a code of 6.1."""


# Primitives


def public_key(secret):
    public = X25519PrivateKey.from_private_bytes(secret).public_key()
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519(secret, public):
    """A ValueError when the result is zero (3.3.3)."""
    peer = X25519PublicKey.from_public_bytes(public)
    return X25519PrivateKey.from_private_bytes(secret).exchange(peer)


def hkdf_extract(salt, key_material):
    mac = HMAC(salt or bytes(32), hashes.SHA256())
    mac.update(key_material)
    return mac.finalize()


def hkdf_expand(key, info, length):
    return HKDFExpand(hashes.SHA256(), length, info).derive(key)


def labeled_extract(suite, salt, label, key_material):
    return hkdf_extract(salt, b"HPKE-v1" + suite + label + key_material)


def labeled_expand(suite, key, label, info, length):
    return hkdf_expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


# Envelopes (section 3)


class Context:
    """What one sender, one recipient, one topic and one ephemeral key agree on (3.4)."""

    def __init__(self, dh, enc, recipient, sender, topic, purpose=b"sealedpush/v1"):
        if not TOPIC.fullmatch(topic):
            raise ValueError("not a topic")
        self.enc = enc
        self.header = bytes([AUTHENTICATED]) + key_id(recipient) + key_id(sender) + enc
        eae_prk = labeled_extract(KEM, b"", b"eae_prk", dh)
        kem_context = enc + recipient + sender
        self.shared_secret = labeled_expand(KEM, eae_prk, b"shared_secret", kem_context, 32)
        psk_id_hash = labeled_extract(HPKE, b"", b"psk_id_hash", b"")
        info = purpose + b"\0" + topic.encode()
        schedule = b"\x02" + psk_id_hash + labeled_extract(HPKE, b"", b"info_hash", info)
        secret = labeled_extract(HPKE, self.shared_secret, b"secret", b"")
        self.key = labeled_expand(HPKE, secret, b"key", schedule, 32)
        self.base_nonce = labeled_expand(HPKE, secret, b"base_nonce", schedule, 12)

    @classmethod
    def to_seal(cls, sender_secret, recipient, topic, ephemeral=None, **purpose):
        """A new context. Only test vectors give the ephemeral secret."""
        ephemeral = ephemeral or os.urandom(32)
        dh = x25519(ephemeral, recipient) + x25519(sender_secret, recipient)
        return cls(dh, public_key(ephemeral), recipient, public_key(sender_secret), topic, **purpose)

    @classmethod
    def to_open(cls, identity, enc, sender, topic, **purpose):
        dh = x25519(identity, enc) + x25519(identity, sender)
        return cls(dh, enc, public_key(identity), sender, topic, **purpose)

    def nonce(self, number):
        return bytes(a ^ b for a, b in zip(self.base_nonce, number.to_bytes(12, "big")))

    def aad(self, number):
        return self.header + number.to_bytes(4, "big")

    def seal(self, number, plaintext):
        """The caller sees to it that no number is used twice, and to the limits of 3.5.3."""
        cipher = ChaCha20Poly1305(self.key)
        return self.aad(number) + cipher.encrypt(self.nonce(number), plaintext, self.aad(number))

    def open(self, number, header, sealed):
        return ChaCha20Poly1305(self.key).decrypt(self.nonce(number), sealed, header)


def seal_anonymous(recipient, plaintext):
    sealed = nacl.public.SealedBox(nacl.public.PublicKey(recipient)).encrypt(plaintext)
    return bytes([ANONYMOUS]) + key_id(recipient) + sealed


# The payload (sections 2 and 5)


def encode_field(envelope):
    return base64.urlsafe_b64encode(envelope).rstrip(b"=").decode()


def decode_field(text):
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,4096}", text):
        raise Refused("malformed")
    if len(text) % 4 == 1:
        raise Refused("malformed")
    envelope = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode_field(envelope) != text:
        raise Refused("malformed")
    return envelope


def payload(envelope, alert=GENERIC_TEXT):
    text = encode_field(envelope) if envelope else ""
    return to_json({"aps": {"alert": alert, "mutable-content": 1}, FIELD: text})


def largest_plaintext(suite, alert=GENERIC_TEXT):
    """P of 5.3."""
    return (4096 - len(payload(None, alert))) * 3 // 4 - OVERHEAD[suite]


def complete(content, topic, now=None):
    """The content with what a sender fills in: id, topic and sent."""
    sent = int(time.time()) if now is None else now
    return {"id": str(uuid.uuid4()), "topic": topic, "sent": sent} | content


def make_plaintext(content, suite, policy="buckets"):
    return pad(to_json(content), policy, largest_plaintext(suite))


# Identifiers of a push (2.7 to 2.9)


def header_key(sender_secret):
    return hkdf_expand(hkdf_extract(b"", sender_secret), b"sealedpush/v1 ids", 32)


def collapse_id(key, recipient, string):
    message = b"collapse\0" + recipient + string.encode()
    return encode_field(hashlib.blake2b(message, digest_size=16, key=key).digest())


def apns_id(key, recipient, message_id):
    message = b"apns-id\0" + recipient + message_id.encode()
    digest = bytearray(hashlib.blake2b(message, digest_size=16, key=key).digest())
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def ledger_key(envelope, recipient, sender=None):
    """7.2; without a sender for the anonymous suite."""
    sealed = sender + envelope[9:45] if sender else envelope[5:]
    return hashlib.blake2b(envelope[:1] + recipient + sealed, digest_size=32).digest()


# Opening (section 6, steps 1 to 5)


def open_payload(data, *arguments, **options):
    try:
        field = json.loads(data.decode())[FIELD]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused("malformed") from error
    return open_field(field, *arguments, **options)


def open_field(text, identities, senders, topic, now, allow_anonymous=False):
    """The content's bytes, the identity and the sender's public key that opened it."""
    envelope = decode_field(text)
    suite, header_length = envelope[0], 45 if envelope[0] == AUTHENTICATED else 5
    if suite not in OVERHEAD or len(envelope) <= OVERHEAD[suite]:
        raise Refused("malformed")
    if suite == AUTHENTICATED and not is_public_key(envelope[9:41]):
        raise Refused("malformed")
    identities = [each for each in identities if key_id(public_key(each)) == envelope[1:5]]
    if not identities:
        raise Refused("unknown-recipient")
    if suite == AUTHENTICATED:
        senders = [each for each in senders if key_id(each) == envelope[5:9]]
        if not senders:
            raise Refused("unknown-sender")
    elif not allow_anonymous:
        raise Refused("anonymous-not-allowed")
    else:
        senders = [None]
    pairs = itertools.islice(itertools.product(identities, senders), MOST_TRIES)
    for identity, sender in pairs:
        opened = _try(envelope, header_length, identity, sender, topic)
        if opened is not None:
            return _check(opened, topic, now, 93600 if sender else 600), identity, sender
    raise Refused("rejected")


def _try(envelope, header_length, identity, sender, topic):
    header, sealed = envelope[:header_length], envelope[header_length:]
    try:
        if sender is None:
            return nacl.public.SealedBox(nacl.public.PrivateKey(identity)).decrypt(sealed)
        context = Context.to_open(identity, envelope[9:41], sender, topic)
        return context.open(int.from_bytes(envelope[41:45], "big"), header, sealed)
    except (InvalidTag, ValueError, nacl.exceptions.CryptoError):
        return None


def _check(opened, topic, now, most_ahead):
    try:
        data = unpad(opened)
        content = parse(data)
    except MalformedContent as error:
        raise Refused("malformed-content") from error
    if content["topic"] != topic:
        raise Refused("topic")
    if content["sent"] - now > most_ahead:
        raise Refused("clock")
    if now - content["sent"] > 2592000:
        raise Refused("too-old")
    if "expires" in content and now > content["expires"] + 600:
        raise Refused("expired")
    return data
