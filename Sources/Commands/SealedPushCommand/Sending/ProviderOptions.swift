internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushAPNs
internal import PushCore
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// The options that select APNs and the provider's key: Apple's service with a developer account's key, or a local one.
struct ProviderOptions: ParsableArguments {
    @Option(help: .value("key", "KEYID,TEAMID,FILE.p8 for Apple's provider key.")) var providerKey: ProviderKeyName?

    @Option(help: .value("name", "Apple's service.")) var environment: PushEnvironment?

    @Option(help: .value("folder", "A local APNs (device-simulator apns).")) var apns: String?

    @Option(help: .value("place", "An HTTP proxy that supports CONNECT."), transform: Self.proxy) var proxy:
        HostAndPort?

    func validate() throws {
        guard apns.map(TypedPath.isPath) ?? true else {
            throw ValidationError("--apns must be a folder's path, starting with / or ./ if it contains any of :=?@.")
        }
        guard isGiven || proxy == nil && environment == nil else {
            throw ValidationError("--proxy and --environment need --provider-key or --apns.")
        }
    }

    private static func proxy(_ text: String) throws -> HostAndPort {
        guard !text.contains("@") else { throw ValidationError("a proxy with a password isn't supported") }
        guard let place = HostAndPort(parsing: text), place.port > 0 else {
            throw ValidationError("it must be HOST:PORT")
        }
        return place
    }

    var isGiven: Bool { apns != nil || providerKey != nil }

    /// Reads the provider's key.
    func account() throws -> ProviderAccount {
        var account = try apns.map(local) ?? apple()
        if let proxy { account.configuration.proxy = APNsEndpoint(host: proxy.host, port: proxy.port) }
        return account
    }

    private func apple() throws -> ProviderAccount {
        guard let providerKey else {
            throw CommandFailure.usage(
                "use --provider-key KEYID,TEAMID,FILE.p8 to reach APNs, or --apns FOLDER for a local one")
        }
        let environment = environment ?? .production
        return ProviderAccount(
            configuration: APNsConfiguration(
                endpoint: environment == .production ? .production : .sandbox, key: try providerKey.read()),
            environment: environment, limits: CourierLimits())
    }

    /// Reads the address and key that a local APNs wrote to its folder for providers.
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
        // The folder's files decide which server this program contacts and which key file it reads.
        let exposure: Exposure?
        do throws(DurableFiles.Failure) { exposure = try Exposure.ofFolder(folder) } catch {
            throw CommandFailure.file("\(folder): \(error.message)")
        }
        guard exposure == nil else {
            throw CommandFailure(
                status: 77,
                message: "other users can write to \(exposure!.path); use a private folder for a local APNs")
        }
        guard DurableFiles.modified(file) != nil else {
            throw CommandFailure.file(
                "no local APNs was started in \(folder); start one with `device-simulator apns --folder \(folder)`")
        }
        let bytes = try InputFile.read(file.path(percentEncoded: false), limit: 65_536, isSetting: true)
        guard let address = try? JSONDecoder().decode(Address.self, from: Data(bytes)),
            (1...65_535).contains(address.port)
        else {
            throw CommandFailure.input("\(file.path(percentEncoded: false)) is damaged, or contains no provider key")
        }
        guard environment.map({ $0 == address.environment }) ?? true
        else { throw CommandFailure.usage("the local APNs in \(folder) is for \(address.environment.rawValue)") }
        let own = ProviderKeyName(keyID: address.keyID, teamID: address.teamID, file: address.key)
        var configuration = APNsConfiguration(
            endpoint: APNsEndpoint(host: "localhost", port: address.port),
            key: try providerKey?.read() ?? own.read(from: "--apns"))
        let root = try InputFile.read(address.root, limit: 1_000_000, isSetting: true)
        do throws(APNsConfigurationError) {
            configuration.trustRoots = try TrustRoots(pem: root)
        } catch { throw CommandFailure.input("\(address.root) contains no PEM certificates") }
        // Shorten delays, so that a rehearsal doesn't wait for an hour.
        var limits = CourierLimits(lease: .seconds(5))
        limits.delayFactor = Self.localDelayFactor
        return ProviderAccount(
            configuration: configuration, environment: address.environment, limits: limits)
    }

    private static let localDelayFactor = 0.001
}

/// `KEYID,TEAMID,FILE`
struct ProviderKeyName {
    let keyID: String
    let teamID: String
    let file: String

    /// - Parameter option: the option that names the file.
    func read(from option: String = "--provider-key") throws -> ProviderKey {
        let file = SecretFile(file, from: option)
        var pem = try file.read(limit: 16_384)
        defer { wipe(&pem) }
        do throws(APNsConfigurationError) { return try ProviderKey(pem: pem, keyID: keyID, teamID: teamID) } catch {
            guard error != .malformedIdentifier else { throw CommandFailure.usage(error.description) }
            throw CommandFailure.input("\(file): \(error)")
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
