"""Makes small packages with the tools that Scripts/package uses, without building a program."""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
PACKAGING = CHECKOUT / "Packaging"
EPOCH = 1_700_000_000
COMMIT = "0123456789ab"
# A machine's own, and one that it probably isn't.
ARCHITECTURES = sorted({
    "arm64", "amd64", subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()})


def run(*words, **options):
    """Runs a program to its end, and returns its result, also if it failed."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)


def deb(out, architecture, version="1.2.3", name="sealed-push", text="program"):
    """Makes a Debian package in a folder, and returns its path."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        (root / "usr/bin").mkdir(parents=True)
        for path in (root, root / "usr", root / "usr/bin"):
            path.chmod(0o755)
        program = root / "usr/bin" / name
        program.write_text(f"{text} for {architecture}\n")
        program.chmod(0o755)
        (root / "usr/bin/link").symlink_to(name)
        result = run(
            sys.executable, "-B", PACKAGING / "deb.py", root, out, "--package", name, "--version", version,
            "--architecture", architecture, "--maintainer", "Test <test@sealed-push.example>", "--epoch", EPOCH,
            "--depends", "libc6", input="Section: net\nPriority: optional\nDescription: a test\n Only a test.\n")
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    return Path(out) / f"{name}_{version}_{architecture}.deb"


def image(out, architecture, version="1.2.3"):
    """Makes a container image in a folder, and returns its path."""
    path = Path(out) / f"sealed-push_{version}_{architecture}.oci.tar"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "usr").mkdir()
        result = run(
            sys.executable, "-B", PACKAGING / "image.py", folder, path, "--version", version, "--commit", COMMIT,
            "--epoch", EPOCH, "--architecture", architecture, "--user", 10001)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    return path


def bill(out, architecture, version="1.2.3", commit=COMMIT):
    """Writes a bill of materials into a folder, and returns its path."""
    path = Path(out) / f"sealed-push_{version}_{architecture}.spdx.json"
    result = run(
        sys.executable, "-B", PACKAGING / "sbom.py", CHECKOUT / "Docs/Dependencies.md", "--version", version, "--commit",
        commit, "--epoch", EPOCH, "--architecture", architecture, input="sealed-push libc6 2.36-9\n")
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    path.write_text(result.stdout)
    return path


def blob(archive, digest):
    """Returns the bytes of an image's blob."""
    with tarfile.open(archive) as files:
        return files.extractfile("blobs/sha256/" + digest.removeprefix("sha256:")).read()


def stand_in(path, script):
    """Writes a program from a shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{script}\n")
    path.chmod(0o755)


def packages(out, architecture, version="1.2.3", commit=COMMIT):
    """Fills a folder with what Scripts/package makes, with its checksums."""
    Path(out).mkdir()
    for name in ("sealed-push", "device-simulator"):
        deb(out, architecture, version, name)
    image(out, architecture, version)
    bill(out, architecture, version, commit)
    run("sh", "-c", "sha256sum -- * >../sums && mv ../sums SHA256SUMS", cwd=out, check=True)
    return Path(out)
