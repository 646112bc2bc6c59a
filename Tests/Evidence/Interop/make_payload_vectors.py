#!/usr/bin/env python3
"""Writes payloads that a queue sends, or refuses, into Tests/Vectors/Text/payloads.tsv. Each run writes the same file."""

import json

from interop import read_vector
from make_vectors import FOLDER
from sealed_push.protocol.text import encode_base64

HEAD = (
    "# Payloads (Specification 2.12, ContentParts 21.3), parted by tabs: `allowed` or `refused` by a queue, the payload as a JSON\n"
    "# string, and what it shows. alerts.tsv has alerts.\n"
)


def lines():
    sealed = read_vector(FOLDER / "good-authenticated-padding-none.txt")["field"]
    hybrid = read_vector(FOLDER / "Hybrid" / "good-plain.txt")["field"]
    anonymous = read_vector(FOLDER / "good-anonymous-padding-none.txt")["field"]
    alert = '{"aps":{"alert":"Grüße","mutable-content":1},"custom-encrypted-message":"%s"}'
    background = '{"aps":{"content-available":1},"custom-encrypted-message":"%s"}'
    good = alert % sealed
    for name, field in (("authenticated", sealed), ("hybrid", hybrid), ("anonymous", anonymous)):
        yield "allowed", alert % field, f"an alert, {name}"
        yield "allowed", background % field, f"a background push, {name}"
    # For each suite, the shortest envelope, and one that is a byte shorter.
    for suite, least in ((1, 70), (2, 54), (3, 1158)):
        data = bytes([suite]) + bytes(range(1, 200)) * 6
        yield "allowed", alert % encode_base64(data[:least]), f"the shortest envelope of suite {suite}"
        yield "refused", alert % encode_base64(data[: least - 1]), f"shorter than any envelope of suite {suite}"
    for suite in (0, 4, 255):
        data = bytes([suite]) + bytes(range(1, 200)) * 6
        yield "refused", alert % encode_base64(data), f"the unknown suite {suite}"

    def replaced(old, new, sentence, text=good):
        if text.count(old) != 1:
            raise ValueError(sentence)
        return "refused", text.replace(old, new), sentence

    yield "refused", "", "nothing"
    yield "refused", "{}", "no member"
    yield "refused", '{"aps":{"alert":"Your bank: call 555-0100"}}', "no field"
    yield "refused", good + "\n", "a line end behind it"
    yield "refused", " " + good, "a space before it"
    yield "refused", "\ufeff" + good, "a byte order mark"
    yield replaced(',"mutable-content":1', "", "no mutable-content")
    yield replaced('"mutable-content":1', '"mutable-content":0', "mutable-content is 0")
    yield replaced('"mutable-content":1', '"mutable-content":true', "mutable-content is true")
    yield replaced('"mutable-content":1', '"mutable-content":1,"sound":"x"', "another member of aps")
    yield replaced('"mutable-content":1}', '"mutable-content":1},"a":1', "another member")
    yield replaced('{"aps"', '{"a":1,"aps"', "another member before aps")
    yield replaced('"}', '","aps":{"alert":"clear"}}', "aps twice")
    yield replaced('"alert":"Grüße",', '"alert":"Grüße","alert":"x",', "alert twice")
    yield replaced('"alert":', '"alert": ', "white space")
    yield replaced('"alert":"Grüße","mutable-content":1', '"mutable-content":1,"alert":"Grüße"', "another order in aps")
    field = f'"custom-encrypted-message":"{sealed}"'
    yield "refused", "{" + field + ',"aps":{"alert":"Grüße","mutable-content":1}}', "another order"
    yield replaced(sealed, "", "an empty field")
    for change, sentence in (("=", "padding"), ("\\n", "a line end in the field"), (" AA", "a space in the field")):
        yield replaced(sealed, sealed + change, sentence)
    yield replaced(f'"{sealed}"', f'"{sealed[:8]}","b":"{sealed}"', "a short field, and another member")
    yield replaced(f'"{sealed}"', f'["{sealed}"]', "a field that isn't a string")
    odd = alert % encode_base64(bytes([1]) + bytes(69))
    yield replaced('AA"}', 'AB"}', "unused bits that aren't zero", odd)
    old = background % sealed
    yield replaced(":1}", ":0}", "content-available is 0", old)
    yield replaced(":1}", ':1,"sound":"x"}', "a background push with a sound", old)
    yield replaced(":1}", ':1,"mutable-content":1}', "a background push that also wakes the extension", old)
    yield replaced('{"content', '{"alert":"x","content', "a background push with an alert", old)
    yield replaced("aps", "x", "a background push without aps", old)
    # The key is safe, so only the length is wrong.
    long = encode_base64(bytes([1]) + bytes([9]) * 3014)
    yield "refused", alert % long, "more than 4,096 bytes"


def main():
    rows = [f"{kind}\t{json.dumps(payload, ensure_ascii=False)}\t{sentence}" for kind, payload, sentence in lines()]
    (FOLDER / "Text" / "payloads.tsv").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    print(len(rows), "payloads")


if __name__ == "__main__":
    main()
