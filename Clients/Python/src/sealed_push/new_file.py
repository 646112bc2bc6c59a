"""Files that appear once they are complete, and never replace another."""

import ctypes
import errno
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

# The errors of systems and file systems that lack a call, or its flag.
_LACKING = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)


class NewFile:
    """A context manager that gives a file its name at the end. Until then, and after an error, it has a temporary one or none.

    Raises FileExistsError if there is already something with this name, and OSError.
    """

    def __init__(self, path: Path, mode: int) -> None:
        """`mode`: the permissions before the umask."""
        self._path, self._mode = path, mode

    def __enter__(self) -> BinaryIO:
        if os.path.lexists(self._path):
            raise FileExistsError
        self._temporary = self._path.parent / f".sealing-{os.urandom(8).hex()}"
        # Unlike tempfile, which makes files that only their owner can read.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(self._temporary, flags, self._mode), "wb")
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with self._file:
                if error is None:
                    self._file.flush()
                    os.fsync(self._file.fileno())
            if error is None:
                _place(self._temporary, self._path)
        finally:
            self._temporary.unlink(missing_ok=True)


def _place(temporary: Path, path: Path) -> None:
    """Gives a written file its name. The temporary name may remain."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # exFAT, SMB, and many mounts of containers have no hard links.
        if not _rename_exclusively(temporary, path):
            # The empty file keeps the name for this one.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                os.replace(temporary, path)
            except OSError:
                path.unlink()
                raise


def _rename_exclusively(old: Path, new: Path) -> bool:
    """Renames a file unless the name is taken. Returns false if the system or the file system can't."""
    names = os.fsencode(old), os.fsencode(new)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            status = library.renamex_np(*names, 4)
        else:
            here = -100
            status = library.renameat2(here, names[0], here, names[1], 1)
    except (AttributeError, OSError, TypeError):
        return False
    if status == 0:
        return True
    code = ctypes.get_errno()
    if code in _LACKING:
        return False
    raise OSError(code, os.strerror(code))
