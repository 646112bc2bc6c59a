"""Reads charts in the content (ContentParts, section 15)."""

import re
import sys
from typing import Any

KINDS = ("line", "area", "bar", "sparkline")
MOST_POINTS = 1024
MOST_LABELS = 16
LONGEST_LABEL = 48
LONGEST_AFFIX = 16
LARGEST = sys.float_info.max
COLOR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)


def read(value: Any) -> dict[str, Any] | None:
    """Returns the chart with all of its members (15.1), or None if it breaks a rule."""
    if not isinstance(value, dict):
        return None
    points, labels, color = value.get("points"), value.get("labels", []), value.get("color", "accent")
    prefix, suffix, axes = value.get("prefix", ""), value.get("suffix", ""), value.get("axes", True)
    kind = value.get("kind")
    fits = (
        isinstance(kind, str)
        and kind in KINDS
        and isinstance(points, list)
        and len(points) <= MOST_POINTS
        and all(point is None or _is_number(point) for point in points)
        and any(point is not None for point in points)
        and isinstance(labels, list)
        and len(labels) <= MOST_LABELS
        and all(_is_text(label, LONGEST_LABEL) for label in labels)
        and _is_text(prefix, LONGEST_AFFIX)
        and _is_text(suffix, LONGEST_AFFIX)
        and isinstance(color, str)
        and (color in ("accent", "trend") or COLOR.fullmatch(color))
        and isinstance(axes, bool)
    )
    if not fits:
        return None
    return {
        "kind": kind,
        "points": points,
        "labels": labels,
        "prefix": prefix,
        "suffix": suffix,
        "color": color.lower(),
        "axes": axes,
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def _is_text(value: Any, longest: int) -> bool:
    return isinstance(value, str) and len(value.encode("utf-8", "surrogatepass")) <= longest
