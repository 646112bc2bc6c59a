"""The package's errors. Each has a stable code and suggests a fix. None contains a secret or a value of the input."""

from typing import ClassVar

MOMENT = "whole seconds since 1970, not milliseconds or a lifetime"


class SealedPushError(Exception):
    """The base class of the package's errors.

    `code` is stable, for programs. `message` and `hint` are for people: the problem, and how to fix it.
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
        "white-space": ("there is white space around the key", "remove it, including line breaks"),
        "not-a-key": ("this is not a Sealed Push key", "copy the whole text again, without spaces"),
        "wrong-kind": (
            "this is not the type of key expected here",
            "use push1 or pushpq. for a recipient, PUSH-SENDER-SECRET-KEY-1 for a sender, or pushenrollment1 for an enrollment",
        ),
        "wrong-case": (
            "the key is in the wrong case, or mixes uppercase and lowercase",
            "a secret key must be uppercase; any other key must be all lowercase or all uppercase",
        ),
        "wrong-checksum": ("the key's checksum is wrong", "copy the whole text again"),
        "unsupported": ("this is a hybrid key, which needs ML-KEM", "install cryptography 48 or later"),
        "refused-key": ("the key is not safe to use", "it was altered or made up; ask its owner for the right one"),
    }


class ContentError(SealedPushError):
    """The content can't be sealed, or breaks the rules of Specification 4. `member` is the path of the wrong member, such as
    `data.order.createdAt`, if there is one."""

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
        "service": ("not a service's name", "use 1 to 155 of the characters A-Z a-z 0-9 . -, or None for the topic"),
        "safe-default": (
            "not a valid safe default",
            "use visible text, or a dictionary of Apple's visible texts and loc-keys with a body, in at most 1,024 bytes of JSON",
        ),
        "padding": ("not a padding policy", "choose buckets, full, or none"),
        "reserve": ("not a valid number of bytes to reserve", "use a whole number from 0 to 1024"),
        "require-hybrid": ("require_hybrid isn't a Boolean", "use True or False"),
        "receipts": ("not a valid address for receipts", "use an https URL of at most 256 characters"),
        "priority": ("not a valid priority", "use 10 or 5"),
        "expiration": (
            "not a time, or a time in the past",
            f"use {MOMENT}, or 0 for a single attempt",
        ),
        "now": ("not a time", f"use {MOMENT}, or None for the current time"),
        "keeps": ("not a number of days for which a key can be kept", "use a whole number from 1 to 31"),
        "sender": ("not a sender", "pass a sealed_push.Sender"),
        "device-name": ("not a device's name", "use 1 to 128 bytes of text, and not . or .."),
        "idempotency-key": ("not an idempotency key", "use 1 to 256 bytes of text, or None"),
        "account": (
            "the function account returned neither text nor None",
            "return the name of the account as text: a number needs str(user.pk)",
        ),
        "load": ("the function load must return a Found", "see sealed_push.router.Found"),
        "save": ("the function save must return True or False", "return False if load would no longer return the same"),
        "asynchronous": ("a function is asynchronous", "in Django, give PhoneRouter ordinary functions"),
        "database": ("not the address of a database", "percent-encode the special characters of its password"),
        "outbox-key": ("not an outbox key", "pass the text of the file named by --outbox-key"),
        "device": ("not a device", "pass a sealed_push.Device, or call seal_unverified with a key, push1... or pushpq...."),
    }


class RecordError(SealedPushError):
    """A signed record or leaving is refused, or a device can't be sealed to (Specification 11.3, 11.4)."""

    words = {
        "malformed": (
            "the record is malformed",
            "a record begins with pushrecord. and a leaving with pushleaving., and neither contains spaces",
        ),
        "wrong-checksum": ("the record was altered or truncated in transit", "copy the whole text again"),
        "wrong-type": ("this is the wrong type of record", "a device record and a sender set can't replace each other"),
        "bad-signature": (
            "the record is not signed by the key it names",
            "it was altered or forged, or it is a leaving for another app; don't use it",
        ),
        "foreign-signer": (
            "the record is not signed by the pinned key",
            "enroll the device again, but only within its account's login",
        ),
        "other-topic": ("the record is for another app", "compare the bundle IDs of the app and the server"),
        "other-service": (
            "the leaving is for another service of this app",
            "compare the service's names in the app and in the server",
        ),
        "expired": ("the record has expired", "ask the device for a new one"),
        "not-yet-valid": ("the record was created more than 26 hours ahead of this clock", "compare the two clocks"),
        "rolled-back": (
            "the record is older than the known one",
            "send the device the stored record, so that it signs one with a higher counter",
        ),
        "conflicting": (
            "two different records have this counter",
            "send the device the stored record, so that it signs one with a higher counter",
        ),
        "unsupported": (
            "the record has another version, unknown keys only, or a hybrid key, which needs ML-KEM",
            "update this package; for hybrid keys, install cryptography 48 or later",
        ),
        "unproven": ("none of this device's keys has answered a challenge yet", "send one from Device.challenge"),
        "not-hybrid": (
            "the key isn't hybrid, and this sender requires hybrid keys",
            "have the app use keyPolicy .hybrid, then challenge the device's new key",
        ),
        "expires-too-late": (
            "the push expires after the device may have erased its key",
            "make it expire within Device.keeps days, or omit expires and expiration; sent must not be older than that",
        ),
        "malformed-state": (
            "not a state that Device.to_dict returned",
            "store the state unchanged: enrollment, record, proven, challenges",
        ),
    }


class ChallengeError(SealedPushError):
    """A challenge isn't answered, or an answer is refused (Specification 11.5)."""

    words = {
        "malformed": ("this is not well-formed", "a challenge begins with pushchallenge. and an answer with pushanswer."),
        "unknown-recipient": (
            "the challenge is for a key that this device does not have, or no longer uses",
            "create a new challenge",
        ),
        "unknown-sender": ("the challenge comes from a sender that is not trusted here", "create it with a trusted sender"),
        "rejected": (
            "the challenge doesn't open",
            "it was altered, is for another key or app, or isn't from the sender it names",
        ),
        "foreign-enrollment": (
            "the challenge is about another device's enrollment",
            "don't answer; someone may be trying to enroll this device's key as theirs",
        ),
        "not-in-record": ("the challenge's recipient isn't in the device's newest record", "create a new challenge"),
        "nothing-to-ask": ("all keys in the newest record are proven", "no challenge is needed"),
        "late": ("the answer came more than ten minutes after the challenge", "create a new challenge"),
        "wrong-answer": ("this is not the answer to any open challenge", "create a new challenge"),
    }


class ReceiptError(SealedPushError):
    """A receipt is refused (ContentParts 16.5). Respond with status 400."""

    words = {
        "wrong-size": ("the receipt isn't 128 bytes long", "pass the request's whole body"),
        "unknown-version": ("the receipt's version is unknown", "update this package"),
        "rejected": ("none of these senders' devices created this receipt", "include the senders of the last 7 days"),
        "malformed": ("the receipt is malformed", "drop it"),
        "too-old": ("the receipt was created more than 7 days ago", "drop it"),
        "clock": ("the receipt was created more than 26 hours ahead of this clock", "compare the clocks"),
    }


class FileError(SealedPushError):
    """A file wasn't sealed, or doesn't open (ContentParts 14)."""

    words = {
        "unreadable": ("the file or its entry can't be read", "pass a path or a binary stream, and the unchanged entry"),
        "not-writable": ("the file can't be written", "check that the folder exists and the disk isn't full"),
        "exists": ("the file already exists", "choose another name; files aren't overwritten"),
        "empty": ("the file is empty", "choose a file with content"),
        "too-large": (
            "the file is too large",
            "iOS shows sounds of up to 5 MB, images of up to 10 MB, and movies of up to 50 MB",
        ),
        "wrong-type": ("the file isn't of the given type", "pass the file's type, such as image/png"),
        "url": (
            "devices can't fetch a file from this URL",
            "use an https URL of at most 2,048 characters with a lowercase host, and without a user, password, or fragment",
        ),
        "id": ("not a valid attachment ID", "use 1 to 64 bytes of text, unique within the message"),
        "thumbnail": ("not a valid thumbnail", "see ContentParts 14.1: hidden, clip, time"),
        "cut": ("the file is shorter than it should be", "store it again, byte for byte"),
        "altered": ("the file isn't the one that was sealed", "store it again, byte for byte"),
    }


class OpenError(SealedPushError):
    """A push doesn't open (Specification 6.1)."""

    words = {
        code: (f"the push doesn't open ({code})", "see Docs/Specification.md, section 6")
        for code in (
            "malformed unknown-suite unknown-recipient unknown-sender anonymous-not-allowed rejected malformed-content topic key-retired "
            "clock too-old expired replayed"
        ).split()
    }
