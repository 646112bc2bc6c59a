"""Rules for English. CONTRIBUTING.md, "English", has an example of each form. A list can't make a text good; it keeps old
habits out."""

import re

# Forms that this project once had by the hundred, and a sentence with each.
FORBIDDEN = [
    (r"(?<!There )(?<!there )\b(is|are|was|were) no (?!longer|more|less|later|earlier|worse|better|other|one\b)[a-z]",
     "this is no key"),
    (r"(?:^|[.:] )(What|Whose|Who) (?![^.?\n]*\?)", "Who makes one closes it."),
    (r"\b(by|for|from|to) whoever\b", "for whoever looks at it"),
    (r"\bwhat (is|was|has been) [a-z]+ed\b", "hides what is sealed."),
    (r"\b(nil|set|empty|none|null|except|but|only|also|and) where\b", "nil where signing failed"),
    (r"\bwhere (there|it|one|none|nothing) (is|was|are|has)\b", "taken, where there is one"),
    (r"\bbe it\b", "a server, be it busy"),
    (r"\b(so|as) many (bytes|days|seconds|characters|times|of)\b(?! as)", "after so many days"),
    (r"\bhad (again|back)\b", "so that they can be had again"),
    (r"\bbelongs? into\b", "it belongs into the record"),
    (r"\b[Ll]ikewise\b", "nil likewise"),
    (r"\b[Mm]end(s|ed|ing)?\b", "a mend has a test"),
    (r"\b([Ss]omebody|nobody)'s\b", "somebody's key"),
    (r"\bput off\b", "pushes that are put off"),
    (r"\bfor good\b", "it is gone for good"),
    (r"(?<!out )\bof (no )?use\b", "a frame of no use"),
    (r"\bknows? nothing of\b", "a keyring knows nothing of it"),
    (r"\bin good order\b", "it ends in good order"),
    (r"\bOf (everyone|the (senders|devices|faults|file|same))\b", "Of everyone, this part"),
    (r"\b([Bb]ehaviour|[Cc]olour|[Ll]icence|[Ee]nrolment|[Cc]entre|[Gg]rey|[Ff]avour|[Aa]rmour|[Cc]ancelled)\w*\b", "its behaviour"),
    (r"(?<!un)(recogni|organi|initiali|seriali|normali|summari|authori|synchroni)s(e|es|ed|ing|ation)\b", "recognised"),
]
ALL = re.compile("|".join(f"(?:{form})" for form, _ in FORBIDDEN), re.MULTILINE)

PIECE = re.compile(r'(?:^// .*\n)+|//.*$|"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*"', re.MULTILINE)


def swift_words(source):
    """Returns the comments and string literals of Swift source, each block of comment lines as one line without code spans."""
    joined = re.sub(r"\n\s*///? ?", "\n// ", source)
    pieces = (piece.replace("\n// ", " ").removeprefix("// ").removeprefix('"') for piece in PIECE.findall(joined))
    return re.sub(r"`[^`\n]*`", "X", "\n".join(pieces))


def markdown_words(text):
    """Returns the text without code, links' targets, and tags."""
    text = re.sub(r"^```[\s\S]*?^```", "", text, flags=re.MULTILINE)
    return re.sub(r"<[^>]*>", "", re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "X", text)))


def sentences(text):
    """Returns the sentences of paragraphs, list items, and the cells of tables."""
    blocks = [""]
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("|"):
            blocks += line.split("|") + [""]
        elif not line or line.startswith("#"):
            blocks.append("")
        elif re.match(r"([-*+]|[0-9]+\.) ", line):
            blocks.append(line)
        else:
            blocks[-1] += " " + line
    return [sentence for block in blocks for sentence in re.split(r"[.?!] ", block)]


def forms(tree):
    """Sources, scripts, and documents have none of the forbidden forms."""
    for path, text in tree.files():
        if path.endswith(".md"):
            words = markdown_words(text)
        elif path.startswith(("Sources/", "Examples/")) and path.endswith(".swift"):
            words = swift_words(text)
        elif path.startswith("Scripts/"):
            words = text
        else:
            continue
        for match in ALL.finditer(words):
            start = words.rfind("\n", 0, match.start()) + 1
            line = words[start:].split("\n", 1)[0]
            yield path, f"“{match[0].strip()}” in: {line.strip()}"


def lengths(tree):
    """A sentence in a document has at most 30 words."""
    for path, text in tree.files(ending=".md"):
        for sentence in sentences(markdown_words(text)):
            if len(sentence.split()) > 30:
                yield path, f"a sentence of {len(sentence.split())} words: {sentence.strip()}"


def _samples():
    for _, example in FORBIDDEN:
        yield {"Docs/A.md": example}
        yield {"Sources/A.swift": f"let x = 1\n    /// Some words.\n    /// {example}\nlet y = 2\n"}
        yield {"Sources/A.swift": f'print("one: {example}")\n'}


RULES = [
    (forms, list(_samples())),
    (lengths, [{"A.md": "One two. " + "word " * 31}, {"A.md": "| a | " + "word " * 31 + "|"}]),
]
