public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import Logging
internal import Metrics
public import PushAPNS
internal import PushKeyring
internal import PushSender
internal import PushServer
internal import SealedPush
internal import _PushBase

/// How APNs is reached, and as whom: Apple's with a key from the developer account, or a local one by its folder.
struct ProviderOptions: ParsableArguments {
    @Option(help: "A local APNs' folder (device-simulator apns), in place of Apple's.")
    var apns: String?

    @Option(help: "The .p8 file of a key from Apple's developer account.")
    var providerKey: String?

    @Option(help: "The key's ID: 10 letters and digits, as in the file's name.")
    var keyID: String?

    @Option(help: "The team's ID: 10 letters and digits.")
    var teamID: String?

    @Option(help: "Which of Apple's services, and which devices: production or sandbox.")
    var environment: PushEnvironment?

    @Option(help: "Another server than Apple's, as HOST:PORT; its devices are those of --environment.")
    var server: APNSEndpoint?

    @Option(help: "A PEM file with the only certificate authorities to believe.")
    var trustRoots: String?

    @Flag(help: "Log each refusal and each connection's events to standard error; public IDs only.")
    var verbose = false

    var isGiven: Bool { apns != nil || providerKey != nil }

    func validate() throws {
        guard apns == nil || (server == nil && [providerKey, keyID, teamID, trustRoots].allSatisfy({ $0 == nil }))
        else {
            throw ValidationError("--apns names a local APNs, with its own key: leave out the options for Apple's.")
        }
        guard providerKey == nil || (keyID != nil && teamID != nil) else {
            throw ValidationError("--provider-key needs --key-id and --team-id.")
        }
    }

    /// A transport, and the environment whose devices it delivers to.
    func transport(
        metrics: PrometheusMetrics? = nil
    ) throws -> (transport: APNSTransport, environment: PushEnvironment) {
        let provider = try provider()
        do {
            return (
                try APNSTransport(
                    provider.configuration, logger: logger, metrics: metrics ?? MetricsSystem.factory),
                provider.environment
            )
        } catch { throw Self.failure(error, key: provider.keyFile) }
    }

    /// To standard error; public IDs only.
    var logger: Logger {
        var log = Logger(label: "sealedpush") { label in StreamLogHandler.standardError(label: label) }
        log.logLevel = verbose ? .debug : .error
        return log
    }

    private struct Provider {
        var configuration: APNSConfiguration
        var environment: PushEnvironment
        var keyFile: String
    }

    private func provider() throws -> Provider {
        if let apns { return try local(apns) }
        guard let providerKey, let keyID, let teamID else {
            throw Failure.usage(
                "say how to reach APNs: --provider-key FILE.p8 --key-id ID --team-id ID, or --apns FOLDER for a local one"
            )
        }
        let environment = environment ?? .production
        let endpoint = server ?? (environment == .production ? .production : .sandbox)
        return try provider(
            key: providerKey, keyID: keyID, teamID: teamID, endpoint: endpoint, roots: trustRoots,
            environment: environment)
    }

    /// What a local APNs has written into its folder for providers.
    private func local(_ folder: String) throws -> Provider {
        struct Address: Decodable {
            var host: String
            var port: Int
            var root: String
            var key: String?
            var keyID: String?
            var teamID: String?
            var environment: PushEnvironment
        }
        let file = URL(filePath: folder).appending(path: "address.json")
        // What is written there decides with whom this program speaks, and which key file it reads.
        guard DurableFiles.stranger(in: URL(filePath: folder)) == nil else {
            throw Failure(
                status: 77,
                message:
                    "others may write in \(folder), and so decide what counts as a local APNs: use a folder of your own"
            )
        }
        let bytes: [UInt8]
        do { bytes = try Input.read(file.path(percentEncoded: false), limit: 65_536) } catch {
            throw Failure.file(
                "no local APNs has been started in \(folder): `device-simulator apns --folder \(folder)`")
        }
        guard let address = try? JSONDecoder().decode(Address.self, from: Data(bytes)), let key = address.key,
            let keyID = address.keyID, let teamID = address.teamID, (1...65_535).contains(address.port)
        else { throw Failure.input("\(file.path(percentEncoded: false)) is damaged, or has no provider key") }
        guard environment.map({ $0 == address.environment }) ?? true else {
            throw Failure.usage("the local APNs in \(folder) is \(address.environment.rawValue)")
        }
        return try provider(
            key: key, keyID: keyID, teamID: teamID, endpoint: APNSEndpoint(host: "localhost", port: address.port),
            roots: address.root, environment: address.environment)
    }

    private func provider(
        key file: String, keyID: String, teamID: String, endpoint: APNSEndpoint, roots: String?,
        environment: PushEnvironment
    ) throws -> Provider {
        var pem = try SecretFile.read(file, limit: 16_384)
        defer { wipeSecret(&pem) }
        do {
            let key = try ProviderKey(pem: pem, keyID: keyID, teamID: teamID)
            var configuration = APNSConfiguration(endpoint: endpoint, key: key)
            if let roots {
                configuration.trustRoots = try TrustRoots(pem: try Input.read(roots, limit: 1_000_000))
            }
            return Provider(configuration: configuration, environment: environment, keyFile: file)
        } catch let error as APNSConfigurationError { throw Self.failure(error, key: file) }
    }

    private static func failure(_ error: APNSConfigurationError, key: String) -> Failure {
        switch error {
        case .malformedKey:
            .input("\(key) is no .p8 key (a P-256 private key in PEM), as Apple's developer account gives")
        case .malformedIdentifier: .usage("a key ID and a team ID are 10 letters and digits each")
        case .malformedTrustRoots: .input("--trust-roots has no certificates in PEM")
        case .tls: Failure(status: 69, message: "TLS can't be set up on this machine")
        }
    }
}

extension APNSEndpoint: ExpressibleByArgument {
    /// `HOST:PORT`
    public init?(argument text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port), colon > text.startIndex
        else { return nil }
        self.init(host: text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port)
    }
}
