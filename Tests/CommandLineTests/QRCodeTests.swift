import Foundation
import TestPrograms
import TestSupport
import Testing

/// Reads the codes back with zbar, which shares no code with the library that creates them.
@Suite("keys show --qr", .blocking) struct QRCodeTests {
    private let folder: TemporaryFolder
    private static let kinds = ["device", "sender"]
    private static let colors = "\u{1b}[38;5;16;48;5;231m"
    private static let reset = "\u{1b}[0m"

    init() throws {
        folder = try TemporaryFolder()
        for kind in Self.kinds { _ = try run("keys", "generate", kind, kind, "--keyring", "K") }
    }

    private func run(_ arguments: String...) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(arguments)
    }

    /// Runs the command on a terminal made by script(1), whose lines end with CR LF.
    private func runOnTerminal(_ environment: [String], _ name: String) throws -> [String] {
        let program = Program("sealedpush").executable.path
        let command = "env \(environment.joined(separator: " ")) '\(program)' keys show \(name) --qr --keyring K"
        let result = try Program(at: "/usr/bin/script", in: folder.url).run(
            "--quiet", "--return", "--command", command, "/dev/null")
        #expect(result.status == 0, "\(result.output)")
        return result.output.split(separator: "\r\n").map(String.init)
    }

    private func key(_ name: String) throws -> String { try run("keys", "export", name, "--keyring", "K").trimmed }

    /// Returns the lines of the output that belong to the code.
    private func code(in lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix(Self.colors) || $0.contains { "█▀▄".contains($0) } }
    }

    private func plainCode(_ name: String) throws -> [String] {
        code(in: try run("keys", "show", name, "--qr", "--keyring", "K").output.split(separator: "\n").map(String.init))
    }

    /// Reads a code as a camera would: with modules of 4 by 4 pixels, on the terminal's background.
    ///
    /// - ink: the gray level of a block, 0 to 255.
    /// - around: the gray level of the terminal outside the code.
    private func read(_ lines: [String], ink: UInt8, paper: UInt8, around: UInt8) throws -> String {
        let rows = lines.flatMap { line in
            [line.map { "█▀".contains($0) ? ink : paper }, line.map { "█▄".contains($0) ? ink : paper }]
        }
        let width = try #require(rows.first?.count)
        #expect(rows.allSatisfy { $0.count == width })
        let side = [UInt8](repeating: around, count: 5)
        let ground = [[UInt8]](repeating: [UInt8](repeating: around, count: width + 10), count: 5)
        let modules = ground + rows.map { side + $0 + side } + ground
        let pixels = modules.flatMap { row in
            Array(repeating: row.flatMap { Array(repeating: $0, count: 4) }, count: 4).joined()
        }
        let file = folder.appending("code.pgm")
        try Data(Array("P5\n\(4 * (width + 10)) \(4 * modules.count)\n255\n".utf8) + pixels).write(to: file)
        return try Program(at: "/usr/bin/zbarimg").run(
            "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file.path
        ).trimmed
    }

    @Test("without a terminal, prints a code that reads as the key on a dark background", arguments: kinds)
    func plain(kind: String) throws {
        let shown = try run("keys", "show", kind, "--qr", "--keyring", "K")
        #expect(shown.status == 0)
        let key = try key(kind)
        #expect(shown.output.contains(key))
        #expect(!shown.output.contains("\u{1b}"))
        let lines = code(in: shown.output.split(separator: "\n").map(String.init))
        #expect(lines.count == 21)
        #expect(lines.allSatisfy { $0.count == 41 && $0.allSatisfy { "█▀▄ ".contains($0) } })
        #expect(try read(lines, ink: 230, paper: 20, around: 20) == key.uppercased())
        #expect(try read(lines, ink: 20, paper: 230, around: 230) != key.uppercased())
    }

    @Test("on a terminal, prints black on white, which reads as the key on any background", arguments: kinds)
    func colored(kind: String) throws {
        let lines = code(in: try runOnTerminal(["--unset=NO_COLOR", "TERM=xterm-256color"], kind))
        #expect(lines.count == 21)
        #expect(lines.allSatisfy { $0.hasPrefix(Self.colors) && $0.hasSuffix(Self.reset) })
        let blocks = lines.map { $0.replacing(Self.colors, with: "").replacing(Self.reset, with: "") }
        #expect(blocks.allSatisfy { $0.count == 41 && $0.allSatisfy { "█▀▄ ".contains($0) } })
        let key = try key(kind).uppercased()
        #expect(try read(blocks, ink: 0, paper: 255, around: 0) == key)
        #expect(try read(blocks, ink: 0, paper: 255, around: 255) == key)
    }

    @Test("prints no escape sequences if NO_COLOR is set or the terminal has no colors")
    func withoutColors() throws {
        let plain = try plainCode("device")
        for environment in [["NO_COLOR=1", "TERM=xterm"], ["TERM=dumb"], ["--unset=TERM"]] {
            #expect(code(in: try runOnTerminal(environment, "device")) == plain, "\(environment)")
        }
        #expect(code(in: try runOnTerminal(["NO_COLOR=", "TERM=xterm"], "device")) != plain)
    }

    @Test("prints a code that reads as the key for many keys, with any mask, and can be imported again")
    func manyKeys() throws {
        for number in 0..<12 {
            let key = try run("keys", "generate", "sender", "k\(number)", "--keyring", "K").trimmed
            let text = try read(plainCode("k\(number)"), ink: 255, paper: 0, around: 0)
            #expect(text == key.uppercased())
            guard number == 0 else { continue }
            #expect(try run("keys", "import", "scanned", text, "--keyring", "Other").status == 0)
            #expect(try run("keys", "export", "scanned", "--keyring", "Other").trimmed == key)
        }
    }

    @Test("can't be combined with --json") func wrongUse() throws {
        let result = try run("keys", "show", "--keyring", "K", "device", "--qr", "--json")
        #expect(result.status == 64 && result.output.isEmpty && result.errors.contains("--qr"))
    }
}
