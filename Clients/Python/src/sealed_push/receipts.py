"""Receipts, in which a device states that it has shown a message (ContentParts 16)."""

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
    """A device's statement. Count each pair of `device` and `number` once, not the number alone: a device can claim any."""

    device: bytes
    """16 bytes that are the same in all receipts of one device. `Sender.receipt_device` returns them."""
    number: bytes
    """16 bytes that are the same in all of this device's receipts for this message."""
    shown_at: int
    """The time at which the message was shown, by the device's clock, in Unix seconds."""
    elapsed_milliseconds: int
    """The time from the call to the extension until the message was shown."""
    failures: Mapping[str, int]
    """The number of pushes that didn't open since the last receipt, by code. At most 65,535 each, as the device claims."""
    other_failures: int
    """The number that didn't open for reasons that only a later version knows."""


class ReceiptReceiver:
    """Checks the receipts of an app's devices. Pass the senders' secrets of the last 7 days, the current one first.

    At most 16 secrets are tried. Thread-safe. A check takes about 10 microseconds.
    """

    def __init__(self, secrets: Iterable[str], *, topic: str) -> None:
        """Raises KeyTextError, SettingError."""
        if isinstance(secrets, str) or not isinstance(secrets, Iterable):
            raise KeyTextError("not-a-key")
        if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
            raise SettingError("topic")
        seeds = [key_text.decode_secret(key_text.SENDER_SECRET, each) for each in secrets]
        self._servers = [protocol.server_key(each, topic) for each in seeds]

    def check(self, body: bytes, *, now: int | None = None) -> Receipt:
        """Returns the receipt in a request's whole body. Counting is up to you. Raises ReceiptError; respond with 400."""
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
        raise TypeError("a ReceiptReceiver holds keys and can't be copied; make one in each process")
