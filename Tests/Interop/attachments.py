#!/usr/bin/env python3
"""Encrypted files of Specification 14, with PyNaCl: seals and opens them, and writes the vectors of Tests/Vectors/Attachments.

  attachments.py seal FILE STORED URL ID TYPE   prints the attachment's entry
  attachments.py open ENTRY STORED              writes the plaintext to standard output
  attachments.py vectors FOLDER                 writes new vectors (their headers are random)
"""
import base64
import hashlib
import json
import os
import sys

import nacl.bindings as sodium

CHUNK = 65536
MESSAGE = sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
FINAL = sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL
PUSH = sodium.crypto_secretstream_xchacha20poly1305_TAG_PUSH


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def seal_chunks(chunks, key):
    """chunks: (bytes, tag) pairs."""
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    stored = sodium.crypto_secretstream_xchacha20poly1305_init_push(state, key)
    for chunk, tag in chunks:
        stored += sodium.crypto_secretstream_xchacha20poly1305_push(state, chunk, None, tag)
    return stored


def seal(plaintext, key):
    pieces = [plaintext[i:i + CHUNK] for i in range(0, len(plaintext), CHUNK)] or [b""]
    return seal_chunks([(p, MESSAGE) for p in pieces[:-1]] + [(pieces[-1], FINAL)], key)


def open_stored(stored, key):
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, stored[:24], key)
    plaintext, offset, tag = b"", 24, MESSAGE
    while offset < len(stored):
        piece, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(state, stored[offset:offset + CHUNK + 17], None)
        plaintext += piece
        offset += CHUNK + 17
        assert tag == (FINAL if offset >= len(stored) else MESSAGE), "a wrong tag"
    assert tag == FINAL, "no final chunk"
    return plaintext


def entry(stored, key, url, name, kind):
    return {"id": name, "url": url, "size": len(stored), "hash": encode(hashlib.blake2b(stored, digest_size=32).digest()),
            "key": encode(key), "type": kind}


def check(item, stored):
    assert len(stored) == item["size"], "another length"
    assert hashlib.blake2b(stored, digest_size=32).digest() == decode(item["hash"]), "another hash"
    return stored if item.get("plain") else open_stored(stored, decode(item["key"]))


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
    whole = bytes(i * 7 % 256 for i in range(CHUNK))
    write("good-whole-chunk", "Exactly one whole chunk: it is the final one.", seal(whole, key), "opens", whole)
    longer = bytes(i * 7 % 256 for i in range(CHUNK + 1))
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
    write("cut", "The last byte is missing.", good[:-1], "cut", change=lambda item: item.update(
        size=len(good), hash=encode(hashlib.blake2b(good, digest_size=32).digest())))
    write("too-large", "A byte stands behind the final chunk.", good + b"\0", "too-large", change=lambda item: item.update(
        size=len(good), hash=encode(hashlib.blake2b(good, digest_size=32).digest())))
    empty = seal_chunks([(whole, MESSAGE), (b"", FINAL)], key)
    write("unreadable-empty-chunk", "A whole chunk tagged MESSAGE and an empty final one: no file is this long.", empty, "unreadable")
    write("unreadable-no-key", "Neither a key nor plain: never taken for a file that is not encrypted.", good, "unreadable",
          change=lambda item: item.pop("key"))
    write("unreadable-both", "A key, and plain.", good, "unreadable", change=lambda item: item.update(plain=True))


def main(arguments):
    if arguments[:1] == ["seal"] and len(arguments) == 6:
        _, source, target, url, name, kind = arguments
        key = os.urandom(32)
        with open(source, "rb") as file:
            stored = seal(file.read(), key)
        with open(target, "xb") as file:
            file.write(stored)
        print(json.dumps(entry(stored, key, url, name, kind)))
    elif arguments[:1] == ["open"] and len(arguments) == 3:
        with open(arguments[1]) as file:
            item = json.load(file)
        with open(arguments[2], "rb") as file:
            sys.stdout.buffer.write(check(item, file.read()))
    elif arguments[:1] == ["vectors"] and len(arguments) == 2:
        vectors(arguments[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
