"""The content of a Sealed Push message: padding and JSON (Specification, section 4)."""

import json
import math
import re
import unicodedata

TOPIC = re.compile(r"[A-Za-z0-9.-]{1,155}")
MESSAGE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BUCKETS = (256, 512, 1024, 2048)
DEEPEST = 16
LAST_SECOND = 253402300799
LEVELS = ("passive", "active", "time-sensitive", "critical")

WHITE_SPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    map(chr, range(0x2000, 0x200B))
)
DEFAULT_IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)  # fmt: skip


class MalformedContent(ValueError):
    """The content breaks a rule of section 4."""


def to_json(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def pad(content, policy, largest):
    """Content, 0x80 and zeros (4.1, 4.2). The largest plaintext that fits is P of 5.3."""
    needed = len(content) + 1
    if needed > largest:
        raise ValueError(f"the content is {needed - largest} bytes too long")
    fitting = [size for size in BUCKETS if needed <= size <= largest]
    length = {"none": needed, "full": largest, "buckets": min(fitting, default=largest)}[policy]
    return (content + b"\x80").ljust(length, b"\0")


def unpad(plaintext):
    stripped = plaintext.rstrip(b"\0")
    if len(stripped) < 2 or stripped[-1] != 0x80:
        raise MalformedContent("padding")
    return stripped[:-1]


def parse(data):
    """The content object, checked by 4.4 to 4.8."""
    content = _parse_json(data)
    _check(isinstance(content, dict), "no object")
    for key in ("id", "topic", "sent", "alert"):
        _check(key in content, "no " + key)
    for key, rule in RULES.items():
        _check(key not in content or rule(content[key]), key)
    return content


def is_visible(text):
    """Whether a text holds something to see (4.7)."""
    return any(
        character not in WHITE_SPACE
        and unicodedata.category(character) != "Cc"
        and character != "\u2800"
        and not any(first <= ord(character) <= last for first, last in DEFAULT_IGNORABLE)
        for character in text
    )


def _parse_json(data):
    try:
        content = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_no_constant,
        )
        # Half of a surrogate pair has no UTF-8.
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, OverflowError, RecursionError) as error:
        raise MalformedContent("no JSON") from error
    _check(len(data) <= 4096 and _depth(content) <= DEEPEST, "too large or too deep")
    return content


def _members(pairs):
    names = {unicodedata.normalize("NFC", name) for name, _ in pairs}
    _check(len(names) == len(pairs), "a name twice")
    return dict(pairs)


def _integer(text):
    _float(text)
    return int(text)


def _float(text):
    value = float(text)
    _check(math.isfinite(value), "number")
    return value


def _no_constant(text):
    raise MalformedContent("number")


def _depth(value):
    if not isinstance(value, (dict, list)):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


def _check(condition, what):
    if not condition:
        raise MalformedContent(what)


def _is_number(value, least, most):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def _is_integer(value, least, most):
    return isinstance(value, int) and _is_number(value, least, most)


def _is_text(value):
    return isinstance(value, str)


def _is_alert(value):
    if not isinstance(value, dict):
        return False
    texts = [value[key] for key in ("title", "subtitle", "body") if key in value]
    return all(map(_is_text, texts)) and any(map(is_visible, texts))


def _is_sound(value):
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


def _bytes(text):
    return len(text.encode("utf-8", "surrogatepass"))


RULES = {
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
    "data": lambda value: value is not None,
}
