#!/usr/bin/env python3
"""Seals and opens the encrypted files of ContentParts 14, and writes the vectors in Tests/Vectors/Attachments.

  attachments.py seal FILE STORED URL ID TYPE   prints the attachment's entry
  attachments.py open ENTRY STORED              writes the plaintext to standard output
  attachments.py vectors FOLDER                 writes the vectors, the same in each run
"""
import hashlib
import io
import json
import os
import sys

import client  # noqa: F401
import nacl.bindings as sodium
import url_cases
from sealed_push import SealedPushError, open_file, seal_attachment
from sealed_push.protocol import files
from sealed_push.protocol.files import CHUNK, FINAL, MESSAGE, read_chunks
from sealed_push.protocol.text import encode_base64 as encode

PUSH = sodium.crypto_secretstream_xchacha20poly1305_TAG_PUSH


def seal_chunks(chunks, key):
    """chunks: (bytes, tag) pairs, which may break the rules. The header, which is random in real files, depends on them."""
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    stored = hashlib.sha256(b"".join(chunk + bytes([tag]) for chunk, tag in chunks)).digest()[:24]
    # To open begins in the same state as to seal, but with a given header.
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, stored, key)
    for chunk, tag in chunks:
        stored += sodium.crypto_secretstream_xchacha20poly1305_push(state, chunk, None, tag)
    return stored


def seal(plaintext, key):
    *chunks, last = read_chunks(io.BytesIO(plaintext), CHUNK)
    return seal_chunks([*((chunk, MESSAGE) for chunk in chunks), (last, FINAL)], key)


def entry(stored, key, url, name, kind):
    return {"id": name, "url": url, "size": len(stored), "hash": encode(hashlib.blake2b(stored, digest_size=32).digest()),
            "key": encode(key), "type": kind}


def vectors(folder):
    key = bytes(range(32))
    text = b"\x89PNG\r\n\x1a\n and so on"

    def write(name, about, stored, outcome, plaintext=None, change=None):
        item = entry(stored, key, "https://files.example.com/9f2c", "picture", "image/png")
        if change:
            change(item)
        with open(os.path.join(folder, name + ".txt"), "w") as file:
            file.write(f"# {about}\nentry: {json.dumps(item, separators=(',', ':'))}\nstored: {stored.hex()}\noutcome: {outcome}\n")
            if plaintext is not None:
                file.write(f"plaintext: {plaintext.hex()}\n")

    good = seal(text, key)
    write("good", "One final chunk.", good, "opens", text)
    whole = text[:8] + bytes(i * 7 % 256 for i in range(8, CHUNK))
    write("good-whole-chunk", "Exactly one whole chunk: it is the final one.", seal(whole, key), "opens", whole)
    longer = whole + b"x"
    write("good-two-chunks", "A whole chunk, and a final one of one byte.", seal(longer, key), "opens", longer)
    write("good-plain", "Not encrypted, by explicit choice.", text, "opens", text,
          lambda item: (item.pop("key"), item.update(plain=True)))
    flipped = bytearray(good)
    flipped[30] ^= 1
    write("altered", "A bit of the chunk is flipped, and the hash is the altered file's.", bytes(flipped), "altered")
    header = bytearray(good)
    header[0] ^= 1
    write("altered-header", "A bit of the header is flipped, and the hash is the altered file's.", bytes(header), "altered")
    write("altered-hash", "Another hash.", good, "altered", change=lambda item: item.update(hash=encode(bytes(32))))
    write("altered-key", "Another key.", good, "altered", change=lambda item: item.update(key=encode(bytes(32))))
    write("altered-no-final", "The only chunk is tagged MESSAGE.", seal_chunks([(text, MESSAGE)], key), "altered")
    write("altered-tag", "The only chunk is tagged PUSH.", seal_chunks([(text, PUSH)], key), "altered")
    write("altered-early-final", "The first of two chunks is tagged FINAL.",
          seal_chunks([(whole, FINAL), (b"x", FINAL)], key), "altered")
    other = seal(b"GIF89a and so on", key)
    write("wrong-type", "The file begins like another type.", other, "wrong-type")
    write("altered-other-type", "The file is altered and begins like another type: the chunk is checked first.",
          other[:40] + bytes([other[40] ^ 1]) + other[41:], "altered")
    two = seal(longer, key)
    write("altered-last", "The second chunk is altered.", two[:-1] + bytes([two[-1] ^ 1]), "altered")
    late = lambda stored, item: item.update(  # noqa: E731
        size=len(stored) + 1, hash=encode(hashlib.blake2b(stored, digest_size=32).digest()))
    early = two[:30] + bytes([two[30] ^ 1]) + two[31:]
    write("altered-cut", "Cut, and the first chunk is altered, which is noticed first.", early[:-1], "altered",
          change=lambda item: late(early[:-1], item))
    write("cut", "The last byte is missing.", good[:-1], "cut", change=lambda item: item.update(
        size=len(good), hash=encode(hashlib.blake2b(good, digest_size=32).digest())))
    write("too-large", "A byte stands behind the final chunk.", good + b"\0", "too-large", change=lambda item: item.update(
        size=len(good), hash=encode(hashlib.blake2b(good, digest_size=32).digest())))
    empty = seal_chunks([(whole, MESSAGE), (b"", FINAL)], key)
    write("unreadable-empty-chunk", "A whole chunk tagged MESSAGE and an empty final one: no file is this long.", empty, "unreadable")
    write("unreadable-no-key", "Neither a key nor plain: never taken for a file that is not encrypted.", good, "unreadable",
          change=lambda item: item.pop("key"))
    for is_good, name, about, url in url_cases.cases(files.LONGEST_URL):
        outcome, opened = ("opens", text) if is_good else ("unreadable", None)
        write(f"{'good' if is_good else 'unreadable'}-url-{name}", about, text, outcome, opened, lambda item, url=url: (
            item.pop("key"), item.update(plain=True, url=url)))
    write("unreadable-both", "A key, and plain.", good, "unreadable", change=lambda item: item.update(plain=True))


def main(arguments):
    if arguments[:1] == ["seal"] and len(arguments) == 6:
        _, source, target, url, name, kind = arguments
        print(json.dumps(seal_attachment(source, target, url=url, id=name, type=kind)))
    elif arguments[:1] == ["open"] and len(arguments) == 3:
        with open(arguments[1]) as file:
            item = json.load(file)
        open_file(item, arguments[2], sys.stdout.buffer)
    elif arguments[:1] == ["vectors"] and len(arguments) == 2:
        vectors(arguments[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SealedPushError as error:
        sys.exit(str(error))
