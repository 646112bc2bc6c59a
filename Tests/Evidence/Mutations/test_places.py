"""Tests how faults find their places. Run in this folder: python3 -m unittest"""

import tempfile
import unittest
from pathlib import Path

from mutate import find_all, read_list
from places import Source, Sources, Wrong

SWIFT = r'''
/// Opens. An unclosed { in a comment, and "a quote.
struct Opener {
    static let limit = 16  // not 17
    static let half = { limit / 2 }()
    func open(_ text: String, at now: Int) -> Bool { now > limit }
    func open(_ bytes: [UInt8], at now: Int) -> Bool {
        guard bytes.count > 0, let first = bytes.first(where: { $0 != 1 }), first < 3 else { return false }
        /* if nested { */
        #if DEBUG
        #endif
        if bytes.contains(where: { if now == 0 { true } else { false } }) { log("if \(now + 1 > 2) { :)", now) }
        return bytes.count < 16
            && now != 16
    }
    init(_ result: Result<Int, Refusal>, at now: Int) { wipe(first); wipe(second) }
    struct Refusal { let text = #"a "{" \(text)"# }
}

extension Opener.Refusal {
    var isLocal: Bool { text.wholeMatch(of: /127(\.[0-9"]{1,3}){3}/) != nil }
    func open() -> String { """
        while { " (
        """ }
}
'''


class PlacesTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "Core/Module").mkdir(parents=True)
        (self.folder / "Core/Module/Opener.swift").write_text(SWIFT)
        self.sources = Sources(self.folder)

    def texts(self, name, unit):
        declaration = self.sources.declaration(name)
        return [declaration.source.text[start:end] for start, end in declaration.places(unit)]

    def assertWrong(self, message, call, *arguments):
        with self.assertRaises(Wrong) as error:
            call(*arguments)
        self.assertIn(message, str(error.exception))

    def fault(self, text, kind="", owner="Opener.open(_: [UInt8], at: Int)"):
        """Returns the place and the fault of a list's lines."""
        path = self.folder / "list.txt"
        path.write_text(f"group g filter\nin {owner}\nname {kind}\n{text}\n")
        _, [mutation] = read_list(path)
        find_all([mutation], self.sources)
        return SWIFT[slice(*mutation.place)], mutation.fault

    def test_names(self):
        for name in (
                "Opener.limit", "limit", "Module.Opener.limit", "Opener.init(_:at:)", "Opener.Refusal.text",
                "Refusal.isLocal", "Refusal.open", "Opener.open(_: String, at: Int)",
                "init(_: Result<Int, Refusal>, at: Int)"):
            self.assertTrue(self.sources.declaration(name), name)
        self.assertWrong("is it now Opener.limit?", self.sources.declaration, "Closer.limit")
        self.assertWrong("no such", self.sources.declaration, "Opener.missing")
        self.assertWrong("Opener.open(_: String, at: Int), ", self.sources.declaration, "Opener.open(_:at:)")

    def test_units(self):
        self.assertEqual(
            self.texts("Opener.open(_: [UInt8], at: Int)", "condition"),
            ["bytes.count > 0", "first < 3", "bytes.contains(where: { if now == 0 { true } else { false } })",
             "now == 0"])
        self.assertEqual(
            self.texts("Opener.open(_: [UInt8], at: Int)", "result"),
            ["false", "bytes.count < 16\n            && now != 16"])
        self.assertEqual(self.texts("Opener.open(_: String, at: Int)", "result"), ["now > limit"])
        self.assertEqual(self.texts("Opener.init", "result"), [])
        self.assertEqual(self.texts("Opener.half", "result"), [])
        self.assertEqual(self.texts("Refusal.open", "condition"), [])

    def test_places(self):
        self.assertEqual(self.fault("@ condition 2 of 4\n+ true"), ("first < 3", "true"))
        self.assertEqual(self.fault("@ condition 2 of 4\n- <\n+ <="), ("first < 3", "first <= 3"))
        self.assertEqual(self.fault("@ condition 2 of 4\n+ … || true"), ("first < 3", "first < 3 || true"))
        self.assertEqual(self.fault("@ condition with now\n+ true"), ("now == 0", "true"))
        self.assertEqual(
            self.fault("@ result\n- >\n+ <", owner="Opener.open(_: String, at: Int)"), ("now > limit", "now < limit"))
        self.assertEqual(self.fault("- 16\n+ 17", owner="Opener.limit"), ("16", "17"))
        self.assertEqual(self.fault("@ 2 of 2\n- 16\n+ 17"), ("16", "17"))
        self.assertEqual(self.fault("@ 2 of 2\n- wipe(…)\n+", "statement", "Opener.init"), ("wipe(second)", ""))
        self.assertEqual(self.fault("@ after else { return\n- false\n+ true"), ("false", "true"))
        self.assertEqual(
            self.fault("- bytes.first(…)\n+ last(…)"),
            ("bytes.first(where: { $0 != 1 })", "last(where: { $0 != 1 })"))
        self.assertEqual(self.fault("- log(…)\n+ log(…)"), ('log("if \\(now + 1 > 2) { :)", now)',) * 2)
        self.assertEqual(self.fault("- 16 && now\n+ 17"), ("16\n            && now", "17"))

    def test_wrong_places(self):
        for text, message in (
                ("@ condition 2 of 3\n+ true", "there are 4 conditions, not 3"),
                ("@ condition\n+ true", "there are 4 conditions, not 1"),
                ("@ condition 5 of 4\n+ true", "there is no 5 of 4"),
                ("@ condition with bytes\n+ true", "there are 2 conditions with bytes"),
                ("@ condition with nested\n+ true", "there are 0 conditions with nested"),
                ("@ guard\n- 0\n+ 1", "unknown place: guard"),
                ("- byte\n+ b", "there are 0 places of byte"), ("- ytes\n+ b", "there are 0 places of ytes"),
                ("- nested\n+ b", "there are 0 places of nested"),
                ("- bytes\n+ b", "places of bytes"),
                ("- bytes.contains(… nested\n+ b", "there are 0 places"),
                ("- …count\n+ b", "begins or ends with …"),
                ("- first(…)\n+ last(…, …)", "it replaces 1 … by 2"),
                ("- guard bytes.count > 0\n+ true", "it needs the kind statement"),
                ("- 3", "has no `+` line"), ("@ after else\n+ true", "neither a `-` line")):
            self.assertWrong(message, self.fault, text)
        self.assertWrong("name: in Opener.missing: no such", self.fault, "- 1\n+ 2", "", "Opener.missing")

    def test_broken_sources(self):
        self.assertWrong("a bracket has no partner", Source, "func a() { ]", "a.swift", "M")
        self.assertWrong("a string doesn't end", Source, 'let a = "b', "a.swift", "M")


if __name__ == "__main__":
    unittest.main()
