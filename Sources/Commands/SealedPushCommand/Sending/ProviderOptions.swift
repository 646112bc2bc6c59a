internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import Logging
internal import Metrics
internal import PushAPNS
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// How APNs is reached, and as whom: Apple's with a key from the developer account, or a local one by its folder.
struct ProviderOptions: ParsableArguments {
    @Option(help: .value("key", "KEYID,TEAMID,FILE.p8 of Apple's provider key.")) var providerKey: ProviderKeyName?

    @Option(help: .value("name", "Apple's service.")) var environment: PushEnvironment?

    @Option(help: .value("folder", "A local APNs (device-simulator apns).")) var apns: String?

    var isGiven: Bool { apns != nil || providerKey != nil }

    /// Reads the provider's key.
    func account() throws -> ProviderAccount {
        if let apns { return try local(apns) }
        guard let providerKey else {
            throw Failure.usage(
                "say how to reach APNs: --provider-key KEYID,TEAMID,FILE.p8, or --apns FOLDER for a local one")
        }
        let environment = environment ?? .production
        return ProviderAccount(
            configuration: APNSConfiguration(
                endpoint: environment == .production ? .production : .sandbox, key: try providerKey.read()),
            environment: environment, limits: CourierLimits(), delayScale: 1)
    }

    /// What a local APNs has written into its folder for providers.
    private func local(_ folder: String) throws -> ProviderAccount {
        struct Address: Decodable {
            let port: Int
            let root: String
            let key: String
            let keyID: String
            let teamID: String
            let environment: PushEnvironment
        }
        let file = URL(filePath: folder).appending(path: "address.json")
        // What is written there decides with whom this program speaks, and which key file it reads.
        guard DurableFiles.stranger(in: URL(filePath: folder)) == nil else {
            throw Failure(
                status: 77, message: "others may write in \(folder): use a folder of your own for a local APNs")
        }
        let bytes: [UInt8]
        do { bytes = try Input.read(file.path(percentEncoded: false), limit: 65_536) } catch {
            throw Failure.file(
                "no local APNs has been started in \(folder): `device-simulator apns --folder \(folder)`")
        }
        guard let address = try? JSONDecoder().decode(Address.self, from: Data(bytes)),
            (1...65_535).contains(address.port)
        else { throw Failure.input("\(file.path(percentEncoded: false)) is damaged, or has no provider key") }
        guard environment.map({ $0 == address.environment }) ?? true
        else { throw Failure.usage("the local APNs in \(folder) is \(address.environment.rawValue)") }
        let own = ProviderKeyName(keyID: address.keyID, teamID: address.teamID, file: address.key)
        var configuration = APNSConfiguration(
            endpoint: APNSEndpoint(host: "localhost", port: address.port), key: try (providerKey ?? own).read())
        let root = try Input.read(address.root, limit: 1_000_000)
        do throws(APNSConfigurationError) {
            configuration.trustRoots = try TrustRoots(pem: root)
        } catch { throw Failure.input("\(address.root) has no certificates in PEM") }
        // A rehearsal does not wait for an hour.
        var limits = CourierLimits(lease: .seconds(5))
        limits.delayFactor = Self.localDelayScale
        return ProviderAccount(
            configuration: configuration, environment: address.environment, limits: limits,
            delayScale: Self.localDelayScale)
    }

    private static let localDelayScale = 0.001
}

/// A provider's key with all that a delivery needs to know.
struct ProviderAccount: Sendable {
    let configuration: APNSConfiguration
    let environment: PushEnvironment
    let limits: CourierLimits
    /// By how much pauses are shorter than with Apple.
    let delayScale: Double

    func transport(metrics: PrometheusMetrics?, logger: Logger) throws -> APNSTransport {
        do throws(APNSConfigurationError) {
            return try APNSTransport(configuration, logger: logger, metrics: metrics ?? MetricsSystem.factory)
        } catch { throw Failure(status: 69, message: "TLS can't be set up on this machine") }
    }
}

/// `KEYID,TEAMID,FILE`
struct ProviderKeyName {
    let keyID: String
    let teamID: String
    let file: String

    func read() throws -> ProviderKey {
        var pem = try SecretFile.read(file, limit: 16_384)
        defer { wipeSecret(&pem) }
        do throws(APNSConfigurationError) { return try ProviderKey(pem: pem, keyID: keyID, teamID: teamID) } catch {
            let found: String
            switch error {
            case .malformedIdentifier: throw Failure.usage("a key ID and a team ID are 10 letters and digits each")
            case .otherPEM(let other): found = " but a \(other.rawValue.lowercased())"
            case .malformedKey, .malformedTrustRoots, .tls: found = ""
            }
            throw Failure.input(
                "\(file) is not a .p8 key (a P-256 private key in PEM) as Apple's developer account gives it\(found)")
        }
    }
}

extension ProviderKeyName: ExpressibleByArgument {
    init?(argument text: String) {
        let parts = text.split(separator: ",", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return nil }
        self.init(keyID: parts[0], teamID: parts[1], file: parts[2])
    }
}
