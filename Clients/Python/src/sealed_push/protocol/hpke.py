"""HPKE (RFC 9180) in mode_auth, and the envelopes made with it (Specification, section 3)."""

import hashlib
import hmac
import os
from typing import Any, Self

import nacl.public
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import key_text, mlkem
from .text import TOPIC

AUTHENTICATED, ANONYMOUS, HYBRID = 1, 2, 3
HEADER = {AUTHENTICATED: 53, ANONYMOUS: 5, HYBRID: 53 + mlkem.CIPHERTEXT}
OVERHEAD = {AUTHENTICATED: 53 + 16, ANONYMOUS: 5 + 48, HYBRID: HEADER[HYBRID] + 16}
MOST_TRIES = 16
KEM, HPKE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x03"
MESSAGE, CHALLENGE = b"sealedpush/v1", b"sealedpush/v1 challenge"


def public_key(secret: bytes) -> bytes:
    public = X25519PrivateKey.from_private_bytes(secret).public_key()
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519(secret: bytes, public: bytes) -> bytes:
    """Raises a ValueError if the result is zero (3.3.3)."""
    peer = X25519PublicKey.from_public_bytes(public)
    return X25519PrivateKey.from_private_bytes(secret).exchange(peer)


def hkdf_extract(salt: bytes, key_material: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), key_material, "sha256")


def hkdf_expand(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-SHA256, for at most 8,160 bytes."""
    made, block = b"", b""
    for counter in range(1, -(-length // 32) + 1):
        block = hmac.digest(key, block + info + bytes([counter]), "sha256")
        made += block
    return made[:length]


def derive(seed: bytes, label: str, *texts: str, length: int = 32) -> bytes:
    """Derives a key for one purpose from a seed, bound to the texts (3.7)."""
    lengths = b"".join(len(each.encode()).to_bytes(8, "big") + each.encode() for each in texts)
    return hkdf_expand(hkdf_extract(b"", seed), label.encode() + b"\0" + lengths, length)


def sender_scalar(seed: bytes) -> bytes:
    return derive(seed, "sealedpush/v1 sender scalar")


def sender_public_key(seed: bytes) -> bytes:
    return public_key(sender_scalar(seed))


class HybridIdentity(bytes):
    """The seed of a device's hybrid key (3.8.2)."""

    @property
    def mlkem_seed(self) -> bytes:
        return derive(self, "sealedpush/v1 device ml-kem", length=64)

    @property
    def scalar(self) -> bytes:
        return derive(self, "sealedpush/v1 device scalar")


def read_identity(text: Any) -> bytes:
    """Reads an identity of either kind from its text."""
    if isinstance(text, str) and text.lower().startswith(key_text.HYBRID_IDENTITY + "1"):
        return HybridIdentity(key_text.decode(key_text.HYBRID_IDENTITY, text))
    return key_text.decode(key_text.IDENTITY, text)


def recipient_of(identity: bytes) -> bytes:
    """Returns the public key of an identity."""
    if isinstance(identity, HybridIdentity):
        return mlkem.public_key(identity.mlkem_seed) + public_key(identity.scalar)
    return public_key(identity)


def suite_of(recipient: bytes) -> int:
    """Returns the suite that seals to a recipient (3.8.5)."""
    return AUTHENTICATED if len(recipient) == 32 else HYBRID


def recipient_hint(suite: int, enc: bytes, recipient: bytes) -> bytes:
    return _hint(b"sealedpush/v1 recipient hint", suite, enc + recipient)


def sender_hint(suite: int, enc: bytes, recipient: bytes, sender: bytes) -> bytes:
    return _hint(b"sealedpush/v1 sender hint", suite, enc + recipient + sender)


def _hint(label: bytes, suite: int, keys: bytes) -> bytes:
    return hashlib.sha256(label + bytes([0, suite]) + keys).digest()[:4]


def labeled_extract(suite: bytes, salt: bytes, label: bytes, key_material: bytes) -> bytes:
    return hkdf_extract(salt, b"HPKE-v1" + suite + label + key_material)


def labeled_expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return hkdf_expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


class Context:
    """The keys that a sender, recipient, topic, and ephemeral key agree on (3.4, 3.8). `psk` and `psk_id` are ML-KEM's."""

    def __init__(
        self,
        dh: bytes,
        enc: bytes,
        recipient: bytes,
        sender: bytes,
        topic: str,
        purpose: bytes = MESSAGE,
        psk: bytes = b"",
        psk_id: bytes = b"",
    ) -> None:
        if not TOPIC.fullmatch(topic):
            raise ValueError("not a topic")
        self.enc, self.psk_id = enc, psk_id
        suite = suite_of(recipient)
        hints = recipient_hint(suite, enc, recipient) + sender_hint(suite, enc, recipient, sender)
        self.header = bytes([suite]) + hints + enc
        eae_prk = labeled_extract(KEM, b"", b"eae_prk", dh)
        kem_context = enc + recipient[-32:] + sender
        self.shared_secret = labeled_expand(KEM, eae_prk, b"shared_secret", kem_context, 32)
        psk_id_hash = labeled_extract(HPKE, b"", b"psk_id_hash", psk_id)
        info = purpose + (b" hybrid" if psk_id else b"") + b"\0" + topic.encode() + psk_id
        mode = b"\x03" if psk_id else b"\x02"
        schedule = mode + psk_id_hash + labeled_extract(HPKE, b"", b"info_hash", info)
        secret = labeled_extract(HPKE, self.shared_secret, b"secret", psk)
        self.key = labeled_expand(HPKE, secret, b"key", schedule, 32)
        self.base_nonce = labeled_expand(HPKE, secret, b"base_nonce", schedule, 12)
        exporter = labeled_expand(HPKE, secret, b"exp", schedule, 32)
        self.number_key = labeled_expand(HPKE, exporter, b"sec", b"sealedpush/v1 number", 32)
        self._cipher = ChaCha20Poly1305(self.key)

    @classmethod
    def to_seal(
        cls,
        seed: bytes,
        recipient: bytes,
        topic: str,
        ephemeral: bytes | None = None,
        purpose: bytes = MESSAGE,
        encapsulated: tuple[bytes, bytes] | None = None,
    ) -> Self:
        """Makes a new context. Only test vectors pass the ephemeral secret and ML-KEM's secret with its ciphertext."""
        ephemeral = ephemeral or os.urandom(32)
        scalar = sender_scalar(seed)
        if suite_of(recipient) == HYBRID:
            psk, psk_id = encapsulated or mlkem.encapsulate(recipient[:-32])
        else:
            psk, psk_id = b"", b""
        dh = x25519(ephemeral, recipient[-32:]) + x25519(scalar, recipient[-32:])
        return cls(dh, public_key(ephemeral), recipient, public_key(scalar), topic, purpose, psk, psk_id)

    @classmethod
    def to_open(cls, identity: bytes, envelope: bytes, sender: bytes, topic: str, purpose: bytes = MESSAGE) -> Self:
        enc, psk, psk_id, scalar = envelope[9:41], b"", b"", identity
        if isinstance(identity, HybridIdentity):
            psk_id, scalar = envelope[53 : HEADER[HYBRID]], identity.scalar
            psk = mlkem.decapsulate(identity.mlkem_seed, psk_id)
        dh = x25519(scalar, enc) + x25519(scalar, sender)
        return cls(dh, enc, recipient_of(identity), sender, topic, purpose, psk, psk_id)

    def number(self, plaintext: bytes, random: bytes | None = None) -> bytes:
        """Returns a new number for a plaintext (3.5.3). Only test vectors pass the random bytes."""
        message = (random or os.urandom(16)) + plaintext
        return hashlib.blake2b(message, digest_size=16, key=self.number_key).digest()[:12]

    def nonce(self, number: bytes) -> bytes:
        return bytes(a ^ b for a, b in zip(self.base_nonce, number, strict=True))

    def aad(self, number: bytes) -> bytes:
        return self.header + number + self.psk_id

    def seal(self, plaintext: bytes, number: bytes | None = None) -> bytes:
        """Returns an envelope. The caller enforces the limits of 3.5.2. Only test vectors pass the number."""
        number = number or self.number(plaintext)
        aad = self.aad(number)
        return aad + self._cipher.encrypt(self.nonce(number), plaintext, aad)

    def open(self, envelope: bytes) -> bytes:
        """Raises InvalidTag if the envelope doesn't open."""
        header = envelope[: HEADER[envelope[0]]]
        return self._cipher.decrypt(self.nonce(envelope[41:53]), envelope[len(header) :], header)


def seal_anonymous(recipient: bytes, plaintext: bytes) -> bytes:
    sealed: bytes = nacl.public.SealedBox(nacl.public.PublicKey(recipient)).encrypt(plaintext)
    return bytes([ANONYMOUS]) + recipient_hint(ANONYMOUS, sealed[:32], recipient) + sealed


def matches(envelope: bytes, recipient: bytes) -> bool:
    """Whether the recipient hint matches this key (3.2)."""
    suite = envelope[0]
    if (suite == HYBRID) != (suite_of(recipient) == HYBRID):
        return False
    return envelope[1:5] == recipient_hint(suite, _enc(envelope), recipient)


def matches_sender(envelope: bytes, recipient: bytes, sender: bytes) -> bool:
    return envelope[5:9] == sender_hint(envelope[0], _enc(envelope), recipient, sender)


def _enc(envelope: bytes) -> bytes:
    return envelope[5:37] if envelope[0] == ANONYMOUS else envelope[9:41]
