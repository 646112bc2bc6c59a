"""Tests what the packages of each architecture say about it. Run by ReleaseTests."""

import hashlib
import json
import tarfile
import tempfile
import unittest
from pathlib import Path

import made


class PackagingTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_packages_control_fields_and_checksums_are_those_of_its_architecture(self):
        self.assertGreaterEqual(len(made.ARCHITECTURES), 2)
        for architecture in made.ARCHITECTURES:
            package = made.deb(self.folder, architecture)
            fields = made.run("dpkg-deb", "--field", package).stdout
            for line in ("Package: sealed-push", "Version: 1.2.3", f"Architecture: {architecture}", "Depends: libc6",
                         "Section: net", " Only a test."):
                self.assertIn(line, fields.split("\n"))
            self.assertRegex(fields, r"(?m)^Installed-Size: [1-9][0-9]*$")
            root = self.folder / architecture
            made.run("dpkg-deb", "--raw-extract", package, root)
            sums = (root / "DEBIAN/md5sums").read_text()
            program = (root / "usr/bin/sealed-push").read_bytes()
            self.assertEqual(sums, f"{hashlib.md5(program).hexdigest()}  usr/bin/sealed-push\n")
            first = package.read_bytes()
            self.assertEqual(made.deb(self.folder, architecture).read_bytes(), first)

    def test_an_image_states_its_architecture_in_its_configuration_and_in_its_index(self):
        for architecture in made.ARCHITECTURES:
            archive = made.image(self.folder, architecture)
            with tarfile.open(archive) as files:
                index = json.load(files.extractfile("index.json"))
            [manifest] = index["manifests"]
            self.assertEqual(manifest["platform"], {"architecture": architecture, "os": "linux"})
            config = json.loads(made.blob(archive, manifest["digest"]))["config"]
            self.assertEqual(json.loads(made.blob(archive, config["digest"]))["architecture"], architecture)

    def test_a_bill_of_materials_names_no_other_architecture(self):
        for architecture in made.ARCHITECTURES:
            text = made.bill(self.folder, architecture).read_text()
            self.assertIn(f"pkg:deb/debian/libc6@2.36-9?arch={architecture}", text)
            for other in made.ARCHITECTURES:
                self.assertEqual(other in text, other == architecture)

    def test_an_architecture_that_this_machine_cannot_build_or_debian_does_not_know_is_refused(self):
        own = made.run("dpkg", "--print-architecture").stdout.strip()
        other = next(name for name in made.ARCHITECTURES if name != own)
        script = made.CHECKOUT / "Scripts/package"
        result = made.run("bash", script, self.folder / "a", "--architecture", other)
        self.assertEqual(result.returncode, 69)
        self.assertIn(f"which isn't {other}", result.stderr)
        result = made.run("bash", script, self.folder / "b", "--architecture", "no-such", "--programs", self.folder)
        self.assertEqual(result.returncode, 64)
        self.assertIn("no architecture no-such", result.stderr)
        self.assertEqual(made.run("bash", script, "--architecture", "../a").returncode, 64)


if __name__ == "__main__":
    unittest.main()
