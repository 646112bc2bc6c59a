"""Writes the software bill of materials of both packages as SPDX 2.3 JSON, to standard output.

The Swift packages and their versions come from Docs/Dependencies.md, which Scripts/dependencies has compared with the build.
The Debian libraries come from standard input: one line for each, `PROGRAM LIBRARY VERSION`.
"""

import argparse
import json
import re
import sys
from datetime import datetime, timezone

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("dependencies", help="Docs/Dependencies.md")
parser.add_argument("--version", required=True)
parser.add_argument("--commit", required=True)
parser.add_argument("--epoch", type=int, required=True, help="the commit's time")
parser.add_argument("--architecture", required=True, help="Debian's name for it")
arguments = parser.parse_args()
text = open(arguments.dependencies, encoding="utf-8").read()
packages, relationships = [], []


def table(heading):
    """Returns the cells of each row under a heading."""
    part = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [row.strip("|").split("|") for row in part.splitlines() if row.startswith("|")][2:]


def identifier(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def add(kind, name, version, license="NOASSERTION", url="NOASSERTION", purl=None):
    entry = {
        "SPDXID": identifier(kind, name), "name": name, "versionInfo": version, "downloadLocation": url,
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license,
        "copyrightText": "NOASSERTION",
    }
    if purl:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    packages.append(entry)
    return entry["SPDXID"]


def relate(element, kind, other):
    relationships.append({"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other})


programs = [add("Program", name, arguments.version, license="NONE") for name in ("sealed-push", "device-simulator")]
for program in programs:
    relate("SPDXRef-DOCUMENT", "DESCRIBES", program)

# The runtime exception, which the page marks with +, is named Swift-exception in SPDX.
runtime = re.search(r"Built with Swift ([0-9.]*[0-9])", text)[1]
swift = [["[swift](https://github.com/swiftlang/swift)", runtime, "Apache-2.0+", ""]]
for link, version, license, purpose in swift + table("Swift packages"):
    name, url = re.fullmatch(r"\[(.*)\]\((.*)\)", link).groups()
    license = re.sub(r"\+$", " WITH Swift-exception", license)
    location = f"git+{url}.git@{'swift-' + version + '-RELEASE' if name == 'swift' else version}"
    package = add("Swift", name, version, license, location, f"pkg:swift/{url.removeprefix('https://')}@{version}")
    if "not built" in purpose or "on Apple's systems" in purpose:
        packages[-1]["comment"] = f"Not part of the programs: {purpose}"
        continue
    for program in programs:
        relate(program, "STATIC_LINK", package)

known = set()
for line in sorted(sys.stdin):
    program, name, version = line.split()
    if name not in known:
        add("Debian", name, version, purl=f"pkg:deb/debian/{name}@{version}?arch={arguments.architecture}")
    known.add(name)
    relate(identifier("Program", program), "DYNAMIC_LINK", identifier("Debian", name))

json.dump({
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
    "name": f"sealed-push-{arguments.version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/sealed-push-{arguments.version}-{arguments.commit}",
    "creationInfo": {
        "created": datetime.fromtimestamp(arguments.epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "creators": ["Tool: sealed-push-Scripts-package"],
    },
    "packages": packages, "relationships": relationships,
}, sys.stdout, indent=1)
print()
