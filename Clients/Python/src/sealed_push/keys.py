"""Keys as people handle them: as text, and by their fingerprints."""

import os
import time
from typing import Any, NamedTuple

from .errors import KeyTextError, SettingError
from .protocol import fingerprint as protocol
from .protocol import key_text

_PUBLIC = (key_text.RECIPIENT, key_text.HYBRID_RECIPIENT, key_text.SENDER, key_text.AUTHORITY, key_text.ENROLLMENT)


class Fingerprint(NamedTuple):
    """What two people compare to see that they hold the same public key: one of the two, and all of it (Specification 12)."""

    digits: str
    words: str


def fingerprint(key: str) -> Fingerprint:
    """The fingerprint of a public key's text: push1..., pushpq1..., pushsender1..., pushauthority1... or pushenrollment1...

    Raises KeyTextError, also for a secret: that has none.
    """
    kind = key.lower().rpartition("1")[0] if isinstance(key, str) else ""
    if kind not in _PUBLIC:
        raise KeyTextError("wrong-kind")
    value = protocol.fingerprint(kind, key_text.decode(kind, key))
    return Fingerprint(protocol.digits(value), protocol.words(value))


def generate_sender_secret() -> str:
    """A new sender's secret, PUSH-SENDER-SECRET-KEY-1...: whoever has it can send in your name. Keep it in a secret store."""
    return key_text.encode(key_text.SENDER_SECRET, os.urandom(32))


def seconds(now: Any) -> int:
    """Unix seconds: the clock's for None."""
    if now is None:
        return int(time.time())
    if not isinstance(now, int) or isinstance(now, bool) or not 0 <= now <= 253402300799:
        raise SettingError("now")
    return now
