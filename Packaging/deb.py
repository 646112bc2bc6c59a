"""Packs a folder as a Debian package. The same folder gives the same bytes.

The rest of the control file, such as the description, comes from standard input.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("root", type=Path, help="the package's files, with its scripts in DEBIAN")
parser.add_argument("out", type=Path, help="the folder for the package")
parser.add_argument("--package", required=True)
parser.add_argument("--version", required=True)
parser.add_argument("--architecture", required=True, help="Debian's name for it")
parser.add_argument("--maintainer", required=True)
parser.add_argument("--epoch", type=int, required=True, help="the time of all files")
parser.add_argument("--depends", required=True)
arguments = parser.parse_args()
root, control = arguments.root, arguments.root / "DEBIAN"
control.mkdir(exist_ok=True)

files = sorted(
    path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and control not in path.parents)
sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files]
(control / "md5sums").write_text("".join(sums))
size = subprocess.run(
    ["du", "-k", "-s", "--apparent-size", "--exclude=DEBIAN", root], check=True, capture_output=True, text=True).stdout
fields = {
    "Package": arguments.package, "Version": arguments.version, "Architecture": arguments.architecture,
    "Maintainer": arguments.maintainer, "Installed-Size": size.split()[0], "Depends": arguments.depends,
}
(control / "control").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()) + sys.stdin.read())
for path in [root, *root.rglob("*")]:
    os.utime(path, (arguments.epoch, arguments.epoch), follow_symlinks=False)
name = f"{arguments.package}_{arguments.version}_{arguments.architecture}.deb"
subprocess.run(
    ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, arguments.out / name], check=True,
    stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": str(arguments.epoch)})
