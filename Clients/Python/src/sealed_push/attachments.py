"""Encrypts files of any size and makes their entries for the content (ContentParts 14)."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .errors import FileError
from .new_file import NewFile
from .protocol import files
from .protocol.text import encode_base64

Source = str | os.PathLike[str] | BinaryIO
Destination = str | os.PathLike[str] | BinaryIO


def seal_attachment(
    source: Source,
    destination: Destination,
    *,
    url: str,
    id: str,
    type: str | None = None,
    thumbnail: Mapping[str, Any] | None = None,
    plain: bool = False,
) -> dict[str, Any]:
    """Encrypts a picture, sound, or movie, and returns its entry for the content's list `attachments`.

    source: a path, or a binary stream open for reading.
    destination: a new path, which appears only once the file is complete, with ordinary permissions; or a binary stream open
        for writing. Store the result at `url`, byte for byte, before you send the push.
    id: the attachment's ID, unique in its message: 1 to 64 bytes.
    type: such as "image/png"; by default, taken from the source's name. The file's first bytes must match it.
    thumbnail: hidden, clip, time (ContentParts 14.1).
    plain: whether to leave the file unencrypted, because it is public anyway.

    The entry contains the file's key, so it is as secret as the content. Uses at most 0.5 MB of memory for any length.

    Raises FileError.
    """
    if type is None and isinstance(source, (str, os.PathLike)):
        type = files.type_of_name(os.fspath(source))
    if not isinstance(type, str) or type not in files.TYPES:
        raise FileError("wrong-type")
    if not files.is_identifier(id):
        raise FileError("id")
    if thumbnail is not None and not files.is_thumbnail(thumbnail):
        raise FileError("thumbnail")
    most, begins, _ = files.TYPES[type]

    def checked(chunks: Iterable[bytes]) -> Iterator[bytes]:
        length = 0
        for chunk in chunks:
            if length == 0 and not begins(chunk[: files.SIGNATURE]):
                raise FileError("wrong-type")
            length += len(chunk)
            if length > most:
                raise FileError("too-large")
            yield chunk
        if length == 0:
            raise FileError("empty")

    entry = _seal(source, destination, url, plain, checked) | {"id": id, "type": type}
    return entry | {"thumbnail": dict(thumbnail)} if thumbnail else entry


def seal_file(source: Source, destination: Destination, *, url: str, plain: bool = False) -> dict[str, Any]:
    """Encrypts a file of any kind and length that the app itself fetches. Like `seal_attachment`, but without iOS's limits.

    Returns url, size, hash, and key, for a place of your choice in the content's `data`. Raises FileError.
    """

    def checked(chunks: Iterable[bytes]) -> Iterator[bytes]:
        length = 0
        for chunk in chunks:
            length += len(chunk)
            yield chunk
        if length == 0:
            raise FileError("empty")

    return _seal(source, destination, url, plain, checked)


def open_file(entry: Mapping[str, Any], source: Source, destination: Destination) -> None:
    """Checks and decrypts a stored file, as a device does. `entry` is the value that sealing returned.

    A path appears only once the whole file is checked; only its owner can read it. A stream receives the file piece by piece; don't use any of it until
    this function returns. Raises FileError.
    """
    read = files.read_attachment(entry) if isinstance(entry, Mapping) and "type" in entry else files.read_file(entry)
    if read is None:
        raise FileError("unreadable")
    begins = files.TYPES[read["type"]][1] if "type" in read else lambda start: True
    with _reading(source) as stored, _writing(destination, 0o600) as file:
        start = b""
        for chunk in _from(files.opened_chunks(read, stored)):
            if not start:
                start = chunk[: files.SIGNATURE]
                if not begins(start):
                    raise FileError("wrong-type")
            file(chunk)


def _seal(source: Source, destination: Destination, url: str, plain: bool, checked: Any) -> dict[str, Any]:
    if not files.is_url(url):
        raise FileError("url")
    key = None if plain else os.urandom(32)
    hash, size = hashlib.blake2b(digest_size=32), 0
    with _reading(source) as file, _writing(destination, 0o666) as stored:
        chunks = checked(_from(files.read_chunks(file, files.CHUNK)))
        for piece in chunks if key is None else files.sealed_chunks(chunks, key):
            hash.update(piece)
            size += len(piece)
            if size > files.LARGEST:
                raise FileError("too-large")
            stored(piece)
    entry: dict[str, Any] = {"url": url, "size": size, "hash": encode_base64(hash.digest())}
    return entry | ({"plain": True} if key is None else {"key": encode_base64(key)})


def _from(chunks: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from chunks
    except OSError as error:
        raise FileError("unreadable") from error


@contextmanager
def _reading(source: Source) -> Iterator[files.Readable]:
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            raise FileError("unreadable")
        yield source
        return
    try:
        file = open(source, "rb")
    except (OSError, ValueError) as error:
        raise FileError("unreadable") from error
    with file:
        yield file


@contextmanager
def _writing(destination: Destination, mode: int) -> Iterator[Any]:
    """Yields a function that writes. The mode is that of a new file before the umask."""
    if not isinstance(destination, (str, os.PathLike)):
        if not hasattr(destination, "write"):
            raise FileError("not-writable")
        yield _writer(destination)
        return
    try:
        with NewFile(Path(destination), mode) as file:
            yield _writer(file)
    except FileExistsError as error:
        raise FileError("exists") from error
    except (OSError, ValueError) as error:
        raise FileError("not-writable") from error


def _writer(stream: Any) -> Any:
    def write(data: bytes) -> None:
        try:
            stream.write(data)
        except (OSError, TypeError) as error:
            raise FileError("not-writable") from error

    return write
