"""Finds declarations in Swift sources by name, and in a declaration its conditions, its results, and quoted code.

It knows comments, strings, brackets, and a few keywords, and leaves the rest to the compiler.
"""

import bisect
import re
from pathlib import Path


class Wrong(Exception):
    """The list doesn't match the sources."""


TOKEN = re.compile(r'//|/\*|#*"""|#*"|#*/|[()]')
PATTERN = re.compile(r"/[^\s/*](?:\\.|[^/\\\n])*/#*")
DECLARATION = re.compile(
    r"[(\[{]|(?<![.\w`])(?:struct|class|enum|actor|protocol|extension|func|init|subscript|deinit|var|let|case)\b")
NAME = re.compile(r"\s+(`\w+`|\w[\w.]*|[^\s\w(`]+)")
PARAMETER = re.compile(r"\s*(?:@\w+\s+)*(\w+)(?:\s+\w+)?\s*:\s*((?:[^,=<(]|<[^>]*>|\([^)]*\))*)")
CONDITION = re.compile(r"(?<![.\w`#])(?:if|guard|while)\b")
BINDING = re.compile(r"(?:let|var|case)\b|#")
RETURN = re.compile(r"(?<![.\w`])return\b")
STATEMENT = re.compile(r"(?:let|var|guard|if|for|while|switch|return|do|defer|throw|repeat)\b")
OPERATORS = "-.?:&|+*/<>=^%,"


class Source:
    """A Swift file's text; `plain`, with blanks for comments; and `code`, also with quotes for strings and patterns."""

    def __init__(self, text, file, module):
        self.text, self.file, self.module = text, file, module
        self.plain, self.code = list(text), list(text)
        self.skip_code(0, False)
        self.plain, self.code = "".join(self.plain), "".join(self.code)
        self.closing, opened = {}, []
        for bracket in re.finditer(r"[()\[\]{}]", self.code):
            if bracket[0] in "([{":
                opened.append(bracket.start())
            elif not opened or self.code[opened[-1]] + bracket[0] not in ("()", "[]", "{}"):
                raise Wrong(f"{file}: a bracket has no partner: {text[bracket.start():].splitlines()[0]}")
            else:
                self.closing[opened.pop()] = bracket.start()

    def skip_code(self, at, is_inner):
        """Blanks comments and strings, up to the bracket that closes an interpolation. Returns its place."""
        depth = 0
        while token := TOKEN.search(self.text, at):
            start, at = token.span()
            if token[0] in ("//", "/*"):
                stop = self.text.find("\n" if token[0] == "//" else "*/", at)
                at = len(self.text) if stop < 0 else stop if token[0] == "//" else stop + 2
                self.plain[start:at] = self.code[start:at] = " " * (at - start)
            elif token[0].endswith('"'):
                at = self.skip_string(token)
            elif token[0].endswith("/"):
                pattern = PATTERN.match(self.text, at - 1)
                if pattern and (token[0] != "/" or self.text[:start].rstrip()[-1:] in "(,=:[{!&|?"):
                    at = pattern.end()
                    self.code[start:at] = '"' * (at - start)
            elif token[0] == "(":
                depth += 1
            elif depth == 0 and is_inner:
                return start
            else:
                depth -= 1
        return len(self.text)

    def skip_string(self, token):
        quote = token[0].lstrip("#")
        hashes = token[0][:-len(quote)]
        special = re.compile(re.escape(quote + hashes) + r"|\\" + hashes + "(.)", re.DOTALL)
        start, at = token.span()
        while found := special.search(self.text, at):
            at = found.end()
            if found[1] in (None, "("):
                stop = at if found[1] is None else at - 1
                self.code[start:stop] = '"' * (stop - start)
                if found[1] is None:
                    return at
                start = at = self.skip_code(at, True) + 1
        raise Wrong(f"{self.file}: a string doesn't end")

    def declarations(self):
        found, starts = [], []
        self.add_declarations(0, len(self.code), (self.module,), found, starts)
        for one in found:
            one.end = min([one.end] + starts[bisect.bisect(starts, one.start):][:1])
        return found

    def add_declarations(self, at, limit, path, found, starts):
        while token := DECLARATION.search(self.code, at, limit):
            at = token.end()
            if token[0] in "([{":
                at = self.closing[token.start()] + 1
                continue
            starts.append(token.start())
            name = NAME.match(self.code, at)
            if token[0] in ("func", "init", "subscript"):
                base = name[1] if token[0] == "func" else token[0]
                opening = self.code.index("(", name.end() if token[0] == "func" else at)
                found.append(Declaration(self, path, base, self.parameters(opening), token.start(), limit))
            elif token[0] in ("var", "let", "deinit"):
                base = "deinit" if token[0] == "deinit" else name[1] if name else ""
                found.append(Declaration(self, path, base, None, token.start(), limit))
            elif token[0] != "case" and name[1] not in ("func", "var", "let", "subscript"):
                opening = self.code.index("{", name.end())
                at = self.closing[opening] + 1
                self.add_declarations(opening + 1, at - 1, path + tuple(name[1].split(".")), found, starts)

    def parameters(self, opening):
        """Returns the labels and the types of a function's parameters."""
        found, at, closing = [], opening + 1, self.closing[opening]
        while parameter := PARAMETER.match(self.code, at, closing):
            found.append((parameter[1], " ".join(parameter[2].split())))
            at = self.skip(parameter.end(), closing, ",") + 1
        return found

    def skip(self, at, limit, stops):
        """Returns the place of the first of some characters outside of brackets, or the limit."""
        while at < limit and self.code[at] not in stops:
            at = self.closing.get(at, at) + 1
        return min(at, limit)

    def trimmed(self, start, end):
        text = self.plain[start:end]
        return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


class Declaration:
    """A function or a property, up to the next declaration."""

    def __init__(self, source, path, base, parameters, start, end):
        self.source, self.path, self.start, self.end = source, path, start, end
        self.names = [base]
        if parameters is not None:
            self.names.append(base + "(" + "".join(f"{label}:" for label, _ in parameters) + ")")
            self.names.append(base + "(" + ", ".join(f"{label}: {kind}" for label, kind in parameters) + ")")

    def __str__(self):
        return ".".join((*self.path[1:], self.names[-1]))

    def places(self, unit):
        return self.conditions() if unit == "condition" else self.results()

    def conditions(self):
        """Returns the ranges of the Boolean conditions of each `if`, `guard`, and `while`."""
        source, found = self.source, []
        for keyword in CONDITION.finditer(source.code, self.start, self.end):
            # Only `guard` allows closures in its conditions.
            body = re.compile(r"\belse\b" if keyword[0] == "guard" else "{")
            start = at = keyword.end()
            while at < self.end and not body.match(source.code, at):
                if source.code[at] == ",":
                    found.append(source.trimmed(start, at))
                    start = at + 1
                at = source.closing.get(at, at) + 1
            found.append(source.trimmed(start, at))
        return sorted(place for place in found if not BINDING.match(source.code, place[0]))

    def results(self):
        """Returns the ranges of the expressions that it returns, with or without `return`."""
        source = self.source
        starts = [keyword.end() for keyword in RETURN.finditer(source.code, self.start, self.end)]
        found = [source.trimmed(start, self.expression_end(start, self.end)) for start in starts]
        body = source.skip(self.start, self.end, "{=" if len(self.names) == 1 else "{")
        if body < self.end and source.code[body] == "{":
            whole = source.trimmed(body + 1, source.closing[body])
            if not STATEMENT.match(source.code, whole[0]) and self.expression_end(whole[0], whole[1]) == whole[1]:
                found.append(whole)
        return sorted(place for place in found if place[0] < place[1])

    def expression_end(self, at, limit):
        """Returns the end of the line of an expression, or of the last line that continues it."""
        code = self.source.code
        while True:
            at = self.source.skip(at, limit, "\n;)]}")
            if at == limit or code[at] != "\n":
                return at
            before, after = code[:at].rstrip()[-1:], code[at:limit].lstrip()[:1]
            if not after or (before not in OPERATORS and after not in OPERATORS):
                return at
            at = limit - len(code[at:limit].lstrip())

    def quoted(self, quote, start, end):
        """Returns the ranges of a quote of whole words, each with the texts for which its `…` stand."""
        source, found = self.source, []
        if not all(part.strip() for part in quote.split("…")):
            raise Wrong(f"a quote is empty, or begins or ends with …: {quote}")
        first, *others = [pattern(part) for part in quote.split("…")]
        for match in first.finditer(source.plain, start, end):
            at, texts = match.end(), []
            for part in others:
                left = at
                # A text in a string, such as a bracket, isn't code.
                while source.code[at - 1:at + 1] == '""' or not part.match(source.plain, at, end):
                    if at >= end or source.code[at] in ")]}":
                        break
                    at = source.closing.get(at, at) + 1
                rest = part.match(source.plain, at, end)
                if not rest:
                    break
                texts.append(source.text[left:at])
                at = rest.end()
            else:
                found.append(((match.start(), at), texts))
        return found


def pattern(part):
    """Returns the regular expression for a quote's part. Lines may break differently."""
    text = r"\s+".join(re.escape(word) for word in re.split(r"\s+", part))
    before, after = r"(?<!\w)" if re.match(r"\w", part) else "", r"(?!\w)" if re.search(r"\w$", part) else ""
    return re.compile(before + text + after)


class Sources:
    """All Swift files in a folder, in folders GROUP/MODULE."""

    def __init__(self, folder):
        self.named = {}
        for file in sorted(Path(folder).rglob("*.swift")):
            module = file.relative_to(folder).parts[:2][-1]
            for declaration in Source(file.read_text(), str(file), module).declarations():
                for name in set(declaration.names):
                    self.named.setdefault(name, []).append(declaration)

    def declaration(self, name):
        """Returns the only one named, for example, Opener.check, Opener.open(_:at:), or Opener.open(_: Envelope)."""
        head, bracket, parameters = name.partition("(")
        *path, base = head.split(".")
        same = self.named.get(base + bracket + parameters, [])
        found = [one for one in same if one.path[len(one.path) - len(path):] == tuple(path)]
        if not found:
            others = ", ".join(sorted(str(one) for one in same or self.named.get(base, []))[:5])
            raise Wrong("no such function or property in Sources" + (f"; is it now {others}?" if others else ""))
        if len(found) > 1:
            raise Wrong(f"several in Sources: {', '.join(str(one) for one in found)}")
        return found[0]
