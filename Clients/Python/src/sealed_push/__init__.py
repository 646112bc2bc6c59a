"""The server's side of end-to-end encrypted push notifications for Apple's devices.

    sender = Sender(secret, topic="com.example.app")
    push = sender.seal({"alert": {"title": "Nina", "body": "Lunch at one?"}}, device)

`push.payload` is the body of a request to Apple, and `push.headers` are its headers. `Device` is the state that a server stores
for a phone. All errors are SealedPushErrors with a stable code and a hint for people. `sealed_push.testing` has a phone for
tests.
"""

from .attachments import open_file, seal_attachment, seal_file
from .content import Content, Withdrawal
from .device import Device, Leaving
from .errors import (
    ChallengeError,
    ContentError,
    FileError,
    KeyTextError,
    OpenError,
    ReceiptError,
    RecordError,
    SealedPushError,
    SettingError,
    TooLargeError,
)
from .keys import Fingerprint, fingerprint, generate_sender_secret
from .outbox import ENQUEUE, OutboxKey, enqueue_arguments
from .receipts import Receipt, ReceiptReceiver
from .sender import Push, Sender

__version__ = "0.1.0"
__all__ = [
    "ENQUEUE",
    "ChallengeError",
    "Content",
    "ContentError",
    "Device",
    "FileError",
    "Fingerprint",
    "KeyTextError",
    "Leaving",
    "OpenError",
    "OutboxKey",
    "Push",
    "Receipt",
    "ReceiptError",
    "ReceiptReceiver",
    "RecordError",
    "SealedPushError",
    "Sender",
    "SettingError",
    "TooLargeError",
    "Withdrawal",
    "enqueue_arguments",
    "fingerprint",
    "generate_sender_secret",
    "open_file",
    "seal_attachment",
    "seal_file",
]
