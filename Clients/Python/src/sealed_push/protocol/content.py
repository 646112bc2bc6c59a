"""The content of a message: padding and JSON (Specification, section 4)."""

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import MOMENT, ContentError, TooLargeError
from . import chart, files, receipts
from .text import TOPIC, decode_base64, is_unicode, to_json
from .visible import is_visible

MESSAGE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BUCKETS = (256, 512, 1024, 2048)
HYBRID_BUCKETS = (256, 512, 1024, 1792)
PADDINGS = ("buckets", "full", "none")
SHOWN = re.compile("[A-Za-z_][A-Za-z0-9_-]{0,31}")
DEEPEST = 16
MOST_BYTES = 4096
LONGEST_NAME = 256
LAST_SECOND = 253402300799
DISCLOSURES = ("full", "sender", "generic")
LEVELS = ("passive", "active", "time-sensitive", "critical")
REQUIRED = ("id", "topic", "sent")
WRONG = "has the wrong type or is out of range"
ALERT = 'must be an object with at least one visible text, such as {"title": "Nina", "body": "Lunch at one?"}'
NO_TIME = f"is not a time; give {MOMENT}"
# The reasons of members that break their rules; the others have `WRONG`.
REASONS = {"alert": ALERT, "sent": NO_TIME, "expires": NO_TIME}
WITHDRAW = 'must name a "message", a "thread", or both'
BESIDE = "has no effect in a withdrawal; leave it out"
ADDRESS = "must be an https URL with a lowercase host, and without a user, password, or fragment"
PAST = f"is in the past; give {MOMENT}"
TOO_DEEP = "is nested more than 16 levels deep"


def pad(content: bytes, policy: str, largest: int, is_hybrid: bool = False) -> bytes:
    """Returns the content, 0x80, and zeros (4.1, 4.2). `largest` is the largest plaintext that fits, P of 5.3."""
    needed = len(content) + 1
    if needed > largest:
        raise TooLargeError(needed - largest)
    fitting = [size for size in (HYBRID_BUCKETS if is_hybrid else BUCKETS) if needed <= size <= largest]
    length = {"none": needed, "full": largest, "buckets": min(fitting, default=largest)}[policy]
    return (content + b"\x80").ljust(length, b"\0")


def unpad(plaintext: bytes) -> bytes:
    stripped = plaintext.rstrip(b"\0")
    if len(stripped) < 2 or stripped[-1] != 0x80:
        raise ContentError("has invalid padding")
    return stripped[:-1]


def parse(data: bytes) -> dict[str, Any]:
    """Returns the content object, checked as a receiver does (4.4 to 4.8)."""
    _check(len(data) <= MOST_BYTES, "is larger than 4,096 bytes")
    return _parse(data)


def for_sealing(content: Mapping[str, Any], topic: str, now: int) -> tuple[bytes, list[str]]:
    """Returns the JSON of content that a sender may emit, and its unknown members that look misspelled (4.10).

    A sender may emit what a receiver accepts, with the limits of 4.5, 14.1, 15.3, 16.1.1, and 17.1. It also refuses obvious
    mistakes: a null, an integer that a receiver can't read, or a time of expiration in the past.
    """
    _check_values(dict(content), "", DEEPEST)
    data = to_json(dict(content))
    made = _parse_json(data)
    _check_nulls(made, "content", "")
    withdraw = made.get("withdraw", {})
    for key, rule in WITHDRAW_RULES.items() if isinstance(withdraw, dict) else ():
        _check(key not in withdraw or rule(withdraw[key]), WRONG, f"withdraw.{key}")
    _check("withdraw" not in made or is_withdrawal(withdraw), WITHDRAW, "withdraw")
    _check_rules(made)
    _check(made["topic"] == topic, WRONG, "topic")
    for key in ("sent", "expires", "badge", "badge-add"):
        _check(isinstance(made.get(key, 0), int), REASONS.get(key, WRONG), key)
    alert: Any = made.get("alert")
    for key, arguments in TRANSLATIONS if isinstance(alert, dict) else ():
        _check(key not in alert or _is_key(alert[key]), WRONG, f"alert.{key}")
        _check(arguments not in alert or (key in alert and _are_arguments(alert[arguments])), WRONG, f"alert.{arguments}")
    for member, entry in _files(made):
        _check(files.is_url(entry.get("url")), ADDRESS, f"{member}.url")
    for key, rule in LENIENT.items():
        _check(key not in made or rule(made[key]), WRONG, key)
    _check("badge" not in made or "badge-add" not in made, WRONG, "badge-add")
    if "withdraw" in made:
        unknown = [f"withdraw.{key}" for key in set(made["withdraw"]) - set(NAMES["withdraw"])]
        # An empty list of attachments is the same as none.
        present = {key for key, value in made.items() if value != []}
        for key in sorted(unknown) + sorted(present & set(NAMES["content"]) - set(WITHDRAWAL)):
            _check(False, BESIDE, key)
    pictures = [each["id"] for each in made.get("attachments", ()) if each["type"] in ("image/png", "image/jpeg")]
    for key in ("person", "group"):
        image = made.get(key, {}).get("image")
        _check(image is None or image in pictures, WRONG, f"{key}.image")
    _check("group" not in made or "person" in made, WRONG, "group")
    _check(made.get("expires", now) >= now, PAST, "expires")
    return data, suspects(made)


def _files(content: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    entries = content.get("attachments")
    found = [(f"attachments[{index}]", each) for index, each in enumerate(entries if isinstance(entries, list) else ())]
    return [(member, entry) for member, entry in (*found, ("overflow", content.get("overflow"))) if isinstance(entry, dict)]


def _check_values(value: Any, path: str, levels: int) -> None:
    """Raises an error that names the first value that JSON can't represent, or that a receiver would read as another one."""
    if isinstance(value, str):
        _check(is_unicode(value), "contains an unpaired surrogate", path)
    elif isinstance(value, dict):
        _check(levels > 0, TOO_DEEP, path)
        for name, each in value.items():
            _check(isinstance(name, str), "contains a name that isn't text", path)
            _check(is_unicode(name), "contains an unpaired surrogate in a name", path)
            _check(_bytes(name) <= LONGEST_NAME, "contains a name larger than 256 bytes", path)
            _check_values(each, _path(path, name), levels - 1)
    elif isinstance(value, (list, tuple)):
        _check(levels > 0, TOO_DEEP, path)
        for index, each in enumerate(value):
            _check_values(each, f"{path}[{index}]", levels - 1)
    elif isinstance(value, int):
        # A receiver would read it as a Double with a different value.
        _check(-(2**63) <= value < 2**63, "is an integer that doesn't fit in 64 bits; write it as text", path)
    elif isinstance(value, float):
        _check(math.isfinite(value), "is not a number that JSON can represent", path)
    else:
        _check(value is None, f"is a {type(value).__name__}; write it as text", path)


def _path(path: str, name: str) -> str:
    """Returns the path of a member. A name that may be data, not one of the app's own, isn't shown."""
    step = name if SHOWN.fullmatch(name) else "…"
    return f"{path}.{step}" if path else step


def _parse(data: bytes) -> dict[str, Any]:
    content = _parse_json(data)
    _check_rules(content)
    return content


def _check_rules(content: dict[str, Any]) -> None:
    has_text = not is_withdrawal(content.get("withdraw"))
    for key in (*REQUIRED, "alert") if has_text else REQUIRED:
        _check(key in content, "is missing", key)
    for key, rule in RULES.items():
        if key != "alert" or has_text:
            _check(key not in content or rule(content[key]), REASONS.get(key, WRONG), key)


def _check_nulls(value: Any, kind: str, path: str) -> None:
    """Raises an error that names a member that must not be null (4.8)."""
    for index, each in enumerate(value if isinstance(value, list) else ()):
        _check_nulls(each, kind, f"{path}[{index}]")
    for name in NAMES[kind] if isinstance(value, dict) else ():
        member = f"{path}.{name}" if path else name
        _check(value.get(name, member) is not None, "is null; leave it out", member)
        if name in NAMES:
            _check_nulls(value.get(name), name, member)


def suspects(content: Mapping[str, Any]) -> list[str]:
    """Returns the paths of unknown members that look misspelled (4.10)."""
    alert = content.get("alert")
    parts = [("", "content", content), ("alert.", "alert", alert if isinstance(alert, Mapping) else {})]
    return [path + name for path, kind, part in parts for name in part if _is_suspect(name, NAMES[kind])]


def _is_suspect(name: str, known: tuple[str, ...]) -> bool:
    letters = _folded(name)
    if name in known or _bytes(name) > 64:
        return False
    return any(letters == key or (len(key) >= 4 and _is_one_edit(letters, key)) for key in map(_folded, known))


def _folded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass").lower().replace(b"-", b"").replace(b"_", b"")


def _is_one_edit(one: bytes, other: bytes) -> bool:
    """Whether one byte was added, removed, or replaced, or two neighbors were swapped."""
    start = len(os.path.commonprefix([one, other]))
    one, other = one[start:], other[start:]
    end = len(os.path.commonprefix([one[::-1], other[::-1]]))
    one, other = one[: len(one) - end], other[: len(other) - end]
    return max(len(one), len(other)) == 1 or (len(one) == 2 and one == other[::-1])


def _parse_json(data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_no_constant,
        )
        if b"\\u" in data:
            # An unpaired surrogate has no UTF-8.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, OverflowError, RecursionError):
        content = None
    # Raised outside the handler, because Python's own error contains the text.
    if not isinstance(content, dict):
        raise ContentError("isn't a JSON object")
    _check(_is_flat(content, DEEPEST), TOO_DEEP)
    return content


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    _check(len(made) == len(pairs), "contains the same name twice in one object")
    _check(all(_bytes(name) <= LONGEST_NAME for name in made), "contains a name larger than 256 bytes")
    return made


def _integer(text: str) -> int:
    _float(text)
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    _check(math.isfinite(value), "contains a number that is too large")
    return value


def _no_constant(text: str) -> Any:
    raise ContentError("contains a number that JSON can't represent")


def _is_flat(value: Any, levels: int) -> bool:
    """Whether objects and arrays are nested no deeper than this."""
    if not isinstance(value, (dict, list)):
        return True
    return levels > 0 and all(_is_flat(each, levels - 1) for each in (value.values() if isinstance(value, dict) else value))


def _check(condition: Any, why: str, member: str | None = None) -> None:
    if not condition:
        raise ContentError(why, member or None)


def _is_number(value: Any, least: float, most: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def _is_integer(value: Any, least: int, most: int) -> bool:
    """Whether a value is an integer. A receiver accepts 3.0 for 3 (4.5)."""
    return _is_number(value, least, most) and (isinstance(value, int) or value.is_integer())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_alert(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    texts = [value[key] for key in ("title", "subtitle", "body") if key in value]
    return all(map(_is_text, texts)) and any(map(is_visible, texts))


def _is_key(value: Any) -> bool:
    """Whether a value is the key of a translation (17.3)."""
    return _is_text(value) and 1 <= _bytes(value) <= 256


def _are_arguments(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 16 and all(map(_is_text, value))


def _is_sound(value: Any) -> bool:
    if isinstance(value, dict):
        critical = value.get("critical", 0)
        return (
            _is_number(critical, 0, 1)
            and critical in (0, 1)
            and _is_number(value.get("volume", 1), 0, 1)
            and _is_text(value.get("name", "default"))
            and value.get("name") != ""
        )
    return _is_text(value) and value != ""


def _is_person(value: Any) -> bool:
    """Checks a person (19.1). The caller checks that the picture is among the attachments."""
    return _is_member(value) and _has_picture(value)


def _is_member(value: Any) -> bool:
    return isinstance(value, dict) and _is_name(value.get("name")) and _is_label(value.get("id"))


def _is_label(value: Any) -> bool:
    return _is_text(value) and 1 <= _bytes(value) <= 128


def _is_name(value: Any) -> bool:
    return _is_label(value) and is_visible(value)


def _has_picture(value: dict[str, Any]) -> bool:
    """Whether the picture of a person or group follows its rules, or is absent."""
    if ("image" in value and "image-data" in value) or not _is_label(value.get("image", "x")):
        return False
    data = value.get("image-data", "AA")
    image = decode_base64(data) if _is_text(data) else None
    return image is not None and 1 <= len(image) <= 2048


def _is_group(value: Any) -> bool:
    """Checks a group (19.4). The caller checks that the picture is among the attachments, and that there is a person."""
    if not isinstance(value, dict) or not _is_name(value.get("name")) or not _has_picture(value):
        return False
    recipients = value.get("recipients", [])
    is_list = isinstance(recipients, list) and len(recipients) <= 16
    return is_list and all(map(_is_member, recipients)) and _is_integer(value.get("count", 2), 2, 100000)


def is_background(content: Mapping[str, Any]) -> bool:
    """Whether content that may be sealed is sent in a background push (21.3)."""
    return "withdraw" in content and not content["withdraw"].get("filtered", False)


def is_withdrawal(value: Any) -> bool:
    """Whether a value is a withdrawal (21.1)."""
    if not isinstance(value, dict) or ("message" not in value and "thread" not in value):
        return False
    return all(key not in value or rule(value[key]) for key, rule in WITHDRAW_RULES.items())


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


RULES: dict[str, Callable[[Any], Any]] = {
    "id": lambda value: _is_text(value) and MESSAGE_ID.fullmatch(value),
    "topic": lambda value: _is_text(value) and TOPIC.fullmatch(value),
    "sent": lambda value: _is_integer(value, 0, LAST_SECOND),
    "expires": lambda value: _is_integer(value, 0, LAST_SECOND),
    "collapse-id": lambda value: _is_text(value) and 1 <= _bytes(value) <= 64,
    "alert": _is_alert,
    "badge": lambda value: _is_integer(value, 0, 2147483647),
    "sound": _is_sound,
    "thread-id": _is_text,
    "category": _is_text,
    "interruption-level": lambda value: _is_text(value) and value in LEVELS,
    "relevance-score": lambda value: _is_number(value, 0, 1),
    "filter-criteria": _is_text,
    "target-content-id": _is_text,
    "data": lambda value: value is not None,
}

WITHDRAW_RULES: dict[str, Callable[[Any], Any]] = {
    "message": lambda value: _is_text(value) and MESSAGE_ID.fullmatch(value),
    "thread": lambda value: _is_text(value) and value != "",
    "filtered": lambda value: isinstance(value, bool),
}

# If one of these breaks its rule, a sender refuses it. A receiver ignores it, or, for "disclosure", takes it for "generic".
LENIENT: dict[str, Callable[[Any], Any]] = {
    "attachments": files.are_attachments,
    "overflow": files.is_overflow,
    "chart": chart.read,
    "person": _is_person,
    "group": _is_group,
    "badge-add": lambda value: _is_integer(value, 1, 99),
    "receipt": receipts.read_request,
    "template": lambda value: value is True,
    "disclosure": lambda value: _is_text(value) and value in DISCLOSURES,
    "withdraw": is_withdrawal,
}
# The members that a withdrawal may have (21.2).
WITHDRAWAL = ("id", "topic", "sent", "expires", "collapse-id", "badge", "data", "withdraw")

# The keys of an alert's translations, each with its arguments (17.3). A receiver ignores those that break their rules.
TRANSLATIONS = tuple((f"{text}loc-key", f"{text}loc-args") for text in ("title-", "subtitle-", ""))

# The members of content and of its objects.
_FILE = ("url", "size", "hash", "key", "plain")
NAMES: dict[str, tuple[str, ...]] = {
    "content": (*RULES, *LENIENT),
    "alert": ("title", "subtitle", "body", *(key for pair in TRANSLATIONS for key in pair)),
    "sound": ("critical", "name", "volume"),
    "attachments": (*_FILE, "id", "type", "thumbnail"),
    "thumbnail": ("hidden", "clip", "time"),
    "overflow": _FILE,
    "chart": ("kind", "points", "labels", "prefix", "suffix", "color", "axes"),
    "person": ("name", "id", "image", "image-data"),
    "group": ("name", "image", "image-data", "recipients", "count"),
    "recipients": ("name", "id"),
    "receipt": ("url", "id", "key"),
    "withdraw": tuple(WITHDRAW_RULES),
}
