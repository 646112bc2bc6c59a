"""Arguments: HUMAN-READABLE-PART HEX ... Prints a line for each pair: the fingerprint's digits, a semicolon, and its words."""

import sys

import client  # noqa: F401
from sealed_push.protocol import fingerprint


def main(arguments):
    for kind, key in zip(arguments[::2], arguments[1::2], strict=True):
        value = fingerprint.fingerprint(kind, bytes.fromhex(key))
        print(fingerprint.digits(value) + "; " + fingerprint.words(value))


if __name__ == "__main__":
    main(sys.argv[1:])
