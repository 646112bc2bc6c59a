"""Visible text, and the alert in the clear (Specification 4.7, 2.2)."""

import re
from collections.abc import Mapping
from typing import Any

# 4.7. Unicode's properties differ between versions of Python, so they don't decide.
_INVISIBLE = """
0000-0020 007F-00A0 00AD 034F 061C 1039 115F-1160 1680 17B4-17B5 17D2 180B-180F 1A60 1BAB 2000-200F 2028-202F
205F-206F 2800 2D7F 3000 3164 AAF6 FDD0-FDEF FE00-FE0F FEFF FFA0 FFF0-FFFC FFFE-FFFF 10A3F 1107F 11133 113D0 1193E
11A47 11A99 11D45 11D97 11F42 13430-1345F 16FE4 1BC9D 1BCA0-1BCA3 1D159 1D173-1D17A 1DA7F-1DA80 1DA9B-1DA9F
1DAA1-1DAAF 1FFFE-1FFFF 2FFFE-2FFFF 3FFFE-3FFFF 4FFFE-4FFFF 5FFFE-5FFFF 6FFFE-6FFFF 7FFFE-7FFFF 8FFFE-8FFFF
9FFFE-9FFFF AFFFE-AFFFF BFFFE-BFFFF CFFFE-CFFFF DFFFE-E0FFF EFFFE-EFFFF FFFFE-FFFFF 10FFFE-10FFFF
"""


def _class_of(ranges: str) -> str:
    ends = (each.partition("-") for each in ranges.split())
    return "".join(f"\\U{first:0>8}-\\U{last or first:0>8}" for first, _, last in ends)


_VISIBLE = re.compile(f"[^{_class_of(_INVISIBLE)}]")


def is_visible(text: str) -> bool:
    """Whether a text has a visible scalar."""
    return _VISIBLE.search(text) is not None


def alert(value: Any) -> str | dict[str, Any] | None:
    """Returns an alert in the form of 2.2, with its parts in order, or None if it breaks a rule."""
    if _is_text(value):
        return str(value)
    if not isinstance(value, Mapping):
        return None
    made: dict[str, Any] = {}
    for text, prefix in (("body", ""), ("subtitle", "subtitle-"), ("title", "title-")):
        key, arguments = prefix + "loc-key", prefix + "loc-args"
        if (text in value and key in value) or (arguments in value and key not in value):
            return None
        made |= {name: value[name] for name in (text, arguments, key) if name in value}
    has_body = "body" in made or "loc-key" in made
    fits = all((_are_texts if name.endswith("-args") else _is_text)(each) for name, each in made.items())
    # The others are unknown.
    return made if has_body and fits and len(made) == len(value) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_visible(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_text, value))
