import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport

/// `sealedpush serve` in a process of its own, which is killed with this object if it still runs.
final class ServedCommand: @unchecked Sendable {
    let process: ChildProcess
    let folder: TemporaryFolder
    /// What it has said that it listens at.
    let place: [String: Any]
    private let log: String

    private init(process: ChildProcess, folder: TemporaryFolder, place: [String: Any], log: String) {
        (self.process, self.folder, self.place, self.log) = (process, folder, place, log)
    }

    deinit { process.kill() }

    var errors: String { (try? Checkout.text(folder.appending(log))) ?? "" }

    /// - Parameter name: of the files with what it says, where there are several.
    static func start(
        _ fixture: SendingFixture, _ arguments: [String], as name: String = ""
    ) async throws -> ServedCommand {
        let (printed, log) = ("output\(name)", "errors\(name)")
        for name in [printed, log] { try Data().write(to: fixture.folder.appending(name)) }
        let words = ["serve", "--from", "newsroom", "--topic", SendingFixture.topic, "--keyring", "Keys", "--json"]
        let process = try Program("sealedpush", in: fixture.folder.url).start(
            words + arguments, output: FileHandle(forWritingTo: fixture.folder.appending(printed)),
            errors: FileHandle(forWritingTo: fixture.folder.appending(log)))
        while !process.hasEnded {
            let output = try Data(contentsOf: fixture.folder.appending(printed))
            if let place = (try? JSONSerialization.jsonObject(with: output)) as? [String: Any] {
                return ServedCommand(process: process, folder: fixture.folder, place: place, log: log)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        _ = process.wait()
        throw Failed(description: try Checkout.text(fixture.folder.appending(log)))
    }

    private struct Failed: Error, CustomStringConvertible { let description: String }

    func curl(_ arguments: String...) throws -> (status: String, body: String) {
        let result = try Program(at: "/usr/bin/curl", in: folder.url).run(["-sS", "-w", "\n%{http_code}"] + arguments)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return (lines.last ?? "", lines.dropLast().joined(separator: "\n"))
    }

    /// Makes it read its keys again.
    func signal() { Glibc.kill(process.identifier, SIGHUP) }

    func stop() -> ChildProcess.Ending {
        Glibc.kill(process.identifier, SIGTERM)
        return process.wait()
    }

    static func write(_ text: String, to name: String, _ fixture: SendingFixture, mode: Int = 0o600) throws {
        let file = fixture.folder.appending(name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
}
