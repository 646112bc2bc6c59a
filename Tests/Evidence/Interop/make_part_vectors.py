#!/usr/bin/env python3
"""Writes the test vectors for parts of the content that a sender takes or refuses, and for the first bytes of files.

They are the files in Tests/Vectors/Sealing whose names begin with `sealed-part-`, `refused-part-`, `sealed-start-`, and
`refused-start-`. Each run writes the same files. Tests/Vectors/README.md describes them.
"""

import base64
import json
import pathlib

import client  # noqa: F401
import url_cases
from sealed_push.protocol import files

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Vectors" / "Sealing"
HASH = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
URL = "https://files.example.com/9f2c"


def write(name, sentence, values):
    lines = [f"# {sentence}", *(f"{key}: {value}" for key, value in values.items() if value is not None)]
    (FOLDER / (name + ".txt")).write_text("\n".join(lines) + "\n", encoding="utf-8")


def content(name, sentence, member=None, **parts):
    """Writes a case that is sealed or, if a member is at fault, refused."""
    outcome = "refused" if member else "sealed"
    text = json.dumps({"alert": {"body": "b"}} | {key.replace("_", "-"): value for key, value in parts.items()}, ensure_ascii=False)
    write(f"{outcome}-part-{name}", sentence, {"content": text, "outcome": outcome, "member": member})


def file(*without, **changes):
    """Returns a file that isn't encrypted, with changes and without some of its members."""
    entry = {"id": "a", "url": URL, "size": 9, "hash": HASH, "plain": True, "type": "image/gif"} | changes
    return {key: value for key, value in entry.items() if key not in without}


def attachment(name, sentence, member=None, /, *without, **changes):
    path = f"attachments[0].{member}" if member else None
    content(f"attachment-{name}", sentence, path, attachments=[file(*without, **changes)])


def sealed(name, sentence, member=None, /, *without, **changes):
    """The same with an encrypted file."""
    attachment(name, sentence, member, "plain", *without, **{"key": HASH, "size": 141} | changes)


def make_attachments():
    attachment("id-64-bytes", "An ID of 64 bytes.", id="é" * 32)
    attachment("id-65-bytes", "An ID of 65 bytes, in 33 characters.", "id", id="é" * 32 + "x")
    attachment("id-65-ascii", "An ID of 65 bytes.", "id", id="x" * 65)
    attachment("id-empty", "An empty ID.", "id", id="")
    attachment("id-number", "An ID that isn't text.", "id", id=1)
    attachment("no-id", "No ID.", "id", "id")
    for kind, most in (("audio/mpeg", 5_000_000), ("image/png", 10_000_000), ("video/mp4", 50_000_000)):
        name = kind.partition("/")[0]
        attachment(f"{name}-longest", f"The longest {name} file.", type=kind, size=most)
        attachment(f"{name}-too-long", f"A byte longer than the longest {name} file.", "size", type=kind, size=most + 1)
    attachment("size-1", "A file of a byte.", size=1)
    attachment("size-0", "An empty file.", "size", size=0)
    attachment("size-true", "True in place of a size.", "size", size=True)
    attachment("size-fraction", "A size that isn't whole.", "size", size=9.5)
    attachment("size-text", "Text in place of a size.", "size", size="9")
    attachment("no-size", "No size.", "size", "size")
    sealed("encrypted", "An encrypted file.")
    sealed("encrypted-shortest", "An encrypted file of a byte.", size=42)
    sealed("encrypted-empty", "An encrypted file that is empty.", "size", size=41)
    sealed("encrypted-too-short", "Shorter than any encrypted file.", "size", size=40)
    sealed("encrypted-whole-chunk", "An encrypted file of one whole chunk.", size=24 + 65553)
    sealed("encrypted-cut-chunk", "No file has a last chunk of 5 bytes.", "size", size=24 + 65553 + 5)
    sealed("encrypted-empty-chunk", "Only an empty file has an empty last chunk.", "size", size=24 + 65553 + 17)
    sealed("encrypted-two-chunks", "An encrypted file of a whole chunk and a byte.", size=24 + 65553 + 18)
    # n is the length in the clear.
    longest = 24 + 5_000_000 + 17 * -(-5_000_000 // 65536)
    sealed("encrypted-longest", "The longest encrypted sound.", size=longest, type="audio/wav")
    sealed("encrypted-too-long", "A byte longer than the longest encrypted sound.", "size", size=longest + 1, type="audio/wav")
    attachment("hash-short", "A hash of 31 bytes.", "hash", hash=HASH[:42])
    attachment("hash-padded", "A hash with padding.", "hash", hash=HASH + "=")
    attachment("no-hash", "No hash.", "hash", "hash")
    sealed("key-short", "A key of 31 bytes.", "key", key=HASH[:42])
    attachment("no-key", "Neither a key nor plain.", "key", "plain")
    attachment("key-and-plain", "A key, and plain is true.", "key", key=HASH)
    attachment("plain-text", "Text in place of plain.", "plain", plain="true")
    attachment("type-unknown", "A type that devices don't show.", "type", type="image/webp")
    attachment("no-type", "No type.", "type", "type")
    attachment("url-number", "A number in place of a URL.", "url", url=1)
    attachment("no-url", "No URL.", "url", "url")
    attachment("thumbnail", "A thumbnail with all members at their limits.",
               thumbnail={"hidden": True, "clip": [0, 0, 1, 1], "time": 86400})  # fmt: skip
    for name, sentence, member, value in (
        ("hidden", "A number in place of hidden.", "hidden", 1),
        ("clip-three", "A clip of three numbers.", "clip", [0, 0, 1]),
        ("clip-five", "A clip of five numbers.", "clip", [0, 0, 1, 1, 1]),
        ("clip-large", "A number above 1 in a clip.", "clip", [0, 0, 1.5, 1]),
        ("clip-text", "Text in place of a clip.", "clip", "0011"),
        ("time-late", "A time above 86,400.", "time", 86401),
        ("time-negative", "A time below 0.", "time", -1),
    ):
        attachment(f"thumbnail-{name}", sentence, f"thumbnail.{member}", thumbnail={member: value})
    attachment("thumbnail-number", "A number in place of a thumbnail.", "thumbnail", thumbnail=1)
    many = [file(id=str(number)) for number in range(17)]
    content("attachments-sixteen", "As many attachments as there may be.", attachments=many[:16])
    content("attachments-seventeen", "An attachment too many.", "attachments", attachments=many)
    content("attachments-id-twice", "Two attachments with one ID.", "attachments[1].id", attachments=[file(), file()])
    content("attachments-object", "An object in place of the list.", "attachments", attachments=file())


def make_urls():
    for is_good, name, sentence, url in url_cases.cases(files.LONGEST_URL):
        attachment(f"url-{name}", sentence, None if is_good else "url", url=url)


def make_overflows():
    def overflow(name, sentence, member=None, **changes):
        value = {"url": URL, "size": 24 + 17 + 65536, "hash": HASH, "key": HASH} | changes
        content(f"overflow-{name}", sentence, member and f"overflow.{member}", overflow=value)

    overflow("longest", "The longest content in a file.")
    overflow("shortest", "The shortest content in a file.", size=42)
    overflow("too-long", "A byte more than the longest content in a file.", "size", size=24 + 2 * 17 + 65537)
    overflow("empty", "An empty file.", "size", size=41)
    overflow("url-http", "A file by http.", "url", url="http://files.example.com/p")
    value = {"url": URL, "size": 100, "hash": HASH, "plain": True}
    content("overflow-plain", "Content in a file that isn't encrypted.", "overflow.plain", overflow=value)


def make_persons():
    def person(name, sentence, member=None, /, *without, **changes):
        value = {"name": "Nina", "id": "user-17"} | {key.replace("_", "-"): each for key, each in changes.items()}
        value = {key: each for key, each in value.items() if key not in without}
        content(f"person-{name}", sentence, member and f"person.{member}", person=value)

    for member in ("name", "id"):
        person(f"{member}-longest", f"A {member} of 128 bytes.", **{member: "é" * 64})
        person(f"{member}-too-long", f"A {member} of 129 bytes.", member, **{member: "é" * 64 + "x"})
        person(f"{member}-empty", f"An empty {member}.", member, **{member: ""})
        person(f"{member}-number", f"A {member} that isn't text.", member, **{member: 1})
        person(f"no-{member}", f"No {member}.", member, member)
    person("name-blank", "A name with nothing to see.", "name", name=" \u2800")
    encoded = lambda count: base64.urlsafe_b64encode(bytes(count)).decode().rstrip("=")  # noqa: E731
    person("image-data-longest", "A picture of 2,048 bytes.", image_data=encoded(2048))
    person("image-data-too-long", "A picture of 2,049 bytes.", "image-data", image_data=encoded(2049))
    person("image-data-empty", "An empty picture.", "image-data", image_data="")
    person("image-data-padded", "A picture with padding.", "image-data", image_data=encoded(2) + "=")
    content("person-text", "Text in place of a person.", "person", person="Nina")
    nina = {"name": "Nina", "id": "user-17", "image": "a"}
    content("person-image-png", "The picture of an attachment.", person=nina, attachments=[file(type="image/png")])
    content("person-image-jpeg", "The picture of an attachment.", person=nina, attachments=[file(type="image/jpeg")])
    content("person-image-gif", "A moving picture of an attachment.", "person.image", person=nina, attachments=[file()])
    content("person-image-missing", "No attachment has this ID.", "person.image", person=nina)
    content("person-two-images", "An attachment's picture, and the file itself.", "person.image-data",
            person=nina | {"image-data": "AAAA"}, attachments=[file(type="image/png")])  # fmt: skip


def make_groups():
    nina, ole = {"name": "Nina", "id": "user-17"}, {"name": "Ole", "id": "user-18"}

    def group(name, sentence, member=None, /, *without, attachments=(), **changes):
        value = {"name": "Lunch club"} | {key.replace("_", "-"): each for key, each in changes.items()}
        value = {key: each for key, each in value.items() if key not in without}
        content(f"group-{name}", sentence, member and f"group.{member}", person=nina, group=value, attachments=list(attachments))

    group("name-longest", "A name of 128 bytes.", name="é" * 64)
    group("name-too-long", "A name of 129 bytes.", "name", name="é" * 64 + "x")
    group("name-blank", "A name with nothing to see.", "name", name=" \u2800")
    group("no-name", "No name.", "name", "name")
    group("image-data", "A picture of 3 bytes.", image_data="iVBO")
    group("image-data-empty", "An empty picture.", "image-data", image_data="")
    group("image-png", "The picture of an attachment.", image="a", attachments=[file(type="image/png")])
    group("image-gif", "A moving picture of an attachment.", "image", image="a", attachments=[file()])
    group("recipients-sixteen", "As many recipients as there may be.", recipients=[ole] * 16)
    group("recipients-seventeen", "A recipient too many.", "recipients", recipients=[ole] * 17)
    group("recipients-object", "An object in place of the list.", "recipients", recipients=ole)
    group("recipient-no-id", "A recipient without an ID.", "recipients[1].id", recipients=[ole, {"name": "Ole"}])
    group("recipient-blank", "A recipient whose name has nothing to see.", "recipients[0].name", recipients=[ole | {"name": " "}])
    group("recipient-text", "Text in place of a recipient.", "recipients[0]", recipients=["Ole"])
    for count in (2, 100000):
        group(f"count-{count}", f"A group of {count}.", count=count)
    for count in (1, 100001, 2.5, "2", True):
        group(f"count-{str(count).lower().replace('.', '-')}{'-text' if count == '2' else ''}", "Not a count.", "count", count=count)
    content("group-text", "Text in place of a group.", "group", person=nina, group="Lunch club")
    content("group-alone", "A group without a person.", "group", group={"name": "Lunch club"})


def make_translations():
    def alert(name, sentence, member=None, **parts):
        value = {"body": "Lunch?"} | {key.replace("_", "-"): each for key, each in parts.items()}
        content(f"translation-{name}", sentence, member and f"alert.{member}", alert=value)

    for text in ("title-", "subtitle-", ""):
        name = text or "body-"
        key, arguments = f"{text}loc-key", f"{text}loc-args"
        alert(f"{name}key", "A text of the app's own language files.", **{key: "LUNCH"})
        alert(f"{name}arguments", "Sixteen arguments.", **{key: "LUNCH", arguments: [""] * 16})
        alert(f"{name}arguments-seventeen", "An argument too many.", arguments, **{key: "LUNCH", arguments: [""] * 17})
        alert(f"{name}arguments-alone", "Arguments without a key.", arguments, **{arguments: ["Nina"]})
        alert(f"{name}arguments-number", "An argument that isn't text.", arguments, **{key: "LUNCH", arguments: ["Nina", 1]})
        alert(f"{name}arguments-text", "Text in place of a list.", arguments, **{key: "LUNCH", arguments: "Nina"})
        alert(f"{name}key-longest", "A key of 256 bytes.", **{key: "é" * 128})
        alert(f"{name}key-too-long", "A key of 257 bytes.", key, **{key: "é" * 128 + "x"})
        alert(f"{name}key-empty", "An empty key.", key, **{key: ""})
        alert(f"{name}key-number", "A key that isn't text.", key, **{key: 1})


def make_others():
    for value in (1, 99):
        content(f"badge-add-{value}", f"A badge that grows by {value}.", badge_add=value)
    for value in (0, 100, -1, 1.5, "1", True):
        name = str(value).lower().replace(".", "-").replace("-1", "minus-1", value == -1)
        content(f"badge-add-{name}", f"A badge that grows by {json.dumps(value)}.", "badge-add", badge_add=value)
    content("template", "Text with placeholders.", template=True)
    for value in (False, 1, "true"):
        content(f"template-{str(value).lower()}{'-text' if value == 'true' else ''}", "Not true.", "template", template=value)
    for value in ("full", "sender", "generic"):
        content(f"disclosure-{value}", f"A notification that may show this much: {value}.", disclosure=value)
    for name, value in (("capital", "Full"), ("empty", ""), ("unknown", "none"), ("number", 0), ("list", ["full"])):
        content(f"disclosure-{name}", "Not a level of disclosure.", "disclosure", disclosure=value)
    line = {"kind": "line", "points": [1, 2]}
    content("chart", "A chart.", chart=line)
    content("chart-no-points", "A chart without points.", "chart.points", chart={"kind": "line"})


def make_starts():
    def start(name, kind, data, outcome="sealed"):
        data = data if isinstance(data, bytes) else data.encode("latin-1")
        values = {"type": kind, "start": data.ljust(12, b"\0").hex(), "outcome": outcome}
        write(f"{outcome}-start-{name}", f"The first bytes of a file {'of' if outcome == 'sealed' else 'that is not of'} the type.", values)

    for name, kind, good, bad in (
        ("aiff", "audio/aiff", ("FORM....AIFF", "FORM....AIFC"), ("FORM....AIFX", "form....AIFF", "RIFF....AIFF")),
        ("wav", "audio/wav", ("RIFF....WAVE",), ("RIFF....AVI ", "RIFX....WAVE", "RIFF....wave")),
        ("mp3", "audio/mpeg", ("ID3", "\xff\xfb", "\xff\xf3", "\xff\xe2"), ("ID4", "\xff\xf0", "\xff\xe1", "\xfe\xfb")),
        ("mp4-audio", "audio/mp4", ("....ftypM4A ", "....ftypisom"), ("....moovM4A ", "....ftypheic")),
        ("jpeg", "image/jpeg", ("\xff\xd8\xff\xe0",), ("\xff\xd8\x00\xe0", "\xff\xd9\xff")),
        ("gif", "image/gif", ("GIF87a", "GIF89a"), ("GIF88a", "GIF89b", "gif89a")),
        ("png", "image/png", ("\x89PNG\r\n\x1a\n",), ("\x89PNG\n\n\x1a\n", "\x89PNG\r\n\x1a\r")),
        ("mpeg", "video/mpeg", ("\0\0\1\xba", "\0\0\1\xb3"), ("\0\0\1\xb5", "\0\0\0\xba")),
        ("mpeg2", "video/mpeg2", ("\0\0\1\xba", "\0\0\1\xb3"), ("\0\0\1\xb5",)),
        ("mp4", "video/mp4", ("....ftypisom", "....ftypmp42"), ("....moovisom", "....ftypM4A ", "....ftypM4B ", "....ftypavif")),
        ("avi", "video/x-msvideo", ("RIFF....AVI ",), ("RIFF....WAVE", "RIFF....AVIX")),
    ):
        for outcome, each in (("sealed", good), ("refused", bad)):
            for index, data in enumerate(each, 1):
                start(f"{name}-{index}", kind, data, outcome)
    for brand in "heic heix heim heis hevc hevx hevm hevs mif1 mif2 msf1 avif avis avci avcs".split():
        start(f"mp4-{brand}", "video/mp4", f"....ftyp{brand}", "refused")


def main():
    for kind in ("part", "start"):
        for path in FOLDER.glob(f"*-{kind}-*.txt"):
            path.unlink()
    for make in (make_attachments, make_urls, make_overflows, make_persons, make_groups, make_translations, make_others, make_starts):
        make()
    print(len(list(FOLDER.glob("*.txt"))), "vectors")


if __name__ == "__main__":
    main()
