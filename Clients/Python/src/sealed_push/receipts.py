"""Receipts: a device's word that it has shown a message (Specification 16)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from .errors import KeyTextError, ReceiptError, SettingError
from .keys import seconds
from .protocol import key_text
from .protocol import receipts as protocol
from .protocol.text import TOPIC


@dataclass(frozen=True)
class Receipt:
    """What a device says. Count each pair of `device` and `number` once: a number alone is no key, since a device may claim any."""

    device: bytes
    """16 bytes, the same for all receipts of one device: `Sender.receipt_device` gives them."""
    number: bytes
    """16 bytes, the same whenever this device tells of this message."""
    shown_at: int
    """When it was shown, by the device's clock, in Unix seconds."""
    elapsed_milliseconds: int
    """From the call of the extension until it was shown."""
    failures: Mapping[str, int]
    """How many pushes did not open since the last receipt, by code: at most 65,535 of each, and the device's own word."""
    other_failures: int
    """Likewise, for codes that only a later version knows."""


class ReceiptReceiver:
    """Checks what devices of an app post, with the senders' secrets of the last 7 days, the present one first; at most 16 are tried.

    Safe from many threads. About 10 microseconds.
    """

    def __init__(self, secrets: Iterable[str], *, topic: str) -> None:
        if isinstance(secrets, str):
            raise KeyTextError("not-a-key")
        if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
            raise SettingError("topic")
        seeds = [key_text.decode_secret(key_text.SENDER_SECRET, each) for each in secrets]
        self._servers = [protocol.server_key(each, topic) for each in seeds]

    def check(self, body: bytes, *, now: int | None = None) -> Receipt:
        """The receipt in a request's whole body. Raises ReceiptError: answer 400. Counts nothing: that is the server's own."""
        if not isinstance(body, (bytes, bytearray)):
            raise ReceiptError("wrong-size")
        said = protocol.check(bytes(body), self._servers, seconds(now))
        known = len(protocol.REASONS)
        counts = said["counts"]
        return Receipt(
            device=said["id"],
            number=said["number"],
            shown_at=said["created"],
            elapsed_milliseconds=said["elapsed"],
            failures={protocol.REASONS[index - 1]: count for index, count in counts.items() if index <= known},
            other_failures=sum(count for index, count in counts.items() if index > known),
        )

    def __repr__(self) -> str:
        return f"ReceiptReceiver({len(self._servers)} senders)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a ReceiptReceiver holds keys, and is not copied")
