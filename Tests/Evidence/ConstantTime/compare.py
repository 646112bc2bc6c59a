"""Compares memcheck's reports with allowed.txt. Called by Scripts/special/constant-time: compare.py LOG [--list].

Exit status 1: a report is not allowed, or an allowed one is missing.
"""

import re
import subprocess
import sys
from pathlib import Path


def read_reports(log):
    """Returns each report as its kind and its functions with their files, innermost first."""
    text = re.sub(r"(?m)^==\d+== ?", "", log.read_text(errors="replace"))
    names = subprocess.run(["swift", "demangle", "-compact", "-simplified"], input=text, check=True, capture_output=True,
                           text=True).stdout
    reports = []
    for part in re.split(r"\n\s*\n", names):
        frames = re.findall(r"(?m)^ +(?:at|by) 0x[0-9A-F]+: (.*)$", part)
        kind = re.search(r"(?m)^(Conditional|Use|Syscall|Invalid|Jump|Process|Source)[^\n]*", part)
        if frames and kind:
            reports.append((kind[0], frames))
    return reports


def read_rules(path):
    """Returns the allowed reports: each is a function and some of its direct or indirect callers."""
    return [
        [part.strip() for part in line.split(" < ")] for line in path.read_text().split("\n")
        if line and not line.startswith("#")]


def fits(rule, frames):
    others = iter(frames[1:])
    return rule[0] in frames[0] and all(any(part in frame for frame in others) for part in rule[1:])


def main():
    log, wants_list = Path(sys.argv[1]), "--list" in sys.argv
    reports, rules = read_reports(log), read_rules(Path(__file__).parent / "allowed.txt")
    if wants_list:
        for kind, frames in reports:
            print(kind, *frames, "", sep="\n  ")
        return 0
    used, foreign = set(), []
    for kind, frames in reports:
        rule = next((number for number, rule in enumerate(rules) if fits(rule, frames)), None)
        if rule is None:
            foreign.append((kind, frames))
        else:
            used.add(rule)
    for kind, frames in foreign:
        print(kind, *frames, "", sep="\n  ")
    unused = [rule for number, rule in enumerate(rules) if number not in used]
    for rule in unused:
        print("allowed but no longer reported:", " < ".join(rule))
    print(f"{len(reports)} places reported, {len(foreign)} of them not allowed")
    return 1 if foreign or unused or not reports else 0


sys.exit(main())
