"""Rules for documents: their links, names, sizes, and code blocks."""

import re


def links(tree):
    """Every link and every named file exists."""
    for path, text in tree.files(ending=".md"):
        folder = path.rpartition("/")[0]
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) + re.findall(r'\ssrc="([^"]+)"', text):
            if not link.startswith("http") and not tree.exists(_joined(folder, link)):
                yield path, f"no file has the link's path {link}"
        for name in re.findall(r"`((?:Docs|Scripts|Sources|Tests|Examples|Keys)/[^`\s]*)", text):
            if not tree.exists(name):
                yield path, f"no file has the path {name}"


def _joined(folder, link):
    parts = folder.split("/") if folder else []
    for part in link.split("/"):
        if part == "..":
            if not parts:
                return link
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def first_screen(tree):
    """The README has at most 110 lines."""
    count = tree.texts.get("README.md", "").rstrip("\n").count("\n") + 1
    if count > 110:
        yield "README.md", f"{count} lines; it may have 110"


def fences(tree):
    """A code block ends in a line of its own, in documents and in documentation comments; text after it would be code."""
    for path, text in tree.files():
        if path.endswith(".md"):
            lines = text.split("\n")
        elif path.startswith(("Sources/", "Examples/")) and path.endswith(".swift"):
            lines = [line.strip().removeprefix("///").strip() if line.strip().startswith("///") else None
                     for line in text.split("\n")]
        else:
            continue
        opened = None
        for number, line in enumerate(lines, 1):
            fence = line is not None and re.match(r" *(```+)(.*)", line)
            if line is None and opened or fence and opened and fence[2].strip():
                yield path, f"the code block in line {opened} isn't closed by a line of its own"
                opened = None
            elif fence:
                opened = None if opened else number
        if opened:
            yield path, f"the code block in line {opened} isn't closed"


def decisions(tree):
    """Each decision has a date and a status, and the list has its title."""
    rows = tree.texts.get("Docs/Decisions/README.md", "")
    for path, text in tree.files("Docs/Decisions", ".md"):
        name = path.rpartition("/")[2]
        if name == "README.md":
            continue
        first, second, *_ = text.split("\n") + [""]
        if not first.startswith(f"# {name[:4]} "):
            yield path, f"the title must begin with {name[:4]}"
        if not re.match(r"Date: 20\d\d-\d\d-\d\d\. Status: (in force|superseded by \[\d{4}\])", second):
            yield path, "the second line has no date and status"
        if f"| [{name[:4]}]({name}) | {first[7:]} |" not in rows:
            yield path, "Docs/Decisions/README.md doesn't list it with its title"


SUFFIX = "(?:swift|py|js|ts|yaml|md)"
GROUPS = ["Core", "Device", "Server", "Simulator", "Commands"]


def architecture_page(tree):
    """Docs/Architecture.md names every module, and only files and functions that exist."""
    path = "Docs/Architecture.md"
    page = tree.texts.get(path)
    if page is None:
        return

    def file(name):
        return next((each for each in [f"Sources/{group}/{name}" for group in GROUPS] + [name] if each in tree.texts), None)

    for name in re.findall(rf"`([\w-]+/[\w+/.-]+\.{SUFFIX})`", page):
        if file(name) is None:
            yield path, f"no file has the path {name}"
    for name, text in re.findall(rf"\| `([\w-]+/[^`]+\.{SUFFIX})` \| `([^`]+)` \|", page):
        if file(name) and text not in tree.texts[file(name)]:
            yield path, f"{name} doesn't contain {text}"
    for module in sorted({"/".join(name.split("/")[1:3]) for name, _ in tree.files("Sources") if name.count("/") > 2}):
        group, name = module.split("/")
        if group in GROUPS and name not in page:
            yield path, f"the module {name} is missing"


def recipes(tree):
    """Docs/Architecture.md, "Where to add something": each file exists, and each name occurs in a file of its recipe."""
    path = "Docs/Architecture.md"
    page = tree.texts.get(path, "")
    section = page.partition("## Where to add something\n")[2].partition("\n## ")[0]
    for recipe in re.split(r"\n(?=- \*\*|\*\*)", section):
        spans = re.findall(r"`([^`\n]+)`", re.sub(r"(?m)^\|.*\n?", "", recipe))
        files = {}
        for span in spans:
            # A file; a folder; or a type, which has a file of its name.
            ending = "/" + span if re.search(rf"\.{SUFFIX}$", span) else f"/{span}.swift"
            found = {name: text for name, text in tree.files() if ("/" + name).endswith(ending)}
            found |= {name: text for name, text in tree.files() if f"/{span.strip('/')}/" in "/" + name}
            if not found and re.search(rf"\.{SUFFIX}$", span):
                yield path, f"no file has the name {span}"
            files |= found
        words = set(re.findall(r"\w+", " ".join([*files, *files.values()])))
        for span in spans:
            name = span.strip(".").rpartition(".")[2]
            if re.fullmatch(r"\.?[A-Za-z][\w.]*", span) and not re.search(rf"\.{SUFFIX}$", span) and name not in words:
                yield path, f"no file of its recipe contains {span}"


# Documents whose paragraphs are cited by number. All but the last are numbered together.
NUMBERED = ("Specification", "ContentParts", "Grants", "DeviceState", "EnrollmentHTTP")
TOGETHER = NUMBERED[:-1]
NUMBER = r"[0-9]+(?:\.[0-9]+)*"
BETWEEN = "(?:, and |, | and | or | to )"


def paragraphs(tree):
    """A reference to a paragraph names one that exists, in the right document, and no two paragraphs have one number."""
    found = {}
    for name in NUMBERED:
        text = re.sub(r"(?ms)^ *```.*?^ *```", "", tree.texts.get(f"Docs/{name}.md", ""))
        numbers = re.findall(rf"(?m)^(?:#+ |- )?(?:\*\*)?({NUMBER})(?:\.? )", text)
        found[name] = {each for each in numbers if "." in each or re.search(rf"(?m)^## {each} ", text)}
        together = [each for other in TOGETHER if name in TOGETHER for each in found.get(other, ()) if other != name]
        for number in sorted({each for each in found[name] if numbers.count(each) > 1 and "." in each} | found[name] & set(together)):
            yield f"Docs/{name}.md", f"a second paragraph has the number {number}"
    known = set().union(*(found[name] for name in TOGETHER))
    for path, text in tree.files():
        if path.startswith("Tests/Tools/Lint/"):
            continue
        flat = re.sub(r"\s*\n[ \t]*(?:///?|#|\*|--|/\*)?[ \t]*", " ", text)
        for document, numbers in re.findall(rf"\b({'|'.join(NUMBERED)}),?(?: sections?)? ({NUMBER}(?:{BETWEEN}{NUMBER})*)(?![\w-])", flat):
            for number in re.findall(NUMBER, numbers):
                if number not in found[document]:
                    yield path, f"Docs/{document}.md has no paragraph {number}, but see: {document} {numbers}"
        if path in (*(f"Docs/{name}.md" for name in TOGETHER), "Docs/Proofs.md", "Docs/ThreatModel.md", "Tests/Vectors/README.md"):
            for numbers in re.findall(rf"\(({NUMBER}(?:{BETWEEN}{NUMBER})*)\)", re.sub(r"(?ms)^ *```.*?^ *```", "", text)):
                for number in re.findall(NUMBER, numbers):
                    if "." in number and number not in known:
                        yield path, f"no paragraph has the number {number}, but see: ({numbers})"


RULES = [
    (paragraphs, [
        {"Docs/Specification.md": "## 1 A\n1.1 a\n", "A.swift": "/// Specification\n/// 1.2."},
        {"Docs/Specification.md": "## 1 A\n1.1 a\n", "Docs/ContentParts.md": "## 2 A\n2.1 a\n", "A.swift": "// Specification 2.1"},
        {"Docs/Specification.md": "## 1 A\n1.1 a\n", "A.md": "see Specification 1.1, 1, and 1.3"},
        {"Docs/Specification.md": "## 1 A\n1.1 a (1.2)\n"}, {"Docs/Specification.md": "1.1 a\n\n- 1.1 b\n"},
        {"Docs/Specification.md": "1.1 a\n", "Docs/DeviceState.md": "1.1 a\n"},
    ]),
    (links, [{"A.md": "[a](B.md)"}, {"Docs/A.md": "[a](../B.md#c)"}, {"A.md": "`Docs/B.md`"}, {"A.md": '<img src="b.png">'}]),
    (first_screen, [{"README.md": "a\n" * 111}]),
    (fences, [
        {"A.md": "```\na\n``` b\n"}, {"A.md": "```\na\n"}, {"Sources/A.swift": "/// ```\n/// a\n/// ``` b\nlet c = 1\n"},
        {"Sources/A.swift": "/// ```\n/// a\nlet c = 1\n"},
    ]),
    (decisions, [
        {"Docs/Decisions/0001-a.md": "# 0001 A\nDate: 2026-01-01. Status: in force.\n"},
        {"Docs/Decisions/0001-a.md": "# 0001 A\n", "Docs/Decisions/README.md": "| [0001](0001-a.md) | A |"},
    ]),
    (architecture_page, [
        {"Docs/Architecture.md": "`A/B.swift`"}, {"Docs/Architecture.md": "", "Sources/Core/A/B.swift": ""},
        {"Docs/Architecture.md": "| `A/B.swift` | `func c` |", "Sources/Core/A/B.swift": "func d"},
    ]),
    (recipes, [
        {"Docs/Architecture.md": "## Where to add something\n- **A**: in `B.swift`.\n"},
        {"Docs/Architecture.md": "## Where to add something\n- **A**: `c` in `B.swift`.\n", "Sources/B.swift": "d"},
    ]),
]
