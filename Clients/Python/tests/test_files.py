import ctypes
import errno
import io
import json
import os
import pathlib
import stat
import tempfile
import tracemalloc
import unittest
from unittest import mock

import sealed_push
from sealed_push import FileError, Sender, open_file, seal_attachment, seal_file

from .support import NINA, TOPIC, enrolled, seeded

URL = "https://files.example.com/9f2c"
PNG = b"\x89PNG\r\n\x1a\n"


class Endless(io.RawIOBase):
    """A stream of a given length that isn't held in memory."""

    def __init__(self, length):
        self.left = length

    def readable(self):
        return True

    def readinto(self, buffer):
        count = min(len(buffer), self.left, 50_000)
        buffer[:count] = bytes(count)
        self.left -= count
        return count


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, code, call, *arguments, **options):
        with self.assertRaises(FileError) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.code, code)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_every_length_comes_back(self):
        for length in (1, 12, 65535, 65536, 65537, 131072, 200_001):
            plaintext = os.urandom(length)
            stored = io.BytesIO()
            entry = seal_file(io.BytesIO(plaintext), stored, url=URL)
            self.assertEqual(entry["size"], len(stored.getvalue()))
            self.assertEqual(entry["size"], 24 + length + 17 * max(1, -(-length // 65536)))
            self.assertEqual(json.loads(json.dumps(entry)), entry)
            opened = io.BytesIO()
            open_file(entry, io.BytesIO(stored.getvalue()), opened)
            self.assertEqual(opened.getvalue(), plaintext)
            again = seal_file(io.BytesIO(plaintext), io.BytesIO(), url=URL)
            self.assertNotEqual((again["key"], again["hash"]), (entry["key"], entry["hash"]))

    def test_an_attachment_goes_with_a_message(self):
        photo = self.write("photo.png", PNG + os.urandom(150_000))
        entry = seal_attachment(photo, self.folder / "stored", url=URL, id="photo", thumbnail={"hidden": True})
        self.assertEqual((entry["type"], entry["id"]), ("image/png", "photo"))
        sender = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)
        phone, device = enrolled(sender)
        push = sender.seal(NINA | {"attachments": [entry]}, device)
        received = phone.open(push.payload)["attachments"][0]
        open_file(received, self.folder / "stored", self.folder / "opened")
        self.assertEqual((self.folder / "opened").read_bytes(), photo.read_bytes())
        self.assertEqual(stat.S_IMODE((self.folder / "opened").stat().st_mode), 0o600)

    def test_plain_files_are_checked_too(self):
        stored = self.folder / "stored"
        entry = seal_attachment(self.write("a.gif", b"GIF89a and so on"), stored, url=URL, id="a", plain=True)
        self.assertEqual(stored.read_bytes(), b"GIF89a and so on")
        self.assertNotIn("key", entry)
        open_file(entry, stored, io.BytesIO())
        stored.write_bytes(b"GIF89a and so of")
        self.refused("altered", open_file, entry, stored, io.BytesIO())

    def test_a_large_file_takes_little_memory(self):
        length = 300_000_000 if os.environ.get("THOROUGH") == "1" else 30_000_000
        stored = self.folder / "stored"
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        entry = seal_file(Endless(length), stored, url=URL)
        open_file(entry, stored, self.folder / "opened")
        self.assertLess(tracemalloc.get_traced_memory()[1], 1_000_000)
        self.assertEqual((self.folder / "opened").stat().st_size, length)

    def test_nothing_is_left_of_what_failed(self):
        self.write("there", b"x")
        source = self.write("a.png", PNG)
        for code, call in {
            "exists": lambda: seal_file(source, self.folder / "there", url=URL),
            "empty": lambda: seal_file(self.write("none", b""), self.folder / "out", url=URL),
            "unreadable": lambda: seal_file(self.folder / "absent", self.folder / "out", url=URL),
            "not-writable": lambda: seal_file(source, self.folder / "no" / "out", url=URL),
            "wrong-type": lambda: seal_attachment(source, self.folder / "out", url=URL, id="a", type="image/gif"),
            "too-large": lambda: seal_attachment(
                self.write("b.png", PNG + bytes(10_000_000)), self.folder / "out", url=URL, id="a"
            ),
            "url": lambda: seal_file(source, self.folder / "out", url="ftp://example.com/a"),
            "id": lambda: seal_attachment(source, self.folder / "out", url=URL, id=""),
            "thumbnail": lambda: seal_attachment(source, self.folder / "out", url=URL, id="a", thumbnail={"clip": [1]}),
        }.items():
            self.refused(code, call)
        self.refused("wrong-type", seal_attachment, source, self.folder / "out", url=URL, id="a", type=7)
        self.refused("unreadable", seal_file, None, self.folder / "out", url=URL)
        self.refused("unreadable", seal_file, io.StringIO("text"), self.folder / "out", url=URL)
        self.refused("unreadable", seal_file, self.folder, self.folder / "out", url=URL)
        self.refused("not-writable", seal_file, source, 7.5, url=URL)
        self.refused("not-writable", seal_file, source, io.StringIO(), url=URL)
        self.refused("not-writable", seal_file, source, "\0", url=URL)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"there", "a.png", "b.png", "none"})
        self.assertEqual((self.folder / "there").read_bytes(), b"x")

    def test_others_may_read_a_sealed_file_as_far_as_the_umask_allows_but_not_an_opened_one(self):
        source = self.write("a.png", PNG)
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        for umask in (0o022, 0o002, 0o077, 0, 0o777):
            os.umask(umask)
            for name, seal in {
                "attachment": lambda path: seal_attachment(source, path, url=URL, id="a"),
                "plain": lambda path: seal_attachment(source, path, url=URL, id="a", plain=True),
                "file": lambda path: seal_file(source, path, url=URL),
            }.items():
                path = self.folder / f"{name}-{umask}"
                entry = seal(path)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o666 & ~umask, f"{name}, {umask:o}")
            path.chmod(0o600)
            open_file(entry, path, self.folder / f"opened-{umask}")
            self.assertEqual(stat.S_IMODE((self.folder / f"opened-{umask}").stat().st_mode), 0o600 & ~umask)

    def test_a_file_system_without_hard_links_is_enough_and_nothing_is_overwritten(self):
        source = self.write("a.png", PNG)
        library = ctypes.CDLL(None, use_errno=True)

        class Lacking:
            """A C library without exclusive renames."""

        class Refusing:
            """A file system without exclusive renames."""

            def renameat2(self, *arguments):
                ctypes.set_errno(errno.EINVAL)
                return -1

            renamex_np = renameat2

        for code in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK, errno.EACCES):
            for rename in (library, Lacking(), Refusing()):
                path = self.folder / f"sealed-{code}-{type(rename).__name__}"

                def link(*arguments, code=code):
                    raise OSError(code, os.strerror(code))

                def taken(*arguments, code=code, path=path):
                    # Another program is faster.
                    path.write_bytes(b"another")
                    raise OSError(code, os.strerror(code))

                with mock.patch("ctypes.CDLL", return_value=rename):
                    with mock.patch("os.link", link):
                        entry = seal_file(source, path, url=URL)
                    opened = io.BytesIO()
                    open_file(entry, path, opened)
                    self.assertEqual(opened.getvalue(), PNG)
                    path.unlink()
                    with mock.patch("os.link", taken):
                        self.refused("exists", seal_file, source, path, url=URL)
                    self.assertEqual(path.read_bytes(), b"another")
                    path.unlink()
        self.assertEqual([each.name for each in self.folder.iterdir()], ["a.png"])
        (self.folder / "link").symlink_to("nowhere")
        self.refused("exists", seal_file, source, self.folder / "link", url=URL)

    def test_whatever_is_changed_is_noticed(self):
        random = seeded(self)
        stored = io.BytesIO()
        entry = seal_file(io.BytesIO(os.urandom(70_000)), stored, url=URL)
        good = stored.getvalue()
        for _ in range(60):
            wrong = bytearray(good)
            match random.randrange(4):
                case 0:
                    wrong[random.randrange(len(wrong))] ^= 1 << random.randrange(8)
                case 1:
                    del wrong[random.randrange(len(wrong)) :]
                case 2:
                    wrong += bytes(random.randrange(1, 100_000))
                case 3:
                    wrong[:] = random.randbytes(len(wrong))
            with self.assertRaises(FileError) as raised:
                open_file(entry, io.BytesIO(wrong), self.folder / "opened")
            self.assertIn(raised.exception.code, ("altered", "cut", "too-large"))
            self.assertEqual(list(self.folder.iterdir()), [])
