"""The form of the URLs in the content (ContentParts 14.1.1)."""

import re
from ipaddress import IPv6Address
from typing import Any

LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
LONGEST_NAME = 253
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FORM = re.compile(
    rf"""(?: https:// (?: (?P<name> (?:{LABEL}\.)* (?=[a-z]){LABEL} ) | {_BYTE}(?:\.{_BYTE}){{3}} | \[(?P<v6>[0-9a-f:]+)\] )
          | http:// (?: localhost | 127\.0\.0\.1 | \[::1\] ) )
        (?: :(?P<port>[1-9][0-9]{{0,4}}) )?
        (?: / (?: [A-Za-z0-9\-._~!$&'()*+,;=:@/?] | %[0-9A-Fa-f]{{2}} )* )?""",
    re.VERBOSE,
)


def is_url(text: Any, longest: int) -> bool:
    """Whether this is a URL of at most so many bytes, by https or, for a rehearsal, by http to the local machine."""
    match = _FORM.fullmatch(text) if isinstance(text, str) and len(text) <= longest else None
    return (
        match is not None
        and len(match["name"] or "") <= LONGEST_NAME
        and int(match["port"] or 1) <= 65535
        and (match["v6"] is None or _is_ipv6(match["v6"]))
    )


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True
