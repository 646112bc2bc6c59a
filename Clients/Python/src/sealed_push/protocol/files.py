"""Encrypted files and their entries in the content (ContentParts, section 14)."""

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import nacl.bindings as sodium

from ..errors import FileError
from . import urls
from .text import decode_base64, is_unicode

CHUNK = 65536
ADDED = sodium.crypto_secretstream_xchacha20poly1305_ABYTES
HEADER = sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES
MESSAGE = sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
FINAL = sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL
LARGEST = 1 << 40
LARGEST_OVERFLOW = 65536
MOST_ATTACHMENTS = 16
SIGNATURE = 12
LONGEST_URL = 2048

_AUDIO, _IMAGE, _VIDEO = 5_000_000, 10_000_000, 50_000_000


class Readable(Protocol):
    """A binary file or stream, open for reading."""

    def read(self, size: int, /) -> bytes: ...


def _riff(kind: bytes) -> Callable[[bytes], bool]:
    return lambda start: start[:4] == b"RIFF" and start[8:12] == kind


def _mpeg(start: bytes) -> bool:
    return start[:4] in (b"\0\0\1\xba", b"\0\0\1\xb3")


# HEIC and AVIF, which iOS doesn't show in notifications.
_PICTURES = b"heic heix heim heis hevc hevx hevm hevs mif1 mif2 msf1 avif avis avci avcs".split()


def _mp4(start: bytes) -> bool:
    return start[4:8] == b"ftyp" and start[8:12] not in _PICTURES


# 14.4: the largest size, a check of the first bytes, and the usual file name extensions.
TYPES: dict[str, tuple[int, Callable[[bytes], bool], tuple[str, ...]]] = {
    "audio/aiff": (
        _AUDIO,
        lambda start: start[:4] == b"FORM" and start[8:12] in (b"AIFF", b"AIFC"),
        (".aiff", ".aif"),
    ),
    "audio/wav": (_AUDIO, _riff(b"WAVE"), (".wav", ".wave")),
    "audio/mpeg": (
        _AUDIO,
        lambda start: start[:3] == b"ID3" or (start[:1] == b"\xff" and start[1:2] != b"" and start[1] & 0xE6 == 0xE2),
        (".mp3",),
    ),
    "audio/mp4": (_AUDIO, _mp4, (".m4a",)),
    "image/jpeg": (_IMAGE, lambda start: start[:3] == b"\xff\xd8\xff", (".jpg", ".jpeg", ".jpe")),
    "image/gif": (_IMAGE, lambda start: start[:6] in (b"GIF87a", b"GIF89a"), (".gif",)),
    "image/png": (_IMAGE, lambda start: start[:8] == b"\x89PNG\r\n\x1a\n", (".png",)),
    "video/mpeg": (_VIDEO, _mpeg, (".mpg", ".mpeg")),
    "video/mpeg2": (_VIDEO, _mpeg, (".m2v",)),
    "video/mp4": (_VIDEO, lambda start: _mp4(start) and start[8:12] not in (b"M4A ", b"M4B "), (".mp4",)),
    "video/x-msvideo": (_VIDEO, _riff(b"AVI "), (".avi",)),
}


def type_of_name(name: str) -> str | None:
    """Returns the type for a file's name."""
    end = os.path.splitext(name)[1].lower()
    return next((type for type, (_, _, ends) in TYPES.items() if end in ends), None)


# Entries (14.1)


def is_url(text: Any) -> bool:
    return urls.is_url(text, LONGEST_URL)


def read_file(value: Any) -> dict[str, Any] | None:
    """Returns an object with `url`, `size`, `hash`, and `key` or `plain`, or None if it breaks a rule."""
    if not isinstance(value, Mapping) or not is_url(value.get("url")) or plaintext_length(value) is None:
        return None
    hash = decode_base64(value.get("hash"))
    return dict(value) if hash is not None and len(hash) == 32 else None


def plaintext_length(value: Mapping[str, Any]) -> int | None:
    """Returns the length of the file itself, or None if the stored size is impossible or `key` and `plain` break the rules."""
    size, plain = value.get("size"), value.get("plain", False)
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST or not isinstance(plain, bool):
        return None
    if plain:
        return None if "key" in value else size
    key = decode_base64(value.get("key"))
    if key is None or len(key) != 32:
        return None
    chunks, last = divmod(size - HEADER, CHUNK + ADDED)
    if size < HEADER or (last == 0 and chunks == 0) or 0 < last < ADDED:
        return None
    # Only an empty file has an empty last chunk.
    if last == ADDED and chunks > 0:
        return None
    return chunks * CHUNK + max(0, last - ADDED)


def read_attachment(value: Any) -> dict[str, Any] | None:
    """Returns an element of `attachments`, or None if it breaks a rule of 14.1 or 14.4."""
    entry = read_file(value)
    if entry is None or not isinstance(entry.get("id"), str) or not isinstance(entry.get("type"), str):
        return None
    length, limits = plaintext_length(entry), TYPES.get(entry["type"])
    fits = (
        limits is not None
        and length is not None
        and 1 <= length <= limits[0]
        and is_identifier(entry["id"])
        and ("thumbnail" not in entry or is_thumbnail(entry["thumbnail"]))
    )
    return entry if fits else None


def is_overflow(value: Any) -> bool:
    """Whether a value is content in an encrypted file (18.1)."""
    file = read_file(value)
    length = plaintext_length(file) if file is not None and "key" in file else None
    return length is not None and 1 <= length <= LARGEST_OVERFLOW


def is_identifier(value: Any) -> bool:
    return isinstance(value, str) and is_unicode(value) and 1 <= len(value.encode()) <= 64


def is_thumbnail(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    clip = value.get("clip", [0, 0, 1, 1])
    return (
        isinstance(value.get("hidden", False), bool)
        and isinstance(clip, (list, tuple))
        and len(clip) == 4
        and all(_is_number(number, 1) for number in clip)
        and _is_number(value.get("time", 0), 86400)
    )


def are_attachments(value: Any) -> bool:
    """Whether a sender may emit this list."""
    if not isinstance(value, list) or len(value) > MOST_ATTACHMENTS:
        return False
    entries = [read_attachment(each) for each in value]
    return all(entries) and len({each["id"] for each in entries if each}) == len(entries)


def _is_number(value: Any, most: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= most


# Sealing and opening, chunk by chunk (14.2)


def read_chunks(source: Readable, size: int) -> Iterator[bytes]:
    """Yields pieces of exactly `size` bytes; the last may be shorter."""
    piece = b""
    while True:
        read = source.read(size - len(piece))
        if not isinstance(read, bytes):
            raise FileError("unreadable")
        piece += read
        if len(piece) == size or (piece and not read):
            yield piece
            piece = b""
        if not read:
            return


def sealed_chunks(chunks: Iterator[bytes], key: bytes) -> Iterator[bytes]:
    """Yields the stored file piece by piece, keeping at most three chunks in memory."""
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    yield sodium.crypto_secretstream_xchacha20poly1305_init_push(state, key)
    held = next(chunks, b"")
    for chunk in chunks:
        yield sodium.crypto_secretstream_xchacha20poly1305_push(state, held, None, MESSAGE)
        held = chunk
    yield sodium.crypto_secretstream_xchacha20poly1305_push(state, held, None, FINAL)


def opened_chunks(entry: Mapping[str, Any], stored: Readable) -> Iterator[bytes]:
    """Yields the file piece by piece. Don't use any of it before the last piece. `entry` has been read before (14.3)."""
    hash, size, received = hashlib.blake2b(digest_size=32), entry["size"], 0
    stream = None if entry.get("plain") else _Stream(decode_base64(entry["key"]) or b"")
    for piece in read_chunks(_Limited(stored, size + 1), CHUNK):
        received += len(piece)
        if received > size:
            raise FileError("too-large")
        hash.update(piece)
        if stream:
            yield from stream.take(piece)
        else:
            yield piece
    if received < size:
        raise FileError("cut")
    if stream:
        yield from stream.finish()
    if not hmac.compare_digest(hash.digest(), decode_base64(entry["hash"]) or b""):
        raise FileError("altered")


class _Limited:
    """A stream that ends after a given number of bytes."""

    def __init__(self, source: Readable, most: int) -> None:
        self._source, self._left = source, most

    def read(self, size: int) -> bytes:
        read = self._source.read(min(size, self._left)) if self._left else b""
        self._left -= len(read)
        return read


class _Stream:
    """A secretstream that arrives in pieces of any length."""

    def __init__(self, key: bytes) -> None:
        self._key, self._buffer = key, b""
        self._state: Any = None

    def take(self, piece: bytes) -> Iterator[bytes]:
        self._buffer += piece
        if self._state is None and len(self._buffer) >= HEADER:
            self._state = sodium.crypto_secretstream_xchacha20poly1305_state()
            header, self._buffer = self._buffer[:HEADER], self._buffer[HEADER:]
            sodium.crypto_secretstream_xchacha20poly1305_init_pull(self._state, header, self._key)
        # The last chunk waits for `finish`, so there must be one more byte than a whole chunk.
        while self._state is not None and len(self._buffer) > CHUNK + ADDED:
            chunk, self._buffer = self._buffer[: CHUNK + ADDED], self._buffer[CHUNK + ADDED :]
            yield self._open(chunk, MESSAGE)

    def finish(self) -> Iterator[bytes]:
        yield self._open(self._buffer, FINAL)

    def _open(self, chunk: bytes, wanted: int) -> bytes:
        try:
            opened, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(self._state, chunk, None)
        except Exception:
            # PyNaCl raises different errors for different faults; here, all faults count as the same.
            raise FileError("altered") from None
        if tag != wanted:
            raise FileError("altered")
        return bytes(opened)
