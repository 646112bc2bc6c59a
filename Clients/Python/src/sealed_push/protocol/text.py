"""Base64url and JSON, as strict as the Specification (2.4, 2.5, 4.4)."""

import base64
import json
import re
from typing import Any

TOPIC = re.compile(r"[A-Za-z0-9.-]{1,155}")
_SURROGATE = re.compile("[\ud800-\udfff]")
BASE64 = re.compile(r"[A-Za-z0-9_-]+")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_json(value: Any) -> bytes:
    """Returns JSON. Raises a TypeError, ValueError, or RecursionError for values that JSON can't represent."""
    return _ENCODER.encode(value).encode()


def is_unicode(text: str) -> bool:
    """Whether a text has a form in UTF-8, because it has no unpaired surrogates."""
    return _SURROGATE.search(text) is None


def encode_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64(text: Any, longest: int = 4096) -> bytes | None:
    """Returns the bytes of 1 to `longest` characters, under the strict rules of 2.5, or None."""
    if not isinstance(text, str) or len(text) > longest or not BASE64.fullmatch(text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if encode_base64(data) == text else None
