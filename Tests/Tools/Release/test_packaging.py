"""Tests what the packages of each architecture say about it. Run by ReleaseTests."""

import hashlib
import json
import os
import shutil
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

    def test_the_script_passes_the_architecture_to_everything_that_it_makes(self):
        """Only building, and downloading Debian's packages, are stand-ins. The programs are small ones of this machine."""
        own = made.run("dpkg", "--print-architecture").stdout.strip()
        checkout, tools, programs = (self.folder / name for name in ("checkout", "bin", "programs"))
        for name in ("Packaging", "Scripts"):
            shutil.copytree(made.CHECKOUT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        needed = ("Docs/Dependencies.md Docs/Install.md Docs/Operations.md Docs/KeyManagement.md Docs/alerts.yml Docs/dashboard.json "
                  "CHANGELOG.md .gitignore Sources/Commands/CommandSupport/Version.swift")
        for name in needed.split():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made.CHECKOUT / name, checkout / name)
        made.stand_in(checkout / "Scripts/dependencies", "")
        programs.mkdir()
        for name in ("sealedpush", "device-simulator"):
            shutil.copy("/bin/echo", programs / name)
        manual = self.folder / "generate-manual"
        made.stand_in(manual, """name=$(basename "$1"); while [ $# -gt 1 ]; do shift; done
            printf '.Dd x\\n.Dt %s 1\\n.Nm %s\\n.Nd does it\\n' "$name" "$name" >"$1/$name.1" """)
        made.stand_in(tools / "swift", f"""while [ $# -gt 1 ] && [ "$1" != --scratch-path ]; do shift; done
            mkdir -p "$2/debug" && cp '{manual}' "$2/debug" """)
        debian = self.folder / "debian"
        debian.mkdir()
        made.deb(debian, own, name="libc6")
        made.stand_in(tools / "apt-get", f"""[ "$1" = download ] || exec /usr/bin/apt-get "$@"
            printf '%s\\n' "${{@:3}}" >>'{self.folder}/downloaded'
            mkdir -p root/DEBIAN root/usr/share/ca-certificates && echo certificate >root/usr/share/ca-certificates/a.crt
            printf 'Package: ca-certificates\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@sealed-push.example>\\nDescription: a\\n' >root/DEBIAN/control
            dpkg-deb --build root ca-certificates.deb >/dev/null && rm -r root && cp '{debian}'/*.deb .""")
        for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "All")):
            made.run("git", "-c", "user.name=Test", "-c", "user.email=test@localhost", "-C", checkout, *words, check=True)
        out = self.folder / "out"
        result = made.run(
            "bash", checkout / "Scripts/package", out, "--programs", programs, "--architecture", own,
            env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        [bill] = out.glob("*.spdx.json")
        version = bill.name.split("_")[1]
        self.assertEqual({path.name for path in out.iterdir()}, {
            "SHA256SUMS", f"device-simulator_{version}_{own}.deb", f"sealed-push_{version}_{own}.deb",
            f"sealed-push_{version}_{own}.oci.tar", bill.name})
        self.assertEqual(bill.name, f"sealed-push_{version}_{own}.spdx.json")
        libraries = [package for package in json.loads(bill.read_text())["packages"] if package["SPDXID"].startswith("SPDXRef-Debian-")]
        self.assertTrue(libraries)
        for package in libraries:
            self.assertTrue(package["externalRefs"][0]["referenceLocator"].endswith(f"?arch={own}"))
        for package in out.glob("*.deb"):
            fields = made.run("dpkg-deb", "--field", package).stdout
            self.assertIn(f"\nArchitecture: {own}\n", fields)
            self.assertRegex(fields, r"\nDepends: libc6 \(>= ")
        asked = (self.folder / "downloaded").read_text().split()
        self.assertLessEqual({f"base-files:{own}", f"libc6:{own}", "ca-certificates"}, set(asked))
        with tarfile.open(out / f"sealed-push_{version}_{own}.oci.tar") as files:
            [manifest] = json.load(files.extractfile("index.json"))["manifests"]
        self.assertEqual(manifest["platform"]["architecture"], own)

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
