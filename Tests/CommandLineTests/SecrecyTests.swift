import Foundation
import Glibc
import PushKeyring
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("A program with secrets", .blocking) struct SecrecyTests {
    private let folder: TemporaryFolder
    private let key: String

    init() throws {
        folder = try TemporaryFolder()
        let key = KeyringKey()
        self.key = key.withText { String(decoding: $0, as: UTF8.self) }
        try Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key))).generateSender(named: "newsroom")
    }

    /// Starts `serve`, which runs until it's stopped, with the keyring's key in the environment.
    ///
    /// - Parameter user: the options of setpriv(1) for the user to run as; empty for the tests' own user.
    private func listening(as user: [String] = []) async throws -> (process: ChildProcess, errors: URL) {
        let (output, errors) = (folder.appending("output"), folder.appending("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let serve = "serve --from newsroom --topic com.example.app --listen ./own.sock --json --keyring Keys"
        let words = [Program("sealedpush").executable.path] + serve.split(separator: " ").map(String.init)
        let all = user.isEmpty ? words : ["/usr/bin/setpriv"] + user + words
        let process = try Program(at: all[0], in: folder.url).start(
            Array(all.dropFirst()), output: FileHandle(forWritingTo: output), errors: FileHandle(forWritingTo: errors),
            environment: ["SEALED_PUSH_KEY": key, "SWIFT_BACKTRACE": "interactive=no,color=no"])
        try await eventually("the listener") {
            if process.hasEnded { throw POSIXError(.ECHILD) }
            return try !Data(contentsOf: output).isEmpty
        }
        return (process, errors)
    }

    @Test(
        "removes the keyring's key from its environment, where the user's other processes could read it while it runs"
    ) func environment() async throws {
        let (process, _) = try await listening()
        defer { process.kill() }
        // If the environment can't be read at all, that's even better.
        guard let text = try? Data(contentsOf: URL(filePath: "/proc/\(process.identifier)/environ")) else { return }
        #expect(text.range(of: Data("SEALED_PUSH_KEY=".utf8)) != nil, "the variable's former place")
        #expect(text.range(of: Data(key.utf8.dropFirst(20))) == nil)
    }

    @Test(
        "hides every secret in its environment, whether or not the command needs it",
        arguments: [
            ("sealedpush", "inspect -"),
            ("device-simulator", "deliver - --device d --topic a --keyring K"),
        ])
    func unused(program: String, words: String) async throws {
        let password = "kumquat-kumquat-kumquat"
        // The command waits for standard input.
        let pipe = Pipe()
        let process = try Program(program, in: folder.url).start(
            words.split(separator: " ").map(String.init), input: pipe.fileHandleForReading,
            environment: ["SEALED_PUSH_KEY": key, "PGPASSWORD": password])
        defer {
            process.kill()
            withExtendedLifetime(pipe) {}
        }
        let place = URL(filePath: "/proc/\(process.identifier)/environ")
        try await eventually("the secrets are hidden") {
            guard let text = try? Data(contentsOf: place), text.range(of: Data("PGPASSWORD=".utf8)) != nil else {
                return false
            }
            return [String(key.dropFirst(20)), password].allSatisfy { text.range(of: Data($0.utf8)) == nil }
        }
    }

    @Test("doesn't print registers or memory when it crashes, and leaves no core file") func crash() async throws {
        let (process, errors) = try await listening()
        defer { process.kill() }
        let limits = try String(contentsOfFile: "/proc/\(process.identifier)/limits", encoding: .utf8)
        #expect(limits.contains(#/Max core file size +0 +0 /#))
        Glibc.kill(process.identifier, SIGABRT)
        #expect(process.wait() == .signaled(SIGABRT))
        #expect(try Checkout.text(errors).contains("Registers") == false)
        #expect(try Checkout.text(errors).utf8.count < 200)
    }

    @Test(
        "can't be inspected by another process of its user",
        .enabled(if: Machine.hasOtherUsers, "It needs another user: run it as root."))
    func traced() async throws {
        for path in [folder.url.path]
            + (try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)).map({ folder.appending($0).path })
        { chown(path, 1_500, 1_500) }
        let user = ["--reuid", "1500", "--regid", "1500", "--clear-groups"]
        let (process, _) = try await listening(as: user)
        defer { process.kill() }
        // These files belong to root if a process can't be traced: proc(5).
        let facts = try FileManager.default.attributesOfItem(atPath: "/proc/\(process.identifier)/mem")
        #expect(facts[.ownerAccountID] as? Int == 0)
        for place in ["mem", "environ"] {
            let look = try Program(at: "/usr/bin/setpriv").run(
                user + ["head", "-c", "1", "/proc/\(process.identifier)/\(place)"])
            #expect(look.status != 0 && look.errors.contains("Permission denied"), "\(place): \(look.errors)")
        }
    }
}

@Suite("libsodium at the start of a program", .blocking) struct LibsodiumTests {
    /// A library that is loaded before libsodium and reports version 1.0.17.
    private static let old = """
        int sodium_library_version_major(void) { return 10; }
        int sodium_library_version_minor(void) { return 2; }
        const char *sodium_version_string(void) { return "1.0.17"; }
        """

    @Test(
        "that is too old ends the program before it does anything", arguments: ["sealedpush", "device-simulator"])
    func tooOld(program: String) throws {
        let folder = try TemporaryFolder()
        let source = try folder.write(Self.old, to: "old.c")
        let library = folder.appending("old.so").path
        // The compiler that comes with Swift's.
        let built = try Program(at: "/bin/sh").run(
            "-c", #""$(dirname "$(readlink -f "$(command -v swift)")")/clang" -shared -fPIC -o "$0" "$1""#, library,
            source)
        #expect(built.status == 0, "\(built.errors)")
        let words = program == "sealedpush" ? ["keys", "generate", "sender", "newsroom"] : ["apns", "--folder", "A"]
        let result = try Program(program, in: folder.url).run(words, environment: ["LD_PRELOAD": library])
        #expect(result.errors == "\(program): libsodium 1.0.17 is too old; version 1.0.18 or later is required\n")
        #expect(result.status == 69 && result.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("Keys").path))
    }
}
