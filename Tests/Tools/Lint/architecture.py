"""Rules for the structure of Sources: which module may import which, and what only one place may do."""

import plistlib
import re

# The modules that each of our modules may import, besides PushCore, SealedPush, Foundation, and the C library.
ALLOWED = {
    "Core/PushCore": "Clibsodium Crypto",
    "Core/SealedPush": "",
    "Device/PushService": "UserNotifications Intents Security Dispatch FoundationNetworking",
    "Device/PushApp": "PushService UserNotifications Intents Security UIKit AppKit BackgroundTasks Observation",
    # The only one that imports both device and server modules, for an app's tests.
    "Device/PushServiceTesting": "PushApp PushService PushSender UserNotifications Dispatch",
    "Device/PushCharts": "PushService Ccairo CoreGraphics CoreText ImageIO",
    "Server/PushSender": "",
    "Server/PushKeyring": "PushSender",
    "Server/PushOutbox": "PushSender GRDB",
    "Server/PushPostgres": "PushSender PushOutbox Clibpq Dispatch",
    "Server/PushAPNs":
        "PushSender NIOCore NIOPosix NIOTLS NIOSSL NIOHTTP1 NIOHTTP2 NIOHPACK NIOExtras JWTKit Crypto Logging Metrics "
        "ServiceLifecycle",
    "Server/PushHTTP":
        "PushSender PushOutbox Hummingbird HummingbirdCore HummingbirdTLS HTTPTypes NIOCore NIOPosix NIOTLS NIOHTTP1 "
        "NIOHTTPTypes NIOSSL Logging CoreMetrics ServiceLifecycle",
    "Simulator/UserNotifications": "",
    "Simulator/PushSimulator": "PushService UserNotifications Dispatch Ccurl",
    "Simulator/SimulatedAPNs":
        "PushService PushSimulator UserNotifications Dispatch NIOCore NIOPosix NIOTLS NIOSSL NIOHTTP2 NIOHPACK "
        "Hummingbird HTTPTypes Logging X509 SwiftASN1 Crypto",
    "Commands/CommandSupport": "PushKeyring ArgumentParser Dispatch",
    "Commands/SealedPushCommand":
        "CommandSupport PushSender PushKeyring PushOutbox PushPostgres PushAPNs PushHTTP ArgumentParser Clibqrencode "
        "Logging Metrics Dispatch",
    "Commands/device-simulator":
        "CommandSupport PushKeyring PushService PushSimulator SimulatedAPNs Cpangocairo ArgumentParser Dispatch",
}
CORE = {"Core/PushCore": set(), "Core/SealedPush": {"PushCore"}}
SYSTEM = {"Foundation", "FoundationEssentials", "Darwin", "Glibc", "os"}
IMPORT = re.compile(r"^(?:public |package |internal |@testable )?import (\S+)$", re.MULTILINE)


def swift(tree, folder="Sources"):
    return tree.files(folder, ".swift")


def imports(tree):
    """Every file imports only the modules that its target may."""
    for path, text in swift(tree):
        target = "/".join(path.split("/")[1:3])
        if target not in ALLOWED:
            yield path, "Tests/Tools/Lint/architecture.py doesn't say what its module may import"
            continue
        allowed = set(ALLOWED[target].split()) | CORE.get(target, {"PushCore", "SealedPush"}) | SYSTEM
        for module in IMPORT.findall(text):
            if module not in allowed:
                yield path, f"may not import {module}"


def libsodium(tree):
    """Only PushCore imports libsodium, and no file that does imports Foundation."""
    for path, text in swift(tree):
        modules = IMPORT.findall(text)
        if "Clibsodium" in modules:
            if not path.startswith("Sources/Core/PushCore/"):
                yield path, "only PushCore may import libsodium"
            if any(module.startswith("Foundation") for module in modules):
                yield path, "a file that imports libsodium may not import Foundation"


def algorithms(tree):
    """Outside PushCore, only the files that define suites and keys name algorithms."""
    for path, text in swift(tree):
        if "/PushCore/" not in path and not path.endswith(("/Suite.swift", "/KeyAlgorithm.swift", "/KeyPolicy.swift")):
            for word in re.findall(r"X25519[A-Z.(]|\.x25519|SealedBox", text):
                yield path, f"only Suite, KeyAlgorithm, and KeyPolicy may name an algorithm: {word}"


def downloads(tree):
    """Modules that an app links don't use libcurl, and can't bypass the rules for downloads."""
    simulator = re.compile(r"#if DEBUG && targetEnvironment\(simulator\)\n(?:.*\n)*?    #endif\n")
    for target in ("Device/PushService", "Device/PushApp", "Device/PushCharts"):
        for path, text in swift(tree, f"Sources/{target}"):
            for word in ("allowsLoopback", "Ccurl"):
                if word in text:
                    yield path, f"a module that an app links may not contain {word}"
            # The default is the only implementation, except in a debug build for Apple's Simulator.
            for line in simulator.sub("", text).split("\n"):
                if "func exempts(" in line and "{" in line and not line.endswith("{ false }"):
                    yield path, f"may not exempt an address: {line.strip()}"
    manifest = re.search(r'module\("Device/PushService"[^)]*', tree.texts.get("Package.swift", ""))
    if manifest and "curl" in manifest[0].lower():
        yield "Package.swift", "PushService may not depend on libcurl"


def reasons(tree):
    """One file lists Apple's reasons for rejecting a push. Only the transport that talks to Apple knows them."""
    place = "Sources/Server/PushAPNs/APNsReason.swift"
    known = set(re.findall(r'"([A-Z][A-Za-z]+)"', tree.texts.get(place, "")))
    if known and "BadDeviceToken" not in known:
        yield place, "this rule no longer finds Apple's reasons there"
    for path, text in swift(tree):
        # The local APNs has a list of its own, so that it tests this one.
        if path != place and not path.startswith("Sources/Simulator/SimulatedAPNs/"):
            for word in sorted(known & set(re.findall(r'"([A-Za-z]+)"', text))):
                yield path, f"write Apple's reason {word} as an APNsReason"
    long = {word for word in known if re.match("[A-Z][a-z]+[A-Z]", word)}
    for target in ("PushSender", "PushOutbox", "PushPostgres", "PushHTTP"):
        for path, text in swift(tree, f"Sources/Server/{target}"):
            for word in sorted(long & set(re.findall(r"[A-Za-z]+", text))):
                yield path, f"only PushAPNs may name Apple's reason {word}"


ADVICE = {"gone": "drop", "addressRefused": "drop", "later": "wait", "change": "change", "stop": "fix keys"}


def answers(tree):
    """Operations.md 9 has a row for each of Apple's reasons, with the advice that follows from its verdict."""
    text = tree.texts.get("Sources/Server/PushAPNs/APNsReason.swift", "")
    page = tree.texts.get("Docs/Operations.md", "")
    names = dict(re.findall(r'static let (\w+) = APNsReason\(rawValue: "(\w+)"\)', text))
    section = page.partition("\n## 9 ")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| [\d, ]+ \| ([^|]*`[^|]*) \| ([^|]*) \|", section)
    documented = {reason: advice for reasons, advice in rows for reason in re.findall(r"`(\w+)`", reasons)}
    expected = {
        # A push that waits for the operator to correct a mistake has a suspicion.
        names.get(name): "fix keys" if verdict == "later" and "suspicion" in more else ADVICE.get(verdict)
        for name, verdict, more in re.findall(r"(?m)^ +\.(\w+): Meaning\(verdict: \.(\w+)(.*)\),$", text)}
    for reason in sorted({*names.values(), *documented, *filter(None, expected)}):
        if not documented.get(reason) == expected.get(reason) is not None:
            yield "Docs/Operations.md", f"9 and APNsReason.swift differ about {reason}"


def codes(tree):
    """Only two tables list every reason code, one for each end, so that a new code is one line in each."""
    place = "Sources/Core/SealedPush/Opening/OpenError.swift"
    known = set(re.findall(r"^    case (\w+)", tree.texts.get(place, ""), re.MULTILINE))
    for path, text in swift(tree):
        listed = {name for line in re.findall(r"\bcase ((?:\.\w+,?\s*)+):", text) for name in re.findall(r"\w+", line)}
        if known and known <= listed and path not in (place, "Sources/Commands/SealedPushCommand/Doctor/ReasonWords.swift"):
            yield path, "only OpenError.facts and ReasonWords may list every reason code"


def commands(tree):
    """Only the programs name commands or options; libraries don't."""
    # `sealedpush keys …`, a subcommand alone, and an option.
    typed = re.compile(r'sealedpush |`(keys|trust|device|outbox|receipts) |(^|[ "`(])--[a-z]')
    for path, text in swift(tree):
        if path.startswith("Sources/Commands/"):
            continue
        for line in text.split("\n"):
            # A library may use #error, which is for those who build without the trait.
            if not line.lstrip().startswith(("//", "#error")):
                for literal in re.findall(r'"(?:[^"\\]|\\.)*"', line):
                    if typed.search(literal):
                        yield path, f"a library may not name a command or an option: {literal}"


APPS = ["Core/PushCore", "Core/SealedPush", "Server/PushSender", "Server/PushKeyring", "Device/PushService",
        "Device/PushApp", "Device/PushCharts"]
TIMES = re.compile(r"\b[lf]?stat(at)?\(|\.(modification|creation|contentModification)Date")
OTHER_REASONS = re.compile(
    r"UserDefaults|systemUptime|mach_absolute_time|statv?fs\(|activeInputModes|volumeAvailableCapacity")


def privacy(tree):
    """Each module that an app links has a privacy manifest if it reads file timestamps; none uses another such API."""
    for target in APPS:
        folder = f"Sources/{target}"
        name = f"{folder}/PrivacyInfo.xcprivacy"
        files = list(swift(tree, folder))
        reads = any(TIMES.search(text) for _, text in files)
        declared = re.search(f'module\\("{target}"[^)]*privacy: true', tree.texts.get("Package.swift", ""))
        if reads != (name in tree.texts) or reads != bool(declared):
            yield name, "it must exist, and Package.swift must name it, exactly if the module reads file timestamps"
        elif reads:
            kinds = plistlib.loads(tree.texts[name].encode()).get("NSPrivacyAccessedAPITypes")
            if kinds != [{
                "NSPrivacyAccessedAPIType": "NSPrivacyAccessedAPICategoryFileTimestamp",
                "NSPrivacyAccessedAPITypeReasons": ["C617.1"],
            }]:
                yield name, "it must declare file timestamps for the reason C617.1, and nothing else"
        for path, text in files:
            for match in OTHER_REASONS.finditer(text):
                yield path, f"the privacy manifest doesn't declare {match[0]}"


def syncing(tree):
    """Only DurableFiles syncs files, because Apple's systems need more than fsync(2)."""
    for path, text in swift(tree):
        if re.search(r"\bf(data)?sync\(|F_(FULL|BARRIER)FSYNC", text) and not path.endswith("/DurableFiles.swift"):
            yield path, "only DurableFiles may sync a file"


SHARED = ["Support", "Evidence/Soak", "Evidence/HostileBenchmark"]


def testable(tree):
    """Shared test code needs no testable imports, so that it also builds for release."""
    for folder in SHARED:
        for path, text in swift(tree, f"Tests/{folder}"):
            if "@testable" in text:
                yield path, "a release build can't import a module as testable"


# Families that are read together: the roles of keys; the secrets of a keyring, which lend each other their bytes; a
# program's arguments; and the stand-in for Apple's module, whose files are Apple's headers.
FAMILIES = re.compile(r"/KeyRole\.swift$|/KeyringSecret\.swift$|/Arguments\.swift$|/UserNotifications/")
TYPE = re.compile(r"^(public |package |open )(?:final |indirect )*(?:struct|class|enum|protocol|actor) (\w+)", re.MULTILINE)


def homes(tree):
    """A public type, and a package type that another file uses, is in a file named after it."""
    words = {path: set(re.findall(r"\w+", re.sub(r"(?m)^\s*//.*$", "", text))) for path, text in swift(tree)}
    for path, text in swift(tree):
        if FAMILIES.search(path):
            continue
        for access, name in TYPE.findall(text):
            stem = path.rpartition("/")[2].removesuffix(".swift").partition("+")[0]
            if stem != name and (
                    access != "package " or any(name in words[other] for other in words if other != path)):
                yield path, f"{name} has users elsewhere, so it needs a file of its own, {name}.swift"


CASES = re.compile(r"^( *)public (?:indirect )?enum (\w+)[^{\n]*\{(.*)\n((?:.*\n)*?)\1\}$", re.MULTILINE)


def cases(tree):
    """Each case of a public enum has a line and a sentence of its own."""
    for path, text in swift(tree):
        for match in re.finditer(r"^ *public (?:indirect )?enum (\w+).*\{ case ", text, re.MULTILINE):
            yield path, f"the cases of {match[1]} need lines and documentation of their own"
        for indent, name, _, body in CASES.findall(text):
            lines = body.split("\n")
            for before, line in zip([""] + lines, lines):
                if not line.startswith(f"{indent}    case "):
                    continue
                if not before.lstrip().startswith("///"):
                    yield path, f"{name} has a case without documentation: {line.strip()}"
                elif "," in re.sub(r"\(.*\)|\"[^\"]*\"", "", line):
                    yield path, f"{name} has several cases in a line: {line.strip()}"


OPEN = ("Sources/Core/", "Sources/Device/", "Sources/Server/")


def errors(tree):
    """A public error may gain a case without breaking an app's source, from Swift 6.3 on."""
    attribute = "#if hasAttribute(nonexhaustive)\n@nonexhaustive\n#endif\n"
    for path, text in swift(tree):
        if path.startswith(OPEN):
            for match in re.finditer(r"^public enum (\w+): .*Error\b.*\{$", text, re.MULTILINE):
                if not text[:match.start()].endswith(attribute):
                    yield path, f"{match[1]} must be nonexhaustive, as the other errors are"


def sentences(tree):
    """A public error describes itself in a sentence."""
    conforming = set()
    for _, text in swift(tree):
        conforming |= set(re.findall(r"^extension (?:\w+\.)?(\w+): .*CustomStringConvertible", text, re.MULTILINE))
    for path, text in swift(tree):
        if path.startswith(OPEN):
            for match in re.finditer(r"^ *public (?:enum|struct) (\w+): (.*Error\b.*)\{$", text, re.MULTILINE):
                if "CustomStringConvertible" not in match[2] and match[1] not in conforming:
                    yield path, f"{match[1]} needs a description of one sentence"


def products(tree):
    """A library product has public declarations."""
    for name in re.findall(r'\bproduct\("(\w+)"\)', tree.texts.get("Package.swift", "")):
        if not any(f"/{name}/" in path and re.search(r"^ *public (?!import)", text, re.MULTILINE)
                   for path, text in swift(tree)):
            yield "Package.swift", f"{name} has no public declaration, so it isn't a product"


def sizes(tree):
    """No source file has more than 600 lines."""
    for path, text in swift(tree):
        count = text.rstrip("\n").count("\n") + 1
        if count > 600:
            yield path, f"{count} lines; a file may have 600"


def leftovers(tree):
    """Each trap in Sources has a message, and no to-do is left."""
    for path, text in swift(tree):
        for word in re.findall(r"TODO|FIXME|XXX:|try!|as! |fatalError\(", text):
            yield path, f"contains {word}"


def machines(tree):
    """Scripts get the machine's architecture from dpkg or as an option, so that they run on every one."""
    for folder in ("Scripts", "Packaging"):
        for path, text in tree.files(folder):
            for word in re.findall(r"(?i)amd64|x86[-_]?64|\bx64\b|i[3-6]86|arm64|aarch64", text):
                yield path, f"names an architecture: {word}"


NUMBERS = {
    "Sources/Commands/CommandSupport/Version.swift": r'let number = "([^"]*)"',
    "Clients/Node/package.json": r'"version": "([^"]*)"',
    "Clients/Python/src/sealed_push/__init__.py": r'(?m)^__version__ = "([^"]*)"',
}


def versions(tree):
    """The programs and both clients have one version, whose form Debian, PyPI, npm, and SwiftPM read alike."""
    source, *others = NUMBERS
    number = None
    for path in (source, *others):
        if path in tree.texts:
            found = re.search(NUMBERS[path], tree.texts[path])
            if not found or not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", found[1]):
                yield path, "it has no version of three numbers"
            elif path == source:
                number = found[1]
            elif found[1] != number:
                yield path, f"{source} has the version {number}, but this file has {found[1]}"


READS_TIMES = {"Sources/Core/PushCore/A.swift": "stat("}
APNS_REASONS = {"Sources/Server/PushAPNs/APNsReason.swift": '"BadDeviceToken"'}
RULES = [
    (imports, [
        {"Sources/Core/PushCore/A.swift": "import GRDB\n"}, {"Sources/Server/New/A.swift": ""},
        {"Sources/Device/PushService/A.swift": "package import PushSender\n"},
    ]),
    (libsodium, [
        {"Sources/Core/SealedPush/A.swift": "internal import Clibsodium\n"},
        {"Sources/Core/PushCore/A.swift": "internal import Clibsodium\nimport Foundation\n"},
    ]),
    (algorithms, [{"Sources/Core/SealedPush/A.swift": "X25519.Key"}]),
    (downloads, [
        {"Sources/Device/PushService/A.swift": "allowsLoopback"},
        {"Sources/Device/PushCharts/A.swift": "    func exempts(_ host: String) -> Bool { true }"},
        {"Package.swift": 'module("Device/PushService", ["Ccurl"])'},
    ]),
    (reasons, [
        APNS_REASONS | {"Sources/Server/PushHTTP/A.swift": "BadDeviceToken"},
        APNS_REASONS | {"Sources/Server/PushAPNs/A.swift": '"BadDeviceToken"'},
        {"Sources/Server/PushAPNs/APNsReason.swift": '"OtherReason"'},
    ]),
    (answers, [
        {"Docs/Operations.md": "\n## 9 A\n| 400 | `B` | drop | c |\n"},
        {"Sources/Server/PushAPNs/APNsReason.swift": 'static let b = APNsReason(rawValue: "B")\n'},
        {
            "Sources/Server/PushAPNs/APNsReason.swift":
                'static let b = APNsReason(rawValue: "B")\n    .b: Meaning(verdict: .stop),\n',
            "Docs/Operations.md": "\n## 9 A\n| 400 | `B` | drop | c |\n",
        },
    ]),
    (codes, [{
        "Sources/Core/SealedPush/Opening/OpenError.swift": "    case a\n    case b = \"c\"\n",
        "Sources/A.swift": "case .a: 1\ncase .b, .d: 2",
    }]),
    (commands, [
        {"Sources/Server/PushHTTP/A.swift": f"x({literal})"}
        for literal in ('"run sealedpush doctor"', '"`keys list`"', '"use --all"')
    ]),
    (privacy, [
        READS_TIMES, {"Sources/Core/PushCore/PrivacyInfo.xcprivacy": ""},
        {"Sources/Core/PushCore/A.swift": "UserDefaults"},
        READS_TIMES | {
            "Package.swift": 'module("Core/PushCore", privacy: true)',
            "Sources/Core/PushCore/PrivacyInfo.xcprivacy": "<plist><dict></dict></plist>",
        },
    ]),
    (syncing, [{"Sources/Core/PushCore/A.swift": "fsync(file)"}]),
    (testable, [{"Tests/Support/TestSupport/A.swift": "@testable import PushCore"}]),
    (homes, [
        {"Sources/A.swift": "public struct B {}\n"},
        {"Sources/A.swift": "package struct B {}\n", "Sources/C.swift": "B()"},
    ]),
    (cases, [
        {"Sources/A.swift": "public enum B { case c, d }\n"},
        {"Sources/A.swift": "public enum B: Error {\n    /// One.\n    case c\n    case d(Int)\n}\n"},
        {"Sources/A.swift": "public enum B {\n    /// One.\n    case c, d\n}\n"},
        {"Sources/A.swift": "struct A {\n    public enum B {\n        case c\n    }\n}\n"},
    ]),
    (errors, [{"Sources/Core/A/B.swift": "public enum B: String, Error {\n}\n"}]),
    (sentences, [{"Sources/Core/A/B.swift": "public enum B: StageError, Equatable {\n"}]),
    (products, [{"Package.swift": 'product("A")', "Sources/Core/A/A.swift": "public import B\n"}]),
    (sizes, [{"Sources/A.swift": "a\n" * 601}]),
    (machines, [{"Scripts/a": "lib_amd64.deb"}, {"Packaging/a.py": 'if machine == "aarch64":'}]),
    (versions, [
        {"Sources/Commands/CommandSupport/Version.swift": 'let number = "1.0"'},
        {
            "Sources/Commands/CommandSupport/Version.swift": 'let number = "1.0.0"',
            "Clients/Node/package.json": '"version": "1.0.1"',
        },
        {
            "Sources/Commands/CommandSupport/Version.swift": 'let number = "1.0.0"',
            "Clients/Python/src/sealed_push/__init__.py": '__version__ = "1.0"\n',
        },
    ]),
    (leftovers, [{"Sources/A.swift": f"{word}x"} for word in ("TODO", "try!", "fatalError(")]),
]
