internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushPage
internal import PushSimulator
internal import SimulatedAPNs

/// `device-simulator apns`
struct APNsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "A local APNs: HTTP/2 over TLS, with the checks, answers and throttling of Apple's.",
        discussion: """
            Keeps its certificate, a provider key of its own making (.p8), the devices and a log in FOLDER; address.json \
            there says where it listens. Devices reach it through a Unix socket in FOLDER: `device-simulator run`.

            Faults are chances from 0 to 1, and can be changed while it runs:
              curl --unix-socket APNs/control.sock -X PUT -d '{"resets": 0.05}' http://localhost/faults
            What Apple leaves unknown is strict unless made lenient; the questions are:
              \(APNsQuestion.allCases.map(\.rawValue).joined(separator: ", "))

            Examples:
              device-simulator apns --folder APNs
              device-simulator apns --folder APNs --page 127.0.0.1:0
              device-simulator apns --folder APNs --port 8443 --resets 0.05 --lost 0.05 --seed 7 --json

            Ends with Ctrl-C. Exit status: 0 done, 64 wrong use, 69 the port can't be had, 74 files.
            """)

    @Option(help: "The server's folder; made where it is missing.")
    var folder: String

    @Option(help: "Where providers connect; 0 for any free port.")
    var port = 0

    @Option(help: .hidden)
    var controlPort: Int?

    @Option(help: "The address where providers connect. Everyone who reaches it can send.")
    var host = "127.0.0.1"

    @Option(help: "sandbox or production.")
    var environment = APNsEnvironment.production

    @Option(help: ArgumentHelp("A further name for the certificate, where one is made.", valueName: "host"))
    var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "A provider's key to accept: its ID, the team's ID and a file (.p8 or a public key in PEM).",
            valueName: "id,team,file"))
    var key: [String] = []

    @Option(help: "A question to be lenient about, or all; may be given several times.")
    var lenient: [Leniency] = []

    @Option(help: "Of the faults; printed, so that they can be had again.")
    var seed: UInt64?

    @OptionGroup var faults: FaultOptions
    @OptionGroup var limits: LimitOptions

    @Option(help: "off, headers (and the payloads' outlines), or payloads too.")
    var log = APNsLogDetail.headers

    @Option(
        help: "Show what happens on a page, for a browser on this machine: HOST:PORT, or a socket's path.",
        transform: PagePlace.init(parsing:))
    var page: PagePlace?

    @Flag(help: "Accept tokens that no device has, for measurements.")
    var anyDevice = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard !folder.isEmpty else { throw ValidationError("--folder is empty: name the server's folder.") }
        guard (0...65_535).contains(port) else { throw ValidationError("A port is 0 to 65535.") }
        guard controlPort == nil else {
            throw ValidationError(
                "--control-port is gone: FOLDER/control.sock is in its place, for you alone: curl --unix-socket FOLDER/control.sock http://localhost/status"
            )
        }
        _ = try configuration()
    }

    func run() throws {
        let settings = try configuration()
        let given = key
        try runUntilDone { ended in
            let keys = try given.map(Self.providerKey)
            let shown = try await startPage()
            let contents = shown.map { APNsPage($0) }
            var configuration = settings
            configuration.watcher = contents?.take
            let server: LocalAPNs
            do throws(LocalAPNsError) {
                server = try await LocalAPNs.start(
                    folder: URL(filePath: folder), configuration: configuration, names: name)
            } catch {
                throw Failure(error)
            }
            for key in keys { server.register(key) }
            try announce(server.address)
            if let shown { try printLine(json ? #"{"page":"\#(shown.address)"}"# : "  page      \(shown.address)") }
            let following = Task { await contents?.follow(server) }
            await ended()
            following.cancel()
            await server.stop()
            await shown?.stop()
        }
    }

    private func startPage() async throws -> WatchPage? {
        guard let page else { return nil }
        do throws(PageError) { return try await WatchPage.start(at: page, title: "A local APNs and its phones") } catch
        {
            throw Failure(status: 69, message: error.description)
        }
    }

    private func configuration() throws -> LocalAPNsConfiguration {
        var configuration = LocalAPNsConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.environment = environment
        for leniency in lenient { configuration.lenient.formUnion(leniency.questions) }
        configuration.log = log
        if let seed { configuration.seed = seed }
        configuration.acceptsAnyDevice = anyDevice
        configuration.faults = try faults.faults()
        try limits.apply(to: &configuration)
        return configuration
    }

    private static func providerKey(_ text: String) throws -> ProviderKey {
        let parts = text.split(separator: ",", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { throw Failure(status: 64, message: "--key takes ID,TEAM,FILE") }
        let pem = try SecretFile.read(parts[2], limit: 16_384)
        guard let publicKey = ProviderKey.publicKey(pem: String(decoding: pem, as: UTF8.self)) else {
            throw Failure(status: 65, message: "\(parts[2]) holds no P-256 key in PEM")
        }
        return ProviderKey(keyID: parts[0], teamID: parts[1], publicKey: publicKey)
    }

    private func announce(_ address: LocalAPNsAddress) throws {
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try printLine(String(decoding: try encoder.encode(address), as: UTF8.self))
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
    }
}

/// What `--lenient` takes.
struct Leniency: ExpressibleByArgument {
    let questions: Set<APNsQuestion>

    init?(argument: String) {
        guard let question = APNsQuestion(rawValue: argument) else {
            guard argument == "all" else { return nil }
            questions = Set(APNsQuestion.allCases)
            return
        }
        questions = [question]
    }
}

extension APNsEnvironment: ExpressibleByArgument {}
extension APNsLogDetail: ExpressibleByArgument {}
