#!/usr/bin/env python3
"""Counts the instructions that sealing and opening take, by function, and compares them with instructions.tsv.

Usage: instructions.py PROGRAM [--update]
  PROGRAM   the built benchmark
  --update  writes the counts to instructions.tsv in place of comparing them

Counts are the same on a busy machine, unlike times. They depend on the compiler, on the C library, and on the processor's
vector instructions, so numbers from another machine may differ.
Exit status: 0 if nothing grew by more than 5 %, 1 if something did.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("instructions.tsv")
OPERATIONS = ["seal-seen", "seal-new", "open", "seal-seen-hybrid", "seal-new-hybrid", "open-hybrid"]
# The cost of an operation is the difference between a run with many and one with few.
FEW, MANY = 20, 100
GROWTH = 1.05
# A function with less than this share of its operation isn't listed.
SHARE = 0.004
WHOLE = "(all)"
# After the name of a function of this project: its cost with that of the functions it calls.
CALLS = " and what it calls"
OWN = re.compile(r"\$s\d+(SealedPush|PushCore|PushSender)")


def count(program, operation, number, folder):
    """Returns the instructions of a run, by function."""
    output = folder / f"{operation}-{number}"
    subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", program, "--repeat", operation, str(number)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"})
    costs, names, objects, library, function, is_call = collections.Counter(), {}, {}, "", "", False
    for line in output.read_text(errors="replace").splitlines():
        if match := re.match(r"c?ob=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                objects[match[1]] = match[2].rsplit("/", 1)[-1]
            library = library if line.startswith("c") else objects[match[1]]
        elif match := re.match(r"fn=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2].split("'")[0]
            function = names[match[1]]
            # A library without symbols has addresses only.
            function = f"{library} {function}" if function.startswith("0x") else function
        elif match := re.match(r"cfn=\((\d+)\) (.*)", line):
            names[match[1]] = match[2].split("'")[0]
        elif line.startswith("calls="):
            is_call = True
        elif match := re.match(r"(?:[+-]?\d+|\*)(?: (\d+))?$", line):
            # The line after a call has what the called function cost.
            if not is_call:
                costs[function] += int(match[1] or 0)
            if OWN.match(function):
                costs[function + CALLS] += int(match[1] or 0)
            is_call = False
    return costs


def measure(program, operation, folder):
    """Returns the instructions of one operation, by function, and in all."""
    few, many = (count(program, operation, number, folder) for number in (FEW, MANY))
    costs = {name: (many[name] - few[name]) / (MANY - FEW) for name in many}
    whole = sum(cost for name, cost in costs.items() if not name.endswith(CALLS))
    listed = {name: round(cost) for name, cost in costs.items() if cost >= SHARE * whole}
    return {WHOLE: round(whole), **dict(sorted(listed.items(), key=lambda item: (-item[1], item[0])))}


def plain(name):
    """Returns a function's name without Swift's encoding."""
    if not name.startswith("$s"):
        return name
    symbol = name.removesuffix(CALLS)
    result = subprocess.run(["swift", "demangle", "--simplified", "--compact", symbol], capture_output=True, text=True)
    return (result.stdout.strip() or symbol) + name[len(symbol):]


def read():
    known = collections.defaultdict(dict)
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            operation, function, number = line.split("\t")
            known[operation][function] = int(number)
    return known


def write(measured):
    lines = ["# Instructions of one operation, by function: operation, function, number. Written by Scripts/bench --quick --update."]
    for operation, costs in measured.items():
        lines += [f"{operation}\t{name}\t{number}" for name, number in costs.items()]
    TABLE.write_text("\n".join(lines) + "\n")


def compare(measured):
    """Prints what changed, and returns whether something grew."""
    known, has_grown = read(), False
    for operation, costs in measured.items():
        before, whole = known[operation], costs[WHOLE]
        old = before.get(WHOLE, 0)
        print(f"{operation}: {whole} instructions, {100 * (whole - old) / old if old else 100:+.1f} %")
        # What isn't listed took at most its share.
        least = SHARE * old
        for name, number in costs.items():
            if number > GROWTH * max(before.get(name, 0), least):
                has_grown = True
                print(f"  {plain(name)}: {before.get(name, f'at most {least:.0f}')} before, {number} now")
    return has_grown


def main():
    arguments = sys.argv[1:]
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--update"]):
        print(__doc__, file=sys.stderr)
        return 64
    with tempfile.TemporaryDirectory() as folder:
        # Debian's valgrind can't read clang's debug information.
        program = str(pathlib.Path(folder) / "program")
        subprocess.run(["objcopy", "--strip-debug", arguments[0], program], check=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda operation: measure(program, operation, pathlib.Path(folder)), OPERATIONS)
            measured = dict(zip(OPERATIONS, results))
    if arguments[1:]:
        write(measured)
        print(f"wrote {TABLE}")
        return 0
    if compare(measured):
        print("Something takes over 5 % more instructions than before. If that's on purpose, run Scripts/bench --quick "
              "--update, commit the numbers with the change, and say why.", file=sys.stderr)
        return 1
    print("nothing grew by more than 5 %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
