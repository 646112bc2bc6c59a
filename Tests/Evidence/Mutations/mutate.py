"""Creates a copy of the checkout with every fault of mutations.txt in it, and tests it with one fault enabled at a time.

Called by Scripts/mutate, which documents it. In the copy, each fault is a choice, `Mutant.is(7) ? (fault) : (original)`.
The environment variable SEALED_PUSH_MUTANT enables one, in the tests and in every process that they start. So a single
build serves all faults. With none enabled, the copy behaves like the checkout.
"""

import argparse
import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from places import STATEMENT, Sources, Wrong

LIST = Path("Tests/Evidence/Mutations/mutations.txt")
VARIABLE = "SEALED_PUSH_MUTANT"
SWITCH = """\
import Glibc

/// The enabled fault, or 0 if none is enabled.
enum Mutant {
    private static let number = getenv("%s").flatMap { Int32(String(cString: $0)) } ?? 0
    static func `is`(_ number: Int32) -> Bool { number == Self.number }
}
""" % VARIABLE


WHERE = re.compile(
    r"after (?P<after>.+)|(?P<unit>condition|result)?(?: with (?P<with>.+)|(?:^| )(?P<number>\d+) of (?P<count>\d+))?")


class Mutation:
    """One place of a fault; a fault may have several places."""

    def __init__(self, name, kind, group, owner):
        self.name, self.kind, self.group, self.owner = name, kind, group, owner
        self.where = self.original = self.replacement = self.reason = None
        self.number = 0

    def find(self, sources):
        """Sets the file, the place in it, and the fault, which is the place's text with the fault in it."""
        declaration = sources.declaration(self.owner)
        text, self.file = declaration.source.text, declaration.source.file
        where = WHERE.fullmatch(self.where or "")
        if not where:
            raise Wrong(f"unknown place: {self.where}")
        start, end = declaration.start, declaration.end
        order = (int(where["number"]), int(where["count"])) if where["count"] else (1, 1)
        if where["unit"]:
            places, what = declaration.places(where["unit"]), f"{where['unit']}s"
            if where["with"]:
                places = innermost(place for place in places if declaration.quoted(where["with"], *place))
                what += f" with {where['with']}"
            start, end = chosen(places, *order, what)
            order = (1, 1)
        elif where["after"]:
            _, start = chosen(declaration.quoted(where["after"], start, end), 1, 1, f"places of {where['after']}")[0]
        found = [((start, end), [text[start:end]])]
        if self.original is not None:
            found = declaration.quoted(self.original, start, end)[:1 if where["after"] else None]
        (first, last), parts = chosen(found, *order, f"places of {self.original}")
        self.place = (start, end) if where["unit"] else (first, last)
        if self.kind == "expression" and STATEMENT.match(text, self.place[0]):
            raise Wrong("it needs the kind statement")
        fault = filled(self.replacement, parts)
        self.fault = text[self.place[0]:first] + fault + text[last:self.place[1]]


def chosen(found, number, count, what):
    if len(found) != count:
        raise Wrong(f"there are {len(found)} {what}, not {count}")
    if not 1 <= number <= count:
        raise Wrong(f"there is no {number} of {count}")
    return found[number - 1]


def innermost(places):
    """Returns the places without those that contain others, because a closure in a condition may have conditions."""
    places = list(places)
    return [place for place in places if not any(
        place != other and place[0] <= other[0] and other[1] <= place[1] for other in places)]


def filled(replacement, parts):
    """Returns a replacement with the code for which the original's `…` stand."""
    texts = replacement.split("…")
    if len(texts) > len(parts) + 1:
        raise Wrong(f"it replaces {len(parts)} … by {len(texts) - 1}")
    return "".join(text + part for text, part in zip(texts, parts[:len(texts) - 1] + [""]))


def read_list(path):
    """Returns the groups with their filters, and the mutations."""
    groups, mutations = {}, []
    group = owner = mutation = None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        mark, _, rest = line.partition(" ")
        if mark in ("-", "+", "@", "="):
            if mutation is None:
                raise Wrong(f"line {number}: no fault precedes it")
            name = {"-": "original", "+": "replacement", "@": "where", "=": "reason"}[mark]
            before = getattr(mutation, name)
            setattr(mutation, name, rest if before is None else before + "\n" + rest)
        elif not line or line.startswith("#"):
            continue
        elif mark == "group":
            group, *filters = rest.split()
            groups[group], owner = filters, None
        elif mark == "in":
            owner = rest
        else:
            mutation = Mutation(mark, rest or "expression", group, owner)
            if mutation.kind not in ("expression", "statement", "text"):
                raise Wrong(f"line {number}: unknown kind {mutation.kind}; it must be expression, statement, or text")
            if owner is None:
                raise Wrong(f"line {number}: {mutation.name} needs an `in` line before it")
            mutations.append(mutation)
    numbers = {}
    for mutation in mutations:
        is_unit = (mutation.where or "").startswith(("condition", "result"))
        if mutation.replacement is None or mutation.original is None and not is_unit:
            raise Wrong(f"{mutation.name} has no `+` line, or neither a `-` line nor a condition or result")
        mutation.number = numbers.setdefault(mutation.name, len(numbers) + 1)
    return groups, mutations


def find_all(mutations, sources):
    """Finds all places. Reports all errors together, because one change may break several faults."""
    wrong = {}
    for mutation in mutations:
        try:
            mutation.find(sources)
        except Wrong as error:
            wrong.setdefault(f"in {mutation.owner}: {error}", []).append(mutation.name)
    if wrong:
        raise Wrong("\n".join(f"{', '.join(names)}: {error}" for error, names in wrong.items()))


def woven(text, mutations):
    """Returns a file's text with all of its faults in it."""
    places = {}
    for mutation in mutations:
        places.setdefault(mutation.place, []).append(mutation)
    # Outer places come before the inner ones that they contain.
    order = sorted(places, key=lambda place: (place[0], -place[1]))

    def weave(start, end, inner):
        result, at = "", start
        while inner:
            place = inner.pop(0)
            if place[1] > end:
                raise Wrong(f"{places[place][0].name} overlaps another fault")
            held = []
            while inner and inner[0][0] < place[1]:
                held.append(inner.pop(0))
            result += text[at:place[0]] + choice(weave(*place, held), places[place])
            at = place[1]
        return result + text[at:end]

    return weave(0, len(text), order)


def choice(original, mutations):
    kinds = {mutation.kind for mutation in mutations}
    if len(kinds) > 1:
        raise Wrong(f"{mutations[0].name} and another fault at its place differ in kind")
    for mutation in mutations:
        test = f"Mutant.is({mutation.number})"
        if mutation.kind == "expression":
            original = f"({test} ? ({mutation.fault}) : ({original}))"
        elif mutation.kind == "text":
            original = f"\\({test} ? \"{mutation.fault}\" : \"{original}\")"
        else:
            original = f"if {test} {{\n{mutation.fault}\n}} else {{\n{original}\n}}"
    return original


def find_filters(groups):
    """Checks that each alternative of each filter names a test, since a filter that also names others would still run."""
    tests = []
    for path in Path("Tests").glob("*Tests/**/*.swift"):
        suites = re.findall(r"^(?:    )?(?! ).*\b(?:struct|class|extension) (\w+)", path.read_text(), re.M)
        cases = re.findall(r"^    .*\bfunc (\w+)", path.read_text(), re.M)
        tests += [f"{path.parts[1]}.{suite}/{case}" for suite in suites for case in cases]
    every = "\n".join(tests)
    wrong = []
    for group, filters in groups.items():
        for text in filters:
            before, opening, rest = text.partition("(")
            names, _, after = rest.partition(")")
            wrong += [
                f"group {group}: no test matches {before}{name}{after}" for name in names.split("|")
                if not re.search(f"{before}{name}{after}", every, re.M)]
    if wrong:
        raise Wrong("\n".join(wrong))


def write_copy(folder, mutations):
    """Writes only the files that changed, so that the next build is short."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True,
        text=True).stdout.split("\0")
    wanted = {name: None for name in names if name and os.path.lexists(name)}
    wanted["Package.resolved"] = None
    by_file = {}
    for mutation in mutations:
        by_file.setdefault(mutation.file, []).append(mutation)
    for file, own in by_file.items():
        wanted[file] = woven(Path(file).read_text(), own)
        wanted[str(Path(*Path(file).parts[:3]) / "Mutant.swift")] = SWITCH
    for name, text in wanted.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            if not os.path.exists(name):
                continue
            if os.path.islink(name) or not target.exists() or target.read_bytes() != Path(name).read_bytes():
                target.unlink(missing_ok=True)
                shutil.copy2(name, target, follow_symlinks=False)
                if not target.is_symlink():
                    os.utime(target)
        elif not target.exists() or target.read_text() != text:
            target.write_text(text)
    for place in ("Sources", "Tests"):
        for file in (folder / place).rglob("*"):
            if file.is_file() and str(file.relative_to(folder)) not in wanted:
                file.unlink()


def end(process, scratch):
    """Kills the tests and every process that they started, which all have the tests' TMPDIR in their environment."""
    mark = f"TMPDIR={scratch}".encode()
    for _ in range(2):
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                continue
    process.wait()


def tests(filters):
    """Returns the command that runs these tests, and what its lines say: a test that failed, and how many ran."""
    return (
        [".build/debug/sealed-pushPackageTests.xctest", "--testing-library", "swift-testing", "--filter", filters],
        re.compile(r"✘ Test (.*?) recorded an issue(?:.*? at (\S+?:\d+))?"), re.compile(r"Test run with (\d+) test"))


def worlds(seconds):
    """Returns the command that runs worlds for some time, and what its lines say: a promise that was broken, and how many ran."""
    return (
        [".build/release/worlds", "1", "--seconds", str(seconds), "--no-shrinking"], re.compile(r"^  broken: (.*)"),
        re.compile(r"^(\d+) worlds"))


def run(folder, number, commands, limit):
    """Runs tests or worlds until one fails. Returns why they ended, or None if all passed."""
    command, failure, counted = commands
    scratch = tempfile.mkdtemp(prefix="m", dir="/tmp")
    # Like /tmp itself, because some tests check what other users may do there.
    os.chmod(scratch, 0o1777)
    environment = dict(
        os.environ, TMPDIR=scratch, SWT_SWIFT_ERROR_BACKTRACING_ENABLED="0", SWIFT_BACKTRACE="enable=no", NO_COLOR="1")
    environment.pop(VARIABLE, None)
    if number:
        environment[VARIABLE] = str(number)
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    is_late = threading.Event()

    def stop():
        is_late.set()
        end(process, scratch)

    alarm = threading.Timer(limit, stop)
    alarm.start()
    answer, count = None, 0
    try:
        for line in process.stdout:
            line = line.decode(errors="replace")
            failed = failure.search(line)
            if failed:
                answer = " ".join(word for word in failed.groups() if word)
                break
            ran = counted.search(line)
            count = int(ran[1]) if ran else count
        status = process.wait() if not answer else 1
        if is_late.is_set():
            answer = "time limit exceeded"
        elif not answer and status != 0:
            answer = f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"
        elif not answer and count == 0:
            raise Wrong(f"nothing ran: {' '.join(command)}")
        return answer
    finally:
        alarm.cancel()
        end(process, scratch)
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(f"/dev/shm/sealed-push-worlds-{process.pid}", ignore_errors=True)


def sample(mutations, count, seed):
    """Returns this many of the mutations, in their order, and prints the seed that chose them."""
    seed = random.randrange(1_000_000) if seed is None else seed
    numbers = sorted(random.Random(seed).sample(range(len(mutations)), min(count, len(mutations))))
    print(f"== {len(numbers)} of {len(mutations)} faults, chosen by --seed {seed}", flush=True)
    return [mutations[number] for number in numbers]


def linked(folder, mutations):
    """Returns the mutations in modules that the worlds consist of."""
    objects = (folder / ".build/release/worlds.product/Objects.LinkFileList").read_text()
    modules = set(re.findall(r"/(\w+)\.build/", objects))
    return [mutation for mutation in mutations if Path(mutation.file).parts[2] in modules]


def run_worlds(folder, chosen, options):
    """Prints which faults the worlds find, and how many of each group. One that they miss isn't an error: tests find it."""
    command, limit = worlds(options.worlds), 300 + 2 * options.worlds
    effective = [mutation for mutation in chosen if not mutation.reason]
    inside = linked(folder, effective)
    print(f"{len(effective) - len(inside)} of {len(effective)} faults are in modules that aren't part of the worlds")
    if options.sample:
        inside = sample(inside, options.sample, options.seed)
    failure = run(folder, 0, command, limit)
    if failure:
        print(f"the worlds fail without a fault: {failure}")
        return 1
    found, all_of = {}, {}

    def judge(mutation):
        start = time.monotonic()
        return mutation, run(folder, mutation.number, command, limit), time.monotonic() - start

    print(f"== one fault at a time, {options.worlds} seconds of worlds each", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutation, failure, seconds in pool.map(judge, inside):
            all_of[mutation.group] = all_of.get(mutation.group, 0) + 1
            if failure:
                found[mutation.group] = found.get(mutation.group, 0) + 1
                print(f"found     {mutation.name} ({mutation.group}) after {seconds:.1f} s: {failure}", flush=True)
            else:
                print(f"missed    {mutation.name} ({mutation.group})", flush=True)
    print("== result")
    for group, count in all_of.items():
        print(f"{group}: {found.get(group, 0)} of {count} found")
    print(f"{sum(found.values())} of {sum(all_of.values())} faults found")
    return 0


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path(".build/mutants"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worlds", type=int)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()

    groups, mutations = read_list(LIST)
    known = {mutation.name: mutation for mutation in mutations}
    unknown = [name for name in options.names if name not in known and name not in groups]
    if unknown:
        raise Wrong(f"neither a fault nor a group in {LIST}: {' '.join(unknown)}")
    find_filters(groups)
    find_all(mutations, Sources("Sources"))
    files = {mutation.file for mutation in mutations}
    for file in files:
        woven(Path(file).read_text(), [mutation for mutation in mutations if mutation.file == file])
    print(f"{len(known)} faults in {len(files)} files")
    if options.check:
        return 0

    folder = options.folder.absolute()
    write_copy(folder, mutations)
    print("== build", flush=True)
    # The worlds need no tests, and run several times as many operations in a release build.
    what = ["-c", "release", "--product", "worlds"] if options.worlds else ["--build-tests"]
    subprocess.run(
        ["swift", "build", "--package-path", str(folder), "--disable-index-store", *what, "--quiet"], check=True)
    if options.build:
        return 0

    chosen = [
        mutation for mutation in known.values()
        if not options.names or mutation.name in options.names or mutation.group in options.names]
    if options.worlds:
        return run_worlds(folder, chosen, options)
    if options.sample:
        chosen = sample(chosen, options.sample, options.seed)
    print("== without a fault", flush=True)
    limits = {}
    for group in dict.fromkeys(mutation.group for mutation in chosen):
        for filters in groups[group]:
            if filters in limits:
                continue
            start = time.monotonic()
            failure = run(folder, 0, tests(filters), 3_600)
            if failure:
                print(f"{filters} fails without a fault: {failure}")
                return 1
            # A test that waits gives up and fails by itself after five minutes.
            limits[filters] = 400 + 4 * (time.monotonic() - start)
            print(f"{filters}: passed in {time.monotonic() - start:.0f} s", flush=True)

    def judge(mutation):
        for filters in groups[mutation.group]:
            failure = run(folder, mutation.number, tests(filters), limits[filters])
            if failure:
                return mutation, failure
        return mutation, None

    print("== one fault at a time", flush=True)
    caught, argued, survived, surprises = 0, [], [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutation, failure in pool.map(judge, chosen):
            if failure:
                caught += 1
                print(f"caught    {mutation.name}: {failure}", flush=True)
                if mutation.reason:
                    surprises.append(mutation.name)
            elif mutation.reason:
                argued.append(mutation.name)
                print(f"argued    {mutation.name}: {mutation.reason}", flush=True)
            else:
                survived.append(mutation.name)
                print(f"SURVIVED  {mutation.name}", flush=True)
    print("== result")
    for name in surprises:
        print(f"{name} was caught, although it is argued to change nothing")
    for name in survived:
        print(f"{name} survived")
    print(f"{len(chosen)} faults: {caught} caught, {len(argued)} argued to change nothing, {len(survived)} survived")
    return 1 if survived or surprises else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"mutate: {wrong}")
