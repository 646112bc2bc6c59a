"""Types for the content's members (Specification 4.6), so that type checkers find misspelled names."""

from typing import Any, Literal, Required, TypedDict

Alert = TypedDict(
    "Alert",
    {
        "title": str,
        "subtitle": str,
        "body": str,
        "title-loc-key": str,
        "title-loc-args": list[str],
        "subtitle-loc-key": str,
        "subtitle-loc-args": list[str],
        "loc-key": str,
        "loc-args": list[str],
    },
    total=False,
)
"""The text; the keys name texts in the app's own language files (ContentParts 17.3)."""

Sound = TypedDict("Sound", {"critical": Literal[0, 1], "name": str, "volume": float}, total=False)


class Chart(TypedDict, total=False):
    """A chart shown with the text (ContentParts 15.1)."""

    kind: Required[Literal["line", "area", "bar", "sparkline"]]
    points: Required[list[float | None]]
    labels: list[str]
    prefix: str
    suffix: str
    color: str
    axes: bool


Person = TypedDict("Person", {"name": Required[str], "id": Required[str], "image": str, "image-data": str}, total=False)

Group = TypedDict(
    "Group",
    {
        "name": Required[str],
        "image": str,
        "image-data": str,
        "recipients": list[dict[str, str]],
        "count": int,
    },
    total=False,
)
"""The group in which a person wrote (ContentParts 19.4)."""

Withdraw = TypedDict("Withdraw", {"message": str, "thread": str, "filtered": bool}, total=False)

Withdrawal = TypedDict(
    "Withdrawal",
    {
        "id": str,
        "topic": str,
        "sent": int,
        "expires": int,
        "collapse-id": str,
        "badge": int,
        "data": Any,
        "withdraw": Required[Withdraw],
    },
    total=False,
)
"""Content that removes notifications (ContentParts 21)."""

Content = TypedDict(
    "Content",
    {
        "id": str,
        "topic": str,
        "sent": int,
        "expires": int,
        "collapse-id": str,
        "alert": Required[Alert],
        "badge": int,
        "badge-add": int,
        "sound": str | Sound,
        "thread-id": str,
        "category": str,
        "interruption-level": Literal["passive", "active", "time-sensitive", "critical"],
        "relevance-score": float,
        "filter-criteria": str,
        "target-content-id": str,
        "attachments": list[dict[str, Any]],
        "overflow": dict[str, Any],
        "chart": Chart,
        "person": Person,
        "group": Group,
        "receipt": dict[str, str],
        "template": Literal[True],
        "disclosure": Literal["full", "sender", "generic"],
        "data": Any,
    },
    total=False,
)
"""The content for `Sender.seal`: `content: Content = {"alert": ...}`. Put the app's own values into `data`."""
