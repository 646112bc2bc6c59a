"""Grants (Docs/Grants.md): a device allows a sender to push to it through a relay. Nothing uses them yet."""

import re
from collections.abc import Collection
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ..errors import RecordError
from .hpke import HPKE, KEM, labeled_expand, labeled_extract, public_key, x25519
from .key_text import is_public_key, is_signing_key
from .records import HIGHEST, LATEST, LONGEST, VERSION, sign_bytes, signed_message, signing_public_key, unarmor
from .records import _verify, armor, with_checksum
from .text import TOPIC
from .urls import LABEL, LONGEST_NAME

GRANT = 3
SHORTEST = 137
SEALED, PLAINTEXT = 150, 102
LONGEST_LIFE = 400 * 86400
X25519 = 1
ENVIRONMENTS = ("production", "sandbox")
HOST = re.compile(rf"{LABEL}(?:\.{LABEL})*")


class Grant(NamedTuple):
    signer: bytes
    counter: int
    created: int
    expires: int
    topic: str
    host: str
    relay: bytes
    sender: bytes
    # Empty in a revocation.
    sealed: bytes
    data: bytes

    @property
    def unsealed(self) -> bytes:
        """The bytes before the sealed token, which it is bound to."""
        return self.data[: -64 - len(self.sealed)]


def beginning(
    signer: bytes,
    counter: int,
    created: int,
    expires: int,
    topic: str,
    host: str,
    relay: tuple[int, bytes],
    sender: tuple[int, bytes],
    length: int = SEALED,
) -> bytes:
    """Returns the bytes before the sealed token, whose length is the last of them. A key is its algorithm and bytes."""
    numbers = b"".join(number.to_bytes(8, "big") for number in (counter, created, expires))
    start = bytes([GRANT, VERSION]) + signer + numbers + bytes([0, len(topic)]) + topic.encode() + bytes([len(host)])
    keys = b"".join(bytes([algorithm]) + len(key).to_bytes(2, "big") + key for algorithm, key in (relay, sender))
    return start + host.encode() + keys + length.to_bytes(2, "big")


def grant_text(data: bytes) -> str:
    return armor("pushgrant.", with_checksum(data))


def sign_grant(secret: bytes, unsigned: bytes, sealed: bytes) -> str:
    return grant_text(sign_bytes(secret, unsigned + sealed))


def read_grant(text: object) -> Grant:
    """Checks the form and the signature (24.1)."""
    data = unarmor("pushgrant.", text, SHORTEST + 4, LONGEST + 4)
    if data is None:
        raise RecordError("malformed")
    if with_checksum(data[:-4]) != data:
        raise RecordError("wrong-checksum")
    data = data[:-4]
    if data[0] != GRANT:
        raise RecordError("wrong-type")
    if data[1] != VERSION:
        raise RecordError("unsupported")
    place = 2

    def take(count: int) -> bytes:
        nonlocal place
        place += count
        if place > len(data):
            raise RecordError("malformed")
        return data[place - count : place]

    def take_number(count: int) -> int:
        return int.from_bytes(take(count), "big")

    signer = take(32)
    counter, created, expires = take_number(8), take_number(8), take_number(8)
    keeps = take_number(1)
    topic = take(take_number(1)).decode("latin-1")
    host = take(take_number(1)).decode("latin-1")
    (algorithm, relay), (sender_algorithm, sender) = ((take_number(1), take(take_number(2))) for _ in range(2))
    sealed = take(take_number(2))
    signature = take(64)
    if (
        place != len(data)
        or keeps != 0
        or counter > HIGHEST
        or not created < expires <= LATEST
        or expires - created > LONGEST_LIFE
        or not TOPIC.fullmatch(topic)
        or len(host) > LONGEST_NAME
        or not HOST.fullmatch(host)
        or not relay
        or not sender
        or (algorithm == X25519 and not is_public_key(relay))
        or (sender_algorithm == X25519 and not is_public_key(sender))
        or (algorithm == X25519 and len(sealed) not in (0, SEALED))
        or (algorithm, relay) == (sender_algorithm, sender)
        or not is_signing_key(signer)
    ):
        raise RecordError("malformed")
    _verify(signer, signed_message(data[:-64]), signature)
    if algorithm != X25519 or sender_algorithm != X25519:
        raise RecordError("unsupported")
    return Grant(signer, counter, created, expires, topic, host, relay, sender, sealed, data)


def check_grant(
    grant: Grant,
    relay: tuple[str, bytes],
    sender: bytes,
    topics: Collection[str],
    known: Grant | None,
    now: int,
    pinned: bytes | None = None,
) -> None:
    """Makes the checks of 24.1 up to a revocation. `relay`: its host and key. `topics`: those that the relay serves, or the
    sender's own. `pinned`: the device's enrollment key; only a sender has one."""
    if pinned is not None and grant.signer != pinned:
        raise RecordError("foreign-signer")
    if (grant.host, grant.relay) != relay:
        raise RecordError("foreign-relay")
    if grant.sender != sender:
        raise RecordError("foreign-sender")
    if grant.topic not in topics:
        raise RecordError("other-topic")
    if now > grant.expires:
        raise RecordError("expired")
    if grant.created - now > 93600:
        raise RecordError("not-yet-valid")
    if known is not None and (known.signer, known.topic, known.sender) == (grant.signer, grant.topic, grant.sender):
        if grant.counter < known.counter:
            raise RecordError("rolled-back")
        if grant.counter == known.counter and grant.data != known.data:
            raise RecordError("conflicting")
    if not grant.sealed:
        raise RecordError("revoked")


class TokenKeys:
    """The values of 23.2 that a device and a relay agree on."""

    def __init__(self, dh: bytes, enc: bytes, relay: bytes, topic: str) -> None:
        eae_prk = labeled_extract(KEM, b"", b"eae_prk", dh)
        self.enc = enc
        self.shared_secret = labeled_expand(KEM, eae_prk, b"shared_secret", enc + relay, 32)
        hashes = labeled_extract(HPKE, b"", b"psk_id_hash", b"")
        hashes += labeled_extract(HPKE, b"", b"info_hash", b"sealedpush/v1 grant\0" + topic.encode())
        secret = labeled_extract(HPKE, self.shared_secret, b"secret", b"")
        self.key = labeled_expand(HPKE, secret, b"key", b"\0" + hashes, 32)
        self.base_nonce = labeled_expand(HPKE, secret, b"base_nonce", b"\0" + hashes, 12)


def token_plaintext(environment: str, token: bytes) -> bytes:
    return (bytes([ENVIRONMENTS.index(environment) + 1, len(token)]) + token).ljust(PLAINTEXT, b"\0")


def seal_token(plaintext: bytes, unsealed: bytes, relay: bytes, topic: str, ephemeral: bytes) -> bytes:
    keys = TokenKeys(x25519(ephemeral, relay), public_key(ephemeral), relay, topic)
    return keys.enc + ChaCha20Poly1305(keys.key).encrypt(keys.base_nonce, plaintext, unsealed)


def open_token(grant: Grant, secret: bytes) -> tuple[str, bytes]:
    """Returns the environment and the token. `secret`: the relay's."""
    enc, ciphertext = grant.sealed[:32], grant.sealed[32:]
    try:
        if not is_public_key(enc):
            raise ValueError("enc")
        keys = TokenKeys(x25519(secret, enc), enc, public_key(secret), grant.topic)
        plaintext = ChaCha20Poly1305(keys.key).decrypt(keys.base_nonce, ciphertext, grant.unsealed)
    except (InvalidTag, ValueError):
        raise RecordError("rejected") from None
    environment, length = plaintext[0], plaintext[1]
    if environment not in (1, 2) or not 1 <= length <= 100 or any(plaintext[2 + length :]):
        raise RecordError("rejected")
    return ENVIRONMENTS[environment - 1], plaintext[2 : 2 + length]
