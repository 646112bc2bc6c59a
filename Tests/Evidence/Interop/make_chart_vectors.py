#!/usr/bin/env python3
"""Writes the test vectors for charts into Tests/Vectors/Charts, one text file per case.

  chart    the value of the content's key `chart`, as JSON
  outcome  `reads` or `unreadable`
  read     if it reads: the same chart as JSON with all members (ContentParts 15.1)
"""

import json
import pathlib

import client  # noqa: F401
from sealed_push.protocol import chart

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Vectors" / "Charts"
LINE = {"kind": "line", "points": [1, 2.5, None, -3]}


def to_json(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write(name, sentence, value):
    text = value if isinstance(value, str) and value.startswith("{") else to_json(value)
    read = chart.read(json.loads(text))
    lines = ["# " + sentence, "chart: " + text, "outcome: " + ("unreadable" if read is None else "reads")]
    if read is not None:
        lines.append("read: " + to_json(read))
    (FOLDER / (name + ".txt")).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read is not None


def good(name, sentence, value):
    assert write("good-" + name, sentence, value), name


def bad(name, sentence, value):
    assert not write("bad-" + name, sentence, value), name


def main():
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.txt"):
        file.unlink()
    for kind in chart.KINDS:
        good("kind-" + kind, "The kind and points alone.", LINE | {"kind": kind})
    every = {
        "labels": ["Mon", "", "日曜"], "prefix": "$", "suffix": " km", "color": "trend", "axes": False,
    }  # fmt: skip
    good("every-member", "Every member.", LINE | every)
    good("usual-values", "Every member with its usual value.", chart.read(LINE))
    good("color", "A color, in capitals.", LINE | {"color": "#0A84FF"})
    good("one-point", "One point.", LINE | {"points": [0]})
    good("one-value-among-gaps", "One value among gaps.", LINE | {"points": [None, 7, None]})
    good("most-points", "1,024 points.", LINE | {"points": [index % 7 for index in range(1024)]})
    good("most-labels", "16 labels, one of them of 48 bytes.", LINE | {"labels": ["é" * 24] + ["x"] * 15})
    good("longest-affixes", "16 bytes before and after each number.", LINE | {"prefix": "x" * 16, "suffix": "é" * 8})
    good("extreme-numbers", "The largest and the smallest Doubles.", LINE | {"points": [1.7e308, -1.7e308, 5e-324]})
    good("whole-as-fraction", "A whole number with a fraction of zero.", '{"kind":"line","points":[3.0,1e2]}')
    good("unknown-member", "A member that this version does not know.", LINE | {"new": {"a": [1]}})

    bad("text", "No object.", "x")
    bad("array", "An array.", [1, 2])
    bad("null", "Null.", None)
    bad("no-kind", "Without a kind.", {"points": [1]})
    bad("no-points", "Without points.", {"kind": "line"})
    bad("kind-unknown", "A kind that this version does not know.", LINE | {"kind": "pie"})
    bad("kind-capital", "A kind in capitals.", LINE | {"kind": "Line"})
    bad("points-none", "No point.", LINE | {"points": []})
    bad("points-only-gaps", "Gaps only.", LINE | {"points": [None, None]})
    bad("points-too-many", "1,025 points.", LINE | {"points": [1] * 1025})
    bad("points-number", "A number in place of the points.", LINE | {"points": 1})
    bad("point-text", "A text among the points.", LINE | {"points": [1, "2"]})
    bad("point-bool", "True among the points.", LINE | {"points": [1, True]})
    bad("point-array", "An array among the points.", LINE | {"points": [1, [2]]})
    bad("labels-too-many", "17 labels.", LINE | {"labels": ["x"] * 17})
    bad("label-too-long", "A label of 49 bytes.", LINE | {"labels": ["é" * 24 + "x"]})
    bad("label-null", "Null among the labels.", LINE | {"labels": ["x", None]})
    bad("labels-text", "A text in place of the labels.", LINE | {"labels": "x"})
    bad("prefix-too-long", "17 bytes before each number.", LINE | {"prefix": "x" * 17})
    bad("suffix-too-long", "17 bytes after each number.", LINE | {"suffix": "é" * 8 + "x"})
    bad("prefix-number", "A number in place of the prefix.", LINE | {"prefix": 1})
    bad("color-name", "A color's name.", LINE | {"color": "red"})
    bad("color-short", "A color of three digits.", LINE | {"color": "#0af"})
    bad("color-no-digit", "A color with a letter that is no digit.", LINE | {"color": "#0a84fg"})
    bad("color-full-width", "A color with a digit outside ASCII.", LINE | {"color": "#0a84f１"})
    bad("color-number", "A number in place of the color.", LINE | {"color": 1})
    bad("axes-number", "A number in place of true or false.", LINE | {"axes": 1})
    bad("axes-null", "Null in place of true or false.", LINE | {"axes": None})


if __name__ == "__main__":
    main()
