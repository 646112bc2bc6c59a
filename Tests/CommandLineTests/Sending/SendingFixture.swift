import Foundation
import Glibc
import PushKeyring
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport

/// A local APNs in this process, a keyring with a sender and devices, and their tokens.
final class SendingFixture: Sendable {
    static let topic = "com.example.app"

    let folder: TemporaryFolder
    let apns: LocalAPNs
    let keyring: Keyring
    let content: String

    init(_ change: (inout LocalAPNsConfiguration) -> Void = { _ in }) async throws {
        folder = try TemporaryFolder()
        var configuration = LocalAPNsConfiguration()
        configuration.closingTime = .milliseconds(300)
        change(&configuration)
        apns = try await LocalAPNs.start(folder: folder.appending("APNs"), configuration: configuration)
        keyring = Keyring(folder: folder.appending("Keys"))
        let created = Timestamp.now().advanced(bySeconds: -3_600)
        _ = try keyring.generateSender(named: "newsroom", at: created)
        content = try folder.write(#"{"alert":{"title":"Nina","body":"Lunch at one, kumquat?"}}"#, to: "content.json")
    }

    /// Keeps the folder until the local APNs has stopped.
    deinit {
        Task { [apns, folder] in
            await apns.stop()
            withExtendedLifetime(folder) {}
        }
    }

    /// Creates a device with a key, and returns a token that the local APNs knows.
    ///
    /// - Parameter registered: When the app gave its server the token; nil for now.
    @discardableResult func device(
        _ name: String, enrolled: Bool = true, user: String? = nil, registered: Timestamp? = nil
    ) throws -> String {
        guard let keyName = KeyName(parsing: name), let topic = Topic(parsing: Self.topic) else {
            throw CocoaError(.featureUnsupported)
        }
        _ = try keyring.generateDevice(named: keyName, topic: topic, at: Timestamp.now().advanced(bySeconds: -3_600))
        let token = apns.register(name: name, topic: Self.topic)
        if let registered {
            let line = #"{"device":"\#(name)","token":"\#(token)","registered":\#(registered.secondsSince1970)}"#
            try run(["device", "enroll", "--list", "-", "--keyring", "Keys"], input: line)
        } else if enrolled {
            let user = user.map { ["--user", $0] } ?? []
            _ = try run(["device", "enroll", name, "--token", token, "--keyring", "Keys"] + user)
        }
        return token
    }

    /// Creates a folder with the same local APNs' address and a wrong key ID. Returns the correct file.
    func makeAPNsWithWrongKey(_ name: String) throws -> Data {
        let right = try Data(contentsOf: folder.appending("APNs/address.json"))
        var address = try JSONSerialization.jsonObject(with: right) as? [String: Any] ?? [:]
        address["keyID"] = "AAAAAAAAAA"
        try FileManager.default.createDirectory(
            at: folder.appending(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try JSONSerialization.data(withJSONObject: address).write(to: folder.appending("\(name)/address.json"))
        return right
    }

    @discardableResult func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(arguments, input: input, environment: environment)
    }

    func sendArguments(_ more: [String], apns: Bool = true) -> [String] {
        ["send", content, "--from", "newsroom", "--topic", Self.topic, "--keyring", "Keys"]
            + (apns ? ["--apns", "APNs"] : []) + more
    }

    func send(_ more: String..., apns: Bool = true) throws -> Program.Result {
        try run(sendArguments(more, apns: apns))
    }

    /// Returns the envelope in a payload.
    static func envelope(_ payload: Any?) throws -> Envelope {
        let json = try JSONSerialization.jsonObject(with: Data((payload as? String ?? "").utf8))
        return try Envelope(parsing: (json as? [String: Any])?["custom-encrypted-message"] as? String ?? "")
    }

    func status() throws -> [String: Any] { try run(["outbox", "status", "--json"]).objects.first ?? [:] }
}

/// `sealedpush serve` in a separate process, which is killed with this object if it still runs.
final class ServedCommand: @unchecked Sendable {
    let process: ChildProcess
    let folder: TemporaryFolder
    /// The address that it printed.
    let place: [String: Any]
    private let log: String

    private init(process: ChildProcess, folder: TemporaryFolder, place: [String: Any], log: String) {
        (self.process, self.folder, self.place, self.log) = (process, folder, place, log)
    }

    deinit { process.kill() }

    var errors: String { (try? Checkout.text(folder.appending(log))) ?? "" }

    static let words = [
        "serve", "--from", "newsroom", "--topic", SendingFixture.topic, "--keyring", "Keys", "--json",
    ]

    /// - Parameter name: a suffix for the output files' names, if there are several services.
    static func start(
        _ fixture: SendingFixture, _ arguments: [String], as name: String = ""
    ) async throws -> ServedCommand {
        let (printed, log) = ("output\(name)", "errors\(name)")
        for name in [printed, log] { try Data().write(to: fixture.folder.appending(name)) }
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

    func curl(_ arguments: String...) throws -> (status: String, body: String) { try curl(arguments) }

    func curl(_ arguments: [String]) throws -> (status: String, body: String) {
        let result = try Program(at: "/usr/bin/curl", in: folder.url).run(["-sS", "-w", "\n%{http_code}"] + arguments)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return (lines.last ?? "", lines.dropLast().joined(separator: "\n"))
    }

    /// Sends a request to its socket, which must be `own.sock`.
    func ask(_ path: String, _ json: String? = nil) throws -> (status: String, body: String) {
        let socket = ["--unix-socket", "own.sock", "http://localhost\(path)"]
        return try curl(socket + (json.map { ["--json", $0] } ?? []))
    }

    /// Makes it reread its keys.
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
