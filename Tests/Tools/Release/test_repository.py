"""Installs from a repository of Scripts/apt-repository with apt itself, and attacks the repository. Run by ReleaseTests."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import made

OWN = made.run("dpkg", "--print-architecture").stdout.strip()
OTHER = next(name for name in made.ARCHITECTURES if name != OWN)
PAGE = (made.CHECKOUT / "Docs/Install.md").read_text()


def key(folder, *names):
    """Makes an OpenPGP secret key for each name, and returns the file with them."""
    home = Path(tempfile.mkdtemp())
    environment = os.environ | {"GNUPGHOME": str(home)}
    try:
        for name in names:
            made.run("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", f"{name} <{name}@sealed-push.example>",
                     "ed25519", "sign", "never", env=environment, check=True)
        path = folder / f"{'-'.join(names)}.key"
        made.run("gpg", "--batch", "--output", path, "--export-secret-keys", env=environment, check=True)
        path.chmod(0o600)
        return path
    finally:
        made.run("gpgconf", "--kill", "all", env=environment)
        # The agent removes its own sockets while it ends.
        shutil.rmtree(home, ignore_errors=True)


class Apt:
    """An apt with folders and settings of its own, which reads nothing of the machine's and changes nothing there."""

    def __init__(self, folder, repository, public_key, architecture=OWN):
        self.root = folder
        for name in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d", "var/lib/apt/lists/partial",
                     "var/cache/apt/archives/partial", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log/apt", "out"):
            (folder / name).mkdir(parents=True)
        [source] = re.findall(r"(?ms)^```text\n(Types: deb\n.*?)^```", PAGE)
        for old, new in (("https://packages.example.com/", f"file:{repository}"), ("/etc/apt/keyrings/sealed-push.gpg", str(public_key))):
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        (folder / "etc/apt/sources.list.d/sealed-push.sources").write_text(source)
        # The package depends on libc6.
        (folder / "var/lib/dpkg/status").write_text(
            f"Package: libc6\nStatus: install ok installed\nArchitecture: {architecture}\nVersion: 2.36\n"
            "Maintainer: Test <test@sealed-push.example>\nDescription: a test\n")
        (folder / "apt.conf").write_text(
            f'Dir "{folder}";\nDir::State::status "{folder}/var/lib/dpkg/status";\nDir::Bin::methods "/usr/lib/apt/methods";\n'
            f'APT::Architecture "{architecture}";\nAPT::Architectures {{ "{architecture}"; }};\nAPT::Sandbox::User "";\n'
            f'Acquire::Languages "none";\nDPkg::Options {{ "--root={folder}"; "--force-not-root"; "--log=/dev/null"; }};\n'
            'DPkg::Path "";\n')

    def __call__(self, *words):
        environment = os.environ | {"APT_CONFIG": str(self.root / "apt.conf"), "LC_ALL": "C"}
        return made.run("apt-get", *words, env=environment, cwd=self.root / "out")

    def update(self):
        """Returns whether apt accepts the repository's lists, and what it says. A warning counts as a refusal."""
        result = self("update", "--error-on=any")
        return result.returncode == 0, result.stdout + result.stderr


class RepositoryTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.keys = {name: key(Path(cls.shared.name), name) for name in ("maintainer", "other")}

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.repository = self.folder / "repository"
        (self.folder / "made").mkdir()

    def make(self, architecture=OWN, **details):
        return made.deb(self.folder / "made", architecture, **details)

    def add(self, *packages, by="maintainer"):
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        result = made.run(
            "bash", made.CHECKOUT / "Scripts/apt-repository", self.repository, "--key",
            self.keys[by] if isinstance(by, str) else by, *packages, env=os.environ | {"TMPDIR": str(scratch)})
        self.assertEqual(list(scratch.iterdir()), [], "the secret key was left behind")
        return result

    def published(self, *packages):
        result = self.add(*packages)
        self.assertEqual(result.returncode, 0, result.stderr)

    def apt(self, name="apt", architecture=OWN, public_key=None):
        return Apt(self.folder / name, self.repository, public_key or self.repository / "sealed-push.gpg", architecture)

    def state(self):
        """Returns the content of all files in the repository."""
        return {str(path): path.read_bytes() for path in self.repository.rglob("*") if path.is_file()}

    def replace(self, path, old, new):
        """Changes a file of the repository without changing its size."""
        data = (self.repository / path).read_bytes()
        self.assertEqual(len(old), len(new))
        self.assertIn(old, data, path)
        (self.repository / path).write_bytes(data.replace(old, new))

    # What apt does with it

    def test_the_command_in_install_makes_a_repository(self):
        [command] = re.findall(r"(?m)^(Scripts/apt-repository .*)$", PAGE)
        self.make()
        shutil.copytree(self.folder / "made", self.folder / "dist")
        shutil.copy(self.keys["maintainer"], self.folder / "archive-key.gpg")
        result = made.run("bash", "-c", f'"{made.CHECKOUT}/"{command}', cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(self.apt().update()[0])

    def test_apt_verifies_downloads_and_installs_the_package_of_each_architecture(self):
        packages = {name: self.make(name) for name in (OWN, OTHER)}
        self.published(*packages.values())
        for name, package in packages.items():
            apt = self.apt(name, architecture=name)
            accepted, text = apt.update()
            self.assertTrue(accepted, text)
            result = apt("download", "sealed-push")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((apt.root / "out" / package.name).read_bytes(), package.read_bytes())
        apt = self.apt("installing")
        self.assertTrue(apt.update()[0])
        result = apt("install", "--yes", "sealed-push")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual((apt.root / "usr/bin/sealed-push").read_text(), f"program for {OWN}\n")

    def test_a_second_version_upgrades_the_first_which_stays_for_a_roll_back(self):
        self.published(self.make())
        apt = self.apt()
        self.assertTrue(apt.update()[0])
        self.assertEqual(apt("install", "--yes", "sealed-push").returncode, 0)
        self.published(self.make(version="1.10.0", text="newer"))
        self.assertTrue(apt.update()[0])
        self.assertEqual(apt("upgrade", "--yes").returncode, 0)
        self.assertEqual((apt.root / "usr/bin/sealed-push").read_text(), f"newer for {OWN}\n")
        result = apt("install", "--yes", "--allow-downgrades", "sealed-push=1.2.3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((apt.root / "usr/bin/sealed-push").read_text(), f"program for {OWN}\n")

    def test_apt_refuses_a_tampered_package(self):
        package = self.make()
        self.published(package)
        apt = self.apt()
        self.assertTrue(apt.update()[0])
        path = self.repository / "pool" / package.name
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        for words in (["download", "sealed-push"], ["install", "--yes", "sealed-push"]):
            result = apt(*words)
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, "Hash Sum mismatch|Hashes of|hash sum")
        self.assertFalse((apt.root / "usr/bin/sealed-push").exists())

    def test_apt_refuses_altered_lists_signatures_and_keys(self):
        package = self.make()
        self.published(package)
        good = self.folder / "good"
        shutil.copytree(self.repository, good)
        lists = f"dists/stable/main/binary-{OWN}"

        def lists_altered():
            # Only the list that apt asks for, by its hash, and those that it could fall back to.
            for path in [*(self.repository / lists).rglob("*")]:
                if path.is_file():
                    data = bytearray(path.read_bytes())
                    data[-1] ^= 1
                    path.write_bytes(data)

        def release_altered():
            for name in ("InRelease", "Release"):
                self.replace(f"dists/stable/{name}", b"Codename: stable", b"Codename: staple")

        def signature_from_another_key():
            shutil.rmtree(self.repository)
            self.assertEqual(self.add(package, by="other").returncode, 0)

        def signature_removed():
            for name in ("InRelease", "Release.gpg"):
                (self.repository / "dists/stable" / name).unlink()

        for attack in (lists_altered, release_altered, signature_from_another_key, signature_removed):
            with self.subTest(attack.__name__):
                shutil.rmtree(self.repository)
                shutil.copytree(good, self.repository)
                attack()
                apt = self.apt(attack.__name__, public_key=good / "sealed-push.gpg")
                accepted, text = apt.update()
                self.assertFalse(accepted, text)
                self.assertNotEqual(apt("install", "--yes", "sealed-push").returncode, 0)
        shutil.rmtree(self.repository)
        shutil.copytree(good, self.repository)
        self.assertTrue(self.apt("unharmed", public_key=good / "sealed-push.gpg").update()[0])

    # What the script refuses

    def test_an_altered_repository_is_not_signed_again(self):
        first, second = self.make(), self.make(version="2.0.0")
        self.published(first)
        good = self.folder / "good"
        shutil.copytree(self.repository, good)
        lists = self.repository / f"dists/stable/main/binary-{OWN}/Packages"

        def package_altered():
            (self.repository / "pool" / first.name).write_bytes(second.read_bytes())

        def package_added():
            shutil.copy(second, self.repository / "pool")

        def package_removed():
            (self.repository / "pool" / first.name).unlink()

        def list_altered():
            lists.write_text(lists.read_text() + "\n")

        def signature_altered():
            self.replace("dists/stable/InRelease", b"Codename: stable", b"Codename: staple")

        def lists_removed():
            shutil.rmtree(self.repository / "dists")

        for attack in (package_altered, package_added, package_removed, list_altered, signature_altered, lists_removed):
            with self.subTest(attack.__name__):
                shutil.rmtree(self.repository)
                shutil.copytree(good, self.repository)
                attack()
                before = self.state()
                result = self.add(second)
                self.assertEqual(result.returncode, 65)
                self.assertIn("isn't what this key signed", result.stderr)
                self.assertEqual(self.state(), before)

    def test_another_key_does_not_take_over_a_repository(self):
        self.published(self.make())
        before = self.state()
        self.assertEqual(self.add(self.make(version="2.0.0"), by="other").returncode, 65)
        self.assertEqual(self.state(), before)

    def test_a_published_version_never_changes(self):
        self.published(self.make())
        before = self.state()
        result = self.add(self.make(text="other"))
        self.assertEqual(result.returncode, 65)
        self.assertIn("Give a changed package a new version", result.stderr)
        self.assertEqual(self.state(), before)

    def test_invalid_keys_and_files_are_refused_and_nothing_is_made(self):
        package = self.make()
        exposed = self.folder / "exposed.key"
        shutil.copy(self.keys["maintainer"], exposed)
        exposed.chmod(0o640)
        two = key(self.folder, "first", "second")
        text = self.folder / "text"
        text.write_text("neither a key nor a package\n")
        text.chmod(0o600)
        for status, words, by, packages in (
            (77, "Others can read the key", exposed, [package]),
            (65, "has 2 secret keys", two, [package]),
            (65, "isn't an OpenPGP key", text, [package]),
            (65, "isn't a Debian package", "maintainer", [text]),
            (65, "isn't a package for one architecture", "maintainer", [self.make("all")]),
            (65, "without an epoch", "maintainer", [self.make(version="1:2.0.0")]),
            (64, "Usage: ", "maintainer", []),
        ):
            with self.subTest(words):
                result = self.add(*packages, by=by)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertFalse(self.repository.exists())


if __name__ == "__main__":
    unittest.main()
