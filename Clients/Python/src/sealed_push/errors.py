"""What goes wrong, as one family: each error has a stable code, and says what to do. None holds a secret or any of the input."""

from typing import ClassVar


class SealedPushError(Exception):
    """The base of all errors of this package.

    `code` is stable and for programs; `message` and `hint` are for people: what is wrong, and what to do about it.
    """

    words: ClassVar[dict[str, tuple[str, str]]] = {}

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
        self.message, self.hint = self.words.get(code, ("refused", "look the code up in the Specification"))

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}"


class KeyTextError(SealedPushError):
    """A key's text is not what it should be (Specification 8). Never repeats the text."""

    words = {
        "not-given": ("no key was given", "is the variable set?"),
        "white-space": ("there is white space around the key's text", "copy the text alone, without line ends"),
        "not-a-key": ("this is no text of a key of this project", "copy it again, as a whole and without spaces"),
        "wrong-kind": (
            "this is no key of the kind that is wanted here",
            "a recipient begins with push1 or pushpq1, a sender's secret with PUSH-SENDER-SECRET-KEY-1, an enrollment with "
            "pushenrollment1",
        ),
        "wrong-case": (
            "the key's text has small letters where there are capitals, or the other way around",
            "a secret is written in capitals throughout; other keys don't mix the two",
        ),
        "wrong-checksum": ("a letter of the key's text is wrong or missing", "copy it again, as a whole"),
        "unsupported": ("this is a hybrid key, which needs ML-KEM", "install cryptography 48 or later"),
        "refused-key": ("nobody may use this public key", "it was altered or made up: ask its owner for the right one"),
    }


class ContentError(SealedPushError):
    """The content can't be sealed, or is not what Specification 4 says. `member` names the wrong member, if it is about one."""

    words = {"malformed-content": ("the content can't be sealed", "see Specification 4.6 for the members and their values")}

    def __init__(self, why: str, member: str | None = None) -> None:
        super().__init__("malformed-content")
        self.args = (why, member)
        self.member = member
        self.message = f'the content\'s "{member}" {why}' if member else f"the content {why}"


class TooLargeError(SealedPushError):
    """The content does not fit into one push. `excess` is by how many bytes of JSON."""

    words = {
        "too-large": (
            "the content does not fit into one push",
            "shorten it, or put what is large into a file: seal_file",
        )
    }

    def __init__(self, excess: int) -> None:
        super().__init__("too-large")
        self.args = (excess,)
        self.excess = excess
        self.message = f"the content is {excess} bytes too large for one push"


class SettingError(SealedPushError):
    """A sender can't be made or used so."""

    words = {
        "topic": ("this is no bundle ID", "a topic has 1 to 155 of A-Z a-z 0-9 . -, such as com.example.app"),
        "other-topic": ("the topic differs from the sender's", "use one Sender for each app"),
        "safe-default": (
            "this can't be the text in the clear",
            "give some visible text, or a dictionary of Apple's texts and loc-keys; at most 1,024 bytes of JSON",
        ),
        "padding": ("there is no such padding", "choose buckets, full or none"),
        "reserve": ("this many bytes can't be kept back", "give a whole number from 0 to 1024"),
        "require-hybrid": ("this is neither true nor false", "give True or False"),
        "receipts": ("receipts can't be posted there", "give an https address of at most 256 characters"),
        "priority": ("APNs has no such priority here", "give 10 or 5"),
        "expiration": (
            "this is no time, or a past one",
            "give whole seconds since 1970, not a lifetime; 0 is for a single attempt",
        ),
        "now": ("this is no time", "give whole Unix seconds, or nothing for the clock's"),
        "sender": ("this is no sender", "give a sealed_push.Sender"),
        "outbox-key": ("this is no key of an outbox", "give the text of the file that --outbox-key names"),
        "device": (
            "this is no device",
            "give a sealed_push.Device, or call seal_unverified with the text push1... or pushpq1...",
        ),
    }


class RecordError(SealedPushError):
    """A signed record is not believed, or a device can't be sealed to (Specification 11.3, 11.4)."""

    words = {
        "malformed": ("this is no well-formed record", "its text begins with pushrecord. and has no spaces"),
        "wrong-checksum": ("the record was altered or cut on the way", "copy it again, as a whole"),
        "wrong-type": ("this is another kind of record", "a device's and a sender set can't stand for one another"),
        "bad-signature": ("the record is not signed by the key it names", "it was altered or forged: do not use it"),
        "foreign-signer": (
            "the record is signed by another key than the pinned one",
            "enroll anew only inside the account's own login",
        ),
        "other-topic": ("the record is for another app", "compare the bundle IDs of app and server"),
        "expired": ("the record has expired", "ask the device for a new one"),
        "not-yet-valid": ("the record was made more than 26 hours ahead of this clock", "compare the two clocks"),
        "rolled-back": (
            "the record is older than the newest one",
            "give the device the newest record; it signs one with a higher counter",
        ),
        "conflicting": (
            "there are two different records with this counter",
            "give the device the newest record; it signs one with a higher counter",
        ),
        "unsupported": ("the record names a hybrid key, which needs ML-KEM", "install cryptography 48 or later"),
        "unproven": ("no key of this device has answered a challenge yet", "send what Device.challenge gives"),
        "not-hybrid": (
            "the key isn't hybrid, and this sender requires hybrid keys",
            "have the app use keyPolicy .hybrid, then challenge the device's new key",
        ),
        "expires-too-late": (
            "the push expires after the device may have erased its key",
            "let it expire within the days that Device.keeps gives, or leave expires and expiration out; sent can't be longer "
            "ago than that",
        ),
        "malformed-state": (
            "this is not what Device.to_dict gave",
            "store it as it is: enrollment, record, proven, challenges",
        ),
    }


class ChallengeError(SealedPushError):
    """A challenge is not answered, or an answer proves nothing (Specification 11.5)."""

    words = {
        "malformed": (
            "this is not well-formed",
            "a challenge begins with pushchallenge. and an answer with pushanswer.",
        ),
        "unknown-recipient": ("the challenge is for a key that this device does not have", "make a new challenge"),
        "unknown-sender": ("the challenge comes from a sender that is not trusted here", "ask with a trusted sender"),
        "rejected": ("the challenge does not open", "it was altered, or is for another key or app"),
        "foreign-enrollment": (
            "the challenge is about another device's enrollment",
            "do not answer: somebody may be trying to enroll this device's key as theirs",
        ),
        "not-in-record": ("the key that was asked for is not in the newest record", "make a new challenge"),
        "nothing-to-ask": ("all keys of the newest record are proven", "there is nothing to ask for"),
        "late": ("the answer came more than ten minutes after the challenge", "make a new challenge"),
        "wrong-answer": ("this answers no challenge that waits", "make a new challenge"),
    }


class ReceiptError(SealedPushError):
    """A receipt is not believed (Specification 16.5): answer 400."""

    words = {
        "wrong-size": ("a receipt has 128 bytes", "hand over the request's whole body"),
        "unknown-version": ("the receipt is of a version that is not known here", "update this package"),
        "rejected": ("no device of these senders has made this receipt", "give the senders of the last 7 days, too"),
        "malformed": ("the receipt breaks its own form", "drop it"),
        "too-old": ("the receipt was made more than 7 days ago", "drop it"),
        "clock": ("the receipt was made more than 26 hours ahead of this clock", "compare the clocks"),
    }


class FileError(SealedPushError):
    """A file was not sealed, or does not open (Specification 14)."""

    words = {
        "unreadable": ("the file or its entry can't be read", "give a path or a binary stream, and the entry unchanged"),
        "not-writable": ("the file can't be written", "is there such a folder, and room on the disk?"),
        "exists": ("the file exists already", "it is not overwritten: give another name"),
        "empty": ("the file is empty", "there is nothing to show"),
        "too-large": ("the file is larger than it may be", "iOS shows sound of 5 MB, pictures of 10 MB, movies of 50 MB"),
        "wrong-type": ("the file is not of the kind that is said", "give its type, such as image/png"),
        "url": (
            "no device fetches files from there",
            "give an https address with a host, of at most 2,048 visible ASCII characters and no password",
        ),
        "id": ("this can't name an attachment", "give 1 to 64 bytes of text, once in a message"),
        "thumbnail": ("this is no thumbnail", "see Specification 14.1: hidden, clip, time"),
        "cut": ("the file is shorter than it should be", "store it again, byte for byte"),
        "altered": ("the file is not the one that was sealed", "store it again, byte for byte"),
    }


class OpenError(SealedPushError):
    """A push does not open (Specification 6.1)."""

    words = {
        code: ("the push does not open", "Specification 6 says what the code means")
        for code in (
            "malformed unknown-recipient unknown-sender anonymous-not-allowed rejected malformed-content topic clock "
            "too-old expired"
        ).split()
    }
