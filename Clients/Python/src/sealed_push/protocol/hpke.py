"""HPKE (RFC 9180) in mode_auth, and the envelopes made with it (Specification, section 3)."""

import hmac
import os
from typing import Self

import nacl.public
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .key_text import key_id
from .text import TOPIC

AUTHENTICATED, ANONYMOUS = 1, 2
OVERHEAD = {AUTHENTICATED: 61, ANONYMOUS: 53}
MOST_TRIES = 16
KEM, HPKE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x03"
MESSAGE, CHALLENGE = b"sealedpush/v1", b"sealedpush/v1 challenge"


def public_key(secret: bytes) -> bytes:
    public = X25519PrivateKey.from_private_bytes(secret).public_key()
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519(secret: bytes, public: bytes) -> bytes:
    """A ValueError when the result is zero (3.3.3)."""
    peer = X25519PublicKey.from_public_bytes(public)
    return X25519PrivateKey.from_private_bytes(secret).exchange(peer)


def hkdf_extract(salt: bytes, key_material: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), key_material, "sha256")


def hkdf_expand(key: bytes, info: bytes, length: int) -> bytes:
    """One block of HKDF-SHA256: at most 32 bytes, and nothing here needs more."""
    if length > 32:
        raise ValueError("more than one block")
    return hmac.digest(key, info + b"\x01", "sha256")[:length]


def labeled_extract(suite: bytes, salt: bytes, label: bytes, key_material: bytes) -> bytes:
    return hkdf_extract(salt, b"HPKE-v1" + suite + label + key_material)


def labeled_expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return hkdf_expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


class Context:
    """What one sender, one recipient, one topic and one ephemeral key agree on (3.4)."""

    def __init__(
        self, dh: bytes, enc: bytes, recipient: bytes, sender: bytes, topic: str, purpose: bytes = MESSAGE
    ) -> None:
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
        self._cipher = ChaCha20Poly1305(self.key)

    @classmethod
    def to_seal(
        cls,
        sender_secret: bytes,
        recipient: bytes,
        topic: str,
        ephemeral: bytes | None = None,
        purpose: bytes = MESSAGE,
        sender: bytes | None = None,
    ) -> Self:
        """A new context. Only test vectors give the ephemeral secret; `sender` is the secret's public key, where it is known."""
        ephemeral = ephemeral or os.urandom(32)
        dh = x25519(ephemeral, recipient) + x25519(sender_secret, recipient)
        return cls(dh, public_key(ephemeral), recipient, sender or public_key(sender_secret), topic, purpose)

    @classmethod
    def to_open(cls, identity: bytes, enc: bytes, sender: bytes, topic: str, purpose: bytes = MESSAGE) -> Self:
        dh = x25519(identity, enc) + x25519(identity, sender)
        return cls(dh, enc, public_key(identity), sender, topic, purpose)

    def nonce(self, number: int) -> bytes:
        return (int.from_bytes(self.base_nonce, "big") ^ number).to_bytes(12, "big")

    def aad(self, number: int) -> bytes:
        return self.header + number.to_bytes(4, "big")

    def seal(self, number: int, plaintext: bytes) -> bytes:
        """The caller sees to it that no number is used twice, and to the limits of 3.5.3."""
        aad = self.aad(number)
        return aad + self._cipher.encrypt(self.nonce(number), plaintext, aad)

    def open(self, number: int, header: bytes, sealed: bytes) -> bytes:
        """An InvalidTag where it does not open."""
        return self._cipher.decrypt(self.nonce(number), sealed, header)


def seal_anonymous(recipient: bytes, plaintext: bytes) -> bytes:
    sealed: bytes = nacl.public.SealedBox(nacl.public.PublicKey(recipient)).encrypt(plaintext)
    return bytes([ANONYMOUS]) + key_id(recipient) + sealed
