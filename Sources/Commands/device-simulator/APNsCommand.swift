public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import SealedPush
internal import SimulatedAPNs

/// `device-simulator apns`
struct APNsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Run a local APNs: HTTP/2 over TLS, with Apple's checks, responses, and throttling.",
        usage: "device-simulator apns --folder <folder> [<options>]",
        discussion: """
            The folder contains a certificate, a provider key (.p8), the devices, a log, and address.json with the \
            server's address. Phones (`device-simulator run`) connect through a socket in the folder.

            Faults are probabilities from 0 to 1: resets, lostResponses, tooManyRequests, serverErrors, unavailable, \
            and duplicates. The others are latencyMillisecondsMinimum, latencyMillisecondsMaximum, goAwayEvery, and \
            streamsAfterError. You can change them while the server runs:
              curl --unix-socket APNs/control.sock -X PUT -d '{"resets": 0.05}' \\
                http://localhost/faults

            Examples:
              device-simulator apns --folder APNs --page 127.0.0.1:0
              device-simulator apns --folder APNs --faults '{"resets": 0.05}' --seed 7

            Press Ctrl-C to stop. Exit status: 0 done, 64 usage, 69 port in use, 74 files.
            """)

    @Option(help: "The server's folder; created if missing.") var folder: String

    @Option(help: "The port for providers; 0 for any free port.") var port = 0

    @Option(help: "The APNs environment to simulate.") var environment = PushEnvironment.production

    @Option(help: .value("id,team,file", "Also accept this provider key: a .p8 file or a public key in PEM."))
    var key: [String] = []

    @Option(help: .value("json", "The faults to inject.")) var faults = APNsFaults()

    @Option(help: "The seed for injected faults; printed, so that a run can be repeated.") var seed: UInt64?

    @Option(help: "How much to log; payloads includes headers.") var log = APNsLogDetail.headers

    @Option(help: .value("host:port", "Show activity in a browser on this machine; port 0 for any free port."))
    var page: PagePlace?

    @Flag(help: "Print one JSON object per line.") var json = false

    func validate() throws {
        guard TypedPath.isPath(folder) else {
            throw ValidationError("--folder must be a folder's path, starting with / or ./ if it contains any of :=?@.")
        }
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
    }

    func run() throws {
        try runUntilDone { ended in
            let configuration = try configuration()
            let server: LocalAPNs
            do throws(LocalAPNsError) {
                server = try await LocalAPNs.start(folder: URL(filePath: folder), configuration: configuration)
            } catch { throw CommandFailure(error) }
            try announce(server)
            await ended()
            await server.stop()
        }
    }

    private func configuration() throws(CommandFailure) -> LocalAPNsConfiguration {
        var configuration = LocalAPNsConfiguration()
        configuration.port = port
        configuration.environment = environment
        configuration.log = log
        if let seed { configuration.seed = seed }
        configuration.faults = faults
        configuration.page = page
        configuration.providerKeys = try key.map(Self.providerKey)
        return configuration
    }

    private static func providerKey(_ text: String) throws(CommandFailure) -> AcceptedProviderKey {
        let parts = text.split(separator: ",", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { throw CommandFailure(status: 64, message: "--key must be ID,TEAM,FILE") }
        let file = SecretFile(parts[2], from: "--key")
        let pem = String(decoding: try file.read(limit: 16_384, isExposedAllowed: true), as: UTF8.self)
        // A public key may be read by anyone. Standard input isn't a file that others could read.
        if pem.contains("PRIVATE KEY"), !file.isStandardInput { _ = try file.read(limit: 16_384) }
        guard let publicKey = AcceptedProviderKey.publicKey(pem: pem) else {
            throw CommandFailure.input("\(file) doesn't contain a P-256 key in PEM")
        }
        return AcceptedProviderKey(keyID: parts[0], teamID: parts[1], publicKey: publicKey)
    }

    private func announce(_ server: LocalAPNs) throws {
        let address = server.address
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try printLine(String(decoding: try encoder.encode(address), as: UTF8.self))
            if let page = server.pageAddress { try printLine(#"{"page":"\#(page)"}"#) }
            return
        }
        try printLine("local APNs (\(address.environment.rawValue)) on https://\(address.host):\(address.port)")
        try printLine("  control   curl --unix-socket \(address.control) http://localhost/status")
        try printLine("  devices   \(address.devices)")
        try printLine("  root      \(address.root)")
        if let keyID = address.keyID, let teamID = address.teamID {
            try printLine("  key       \(address.key ?? "(not here)"), key ID \(keyID), team ID \(teamID)")
        }
        try printLine("  seed      \(address.seed)")
        if let page = server.pageAddress { try printLine("  page      \(page)") }
    }
}

extension PushEnvironment: ExpressibleByArgument {}
extension APNsLogDetail: ExpressibleByArgument {}

extension APNsFaults: ExpressibleByArgument {
    package init?(argument: String) { self.init(parsing: Data(argument.utf8)) }
    package var defaultValueDescription: String { "none" }
}

extension PagePlace: ExpressibleByArgument {
    package init?(argument: String) { self.init(parsing: argument) }
}
