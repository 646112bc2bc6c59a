"""The package's errors. Each has a stable code and says what to do. None contains a secret or any of the input."""

from typing import ClassVar


class SealedPushError(Exception):
    """The base class of the package's errors.

    `code` is stable and for programs. `message` and `hint` are for people: what is wrong, and what to do about it.
    """

    words: ClassVar[dict[str, tuple[str, str]]] = {}

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
        self.message, self.hint = self.words.get(code, ("refused", "see the code in the Specification"))

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}"


class KeyTextError(SealedPushError):
    """A key's text is wrong (Specification 8). The error never repeats the text."""

    words = {
        "not-given": ("no key was given", "check that the variable is set"),
        "white-space": ("the key's text has white space around it", "copy only the text, without line breaks"),
        "not-a-key": ("not the text of a Sealed Push key", "copy the whole text again, without spaces"),
        "wrong-kind": (
            "not the type of key expected here",
            "a recipient begins with push1 or pushpq1, a sender's secret with PUSH-SENDER-SECRET-KEY-1, and an enrollment with "
            "pushenrollment1",
        ),
        "wrong-case": (
            "the key's text has the wrong case, or mixes upper and lower case",
            "write a secret in capitals; write any other key in lowercase or in capitals throughout",
        ),
        "wrong-checksum": ("a character of the key's text is wrong or missing", "copy the whole text again"),
        "unsupported": ("this is a hybrid key, which needs ML-KEM", "install cryptography 48 or later"),
        "refused-key": ("not a safe public key", "it was altered or made up; ask its owner for the right one"),
    }


class ContentError(SealedPushError):
    """The content can't be sealed, or breaks the rules of Specification 4. `member` names the wrong member, if there is one."""

    words = {"malformed-content": ("the content can't be sealed", "see Specification 4.6 for the members and their values")}

    def __init__(self, why: str, member: str | None = None) -> None:
        super().__init__("malformed-content")
        self.args = (why, member)
        self.member = member
        self.message = f'the content\'s "{member}" {why}' if member else f"the content {why}"


class TooLargeError(SealedPushError):
    """The content doesn't fit into one push. `excess` is the number of bytes of JSON by which it is too large."""

    words = {
        "too-large": (
            "the content doesn't fit into one push",
            "shorten it, or move large parts into a file with seal_file",
        )
    }

    def __init__(self, excess: int) -> None:
        super().__init__("too-large")
        self.args = (excess,)
        self.excess = excess
        self.message = f"the content is {excess} bytes too large for one push"


class SettingError(SealedPushError):
    """An argument is invalid."""

    words = {
        "topic": ("not a bundle ID", "use 1 to 155 of the characters A-Z a-z 0-9 . -, such as com.example.app"),
        "other-topic": ("the topic differs from the sender's", "use one Sender for each app"),
        "safe-default": (
            "not a valid safe default",
            "give visible text, or a dictionary of Apple's texts and loc-keys, of at most 1,024 bytes of JSON",
        ),
        "padding": ("not a padding policy", "choose buckets, full, or none"),
        "reserve": ("not a number of bytes that can be reserved", "give a whole number from 0 to 1024"),
        "require-hybrid": ("require_hybrid isn't a Boolean", "give True or False"),
        "receipts": ("not a valid address for receipts", "give an https URL of at most 256 characters"),
        "priority": ("not a valid priority", "give 10 or 5"),
        "expiration": (
            "not a time, or a time in the past",
            "give whole seconds since 1970, not a lifetime, or 0 for a single attempt",
        ),
        "now": ("not a time", "give whole Unix seconds, or None for the current time"),
        "keeps": ("not a number of days for which a key can be kept", "give a whole number from 1 to 31"),
        "sender": ("not a sender", "give a sealed_push.Sender"),
        "outbox-key": ("not an outbox key", "give the text of the file that --outbox-key names"),
        "device": (
            "not a device",
            "give a sealed_push.Device, or call seal_unverified with a key, push1... or pushpq1...",
        ),
    }


class RecordError(SealedPushError):
    """A signed record is refused, or a device can't be sealed to (Specification 11.3, 11.4)."""

    words = {
        "malformed": ("not a well-formed record", "its text begins with pushrecord. and has no spaces"),
        "wrong-checksum": ("the record was altered or cut off in transit", "copy the whole text again"),
        "wrong-type": (
            "not the type of record expected here",
            "a device record and a sender set can't replace each other",
        ),
        "bad-signature": ("the record isn't signed by the key that it names", "it was altered or forged; don't use it"),
        "foreign-signer": (
            "the record isn't signed by the pinned key",
            "enroll the device again, but only within its account's login",
        ),
        "other-topic": ("the record is for another app", "compare the bundle IDs of the app and the server"),
        "expired": ("the record has expired", "ask the device for a new one"),
        "not-yet-valid": ("the record is dated more than 26 hours ahead of this clock", "compare the two clocks"),
        "rolled-back": (
            "the record is older than the newest one",
            "send the device the newest record, so that it signs one with a higher counter",
        ),
        "conflicting": (
            "two different records have this counter",
            "send the device the newest record, so that it signs one with a higher counter",
        ),
        "unsupported": ("the record names a hybrid key, which needs ML-KEM", "install cryptography 48 or later"),
        "unproven": ("no key of this device has answered a challenge yet", "send the device what Device.challenge returns"),
        "not-hybrid": (
            "the key isn't hybrid, and this sender requires hybrid keys",
            "have the app use keyPolicy .hybrid, then challenge the device's new key",
        ),
        "expires-too-late": (
            "the push expires after the device may have erased its key",
            "let it expire within Device.keeps days, or leave out expires and expiration; sent must not be older than that",
        ),
        "malformed-state": (
            "not a state that Device.to_dict returned",
            "store the state unchanged: enrollment, record, proven, challenges",
        ),
    }


class ChallengeError(SealedPushError):
    """A challenge isn't answered, or an answer is refused (Specification 11.5)."""

    words = {
        "malformed": (
            "not a well-formed challenge or answer",
            "a challenge begins with pushchallenge. and an answer with pushanswer.",
        ),
        "unknown-recipient": ("the challenge is for a key that this device doesn't have", "make a new challenge"),
        "unknown-sender": ("the challenge is from a sender that this device doesn't trust", "make it with a trusted sender"),
        "rejected": ("the challenge doesn't open", "it was altered, or is for another key or app"),
        "foreign-enrollment": (
            "the challenge names another device's enrollment",
            "don't answer: someone may be trying to enroll this device's key as their own",
        ),
        "not-in-record": ("the challenged key isn't in the newest record", "make a new challenge"),
        "nothing-to-ask": ("all keys of the newest record are proven", "no challenge is needed"),
        "late": ("the answer came more than ten minutes after the challenge", "make a new challenge"),
        "wrong-answer": ("the answer doesn't match any open challenge", "make a new challenge"),
    }


class ReceiptError(SealedPushError):
    """A receipt is refused (Specification 16.5). Respond with status 400."""

    words = {
        "wrong-size": ("a receipt has 128 bytes", "pass the whole body of the request"),
        "unknown-version": ("the receipt's version is unknown", "update this package"),
        "rejected": ("no device of these senders made this receipt", "include the senders of the last 7 days"),
        "malformed": ("the receipt is malformed", "drop it"),
        "too-old": ("the receipt was made more than 7 days ago", "drop it"),
        "clock": ("the receipt is dated more than 26 hours ahead of this clock", "compare the clocks"),
    }


class FileError(SealedPushError):
    """A file wasn't sealed, or doesn't open (Specification 14)."""

    words = {
        "unreadable": ("the file or its entry can't be read", "give a path or a binary stream, and the unchanged entry"),
        "not-writable": ("the file can't be written", "check that the folder exists and the disk isn't full"),
        "exists": ("the file exists already", "give another name; files aren't overwritten"),
        "empty": ("the file is empty", "give a file with content"),
        "too-large": (
            "the file is too large",
            "iOS shows sounds of up to 5 MB, images of up to 10 MB, and movies of up to 50 MB",
        ),
        "wrong-type": ("the file doesn't have the given type", "give its type, such as image/png"),
        "url": (
            "devices can't fetch a file from this URL",
            "give an https URL with a host, of at most 2,048 visible ASCII characters, and without a password",
        ),
        "id": ("not a valid attachment ID", "give 1 to 64 bytes of text, unique in the message"),
        "thumbnail": ("not a valid thumbnail", "see Specification 14.1: hidden, clip, time"),
        "cut": ("the file is shorter than it should be", "store it again, byte for byte"),
        "altered": ("the file isn't the one that was sealed", "store it again, byte for byte"),
    }


class OpenError(SealedPushError):
    """A push doesn't open (Specification 6.1)."""

    words = {
        code: (f"the push doesn't open ({code})", "Specification 6 explains the code")
        for code in (
            "malformed unknown-recipient unknown-sender anonymous-not-allowed rejected malformed-content topic key-retired "
            "clock too-old expired replayed"
        ).split()
    }
