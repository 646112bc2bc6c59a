"""Keys as text, and their fingerprints."""

import os
import time
from typing import Any, NamedTuple

from .errors import KeyTextError, SettingError
from .protocol import fingerprint as protocol
from .protocol import key_text

_PUBLIC = (key_text.RECIPIENT, key_text.HYBRID_RECIPIENT, key_text.SENDER, key_text.AUTHORITY, key_text.ENROLLMENT)


class Fingerprint(NamedTuple):
    """A public key's fingerprint. To verify a key, two people compare either form in full (Specification 12)."""

    digits: str
    words: str


def fingerprint(key: str) -> Fingerprint:
    """Returns the fingerprint of a public key: push1..., pushpq...., pushsender1..., pushauthority1..., or pushenrollment1...

    Raises KeyTextError, also for a secret, which has no fingerprint.
    """
    kind = key_text.kind_of(key)
    if kind not in _PUBLIC:
        raise KeyTextError("wrong-kind")
    value = protocol.fingerprint(kind, key_text.decode(kind, key))
    return Fingerprint(protocol.digits(value), protocol.words(value))


def generate_sender_secret() -> str:
    """Returns a new sender's secret, PUSH-SENDER-SECRET-KEY-1....

    Anyone who has this secret can send in your name. Keep it in a secret store.
    """
    return key_text.encode(key_text.SENDER_SECRET, os.urandom(32))


def seconds(now: Any) -> int:
    """Returns Unix seconds; for None, the current time. Raises SettingError."""
    if now is None:
        return int(time.time())
    if not isinstance(now, int) or isinstance(now, bool) or not 0 <= now <= 253402300799:
        raise SettingError("now")
    return now
