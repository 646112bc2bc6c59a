"""Fingerprints of public keys (Specification, section 12). The words are read from the Specification itself.

Arguments: HUMAN-READABLE-PART HEX ... Prints a line for each pair: the digits, a semicolon, the words.
"""

import hashlib
import pathlib
import re
import sys

SPECIFICATION = pathlib.Path(__file__).resolve().parents[2] / "Docs" / "Specification.md"


def word_list():
    section = SPECIFICATION.read_text(encoding="utf-8").split("\n## 12 ")[1]
    words = re.search(r"```words\n(.*?)```", section, re.DOTALL).group(1).split()
    if len(words) != 256:
        raise ValueError("the list has not 256 words")
    return words


def fingerprint(kind, key):
    if len(key) != 32:
        raise ValueError("a key has 32 bytes")
    return hashlib.blake2b(
        b"sealedpush/v1 fingerprint\0" + kind.encode("ascii") + b"\0" + key, digest_size=32
    ).digest()


def digits(value):
    return " ".join("%05d" % (int.from_bytes(value[at : at + 5], "big") % 100000) for at in range(0, 30, 5))


def main(arguments):
    words = word_list()
    for kind, key in zip(arguments[::2], arguments[1::2], strict=True):
        value = fingerprint(kind, bytes.fromhex(key))
        print(digits(value) + "; " + " ".join(words[byte] for byte in value[:12]))


if __name__ == "__main__":
    main(sys.argv[1:])
