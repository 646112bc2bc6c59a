internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushAPNs
internal import PushCore
internal import PushHTTP
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// The options of `doctor` that check this machine instead of a keyring or a payload.
struct HostOptions: ParsableArguments {
    @Flag(help: "Check the clock, the trust roots, the outbox, and APNs.") var host = false

    @Option(help: .value("place", "Check whether the service there is ready.")) var ready: ServerPlace?

    @OptionGroup(title: "Outbox") var outbox: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions

    var isGiven: Bool { host || ready != nil }

    /// Performs the checks, and prints the result of each.
    func check(topic: Topic?, json: Bool) async throws {
        var results: [JSONValue] = []
        var hasFailed = false
        for (name, check) in checks(topic) {
            let result: CheckResult
            do { result = try await check() } catch { result = .failed(CommandFailure.words(of: error)) }
            if case .failed = result { hasFailed = true }
            let (outcome, mark, words) = result.parts
            results.append(["name": .string(name), "outcome": .string(outcome), "words": .string(words)])
            if !json { try Output.line("\(mark)  \(name): \(TerminalText.printable(words))") }
        }
        if json { try Output.json(.array(results)) }
        if hasFailed { throw ExitCode(1) }
    }

    private func checks(_ topic: Topic?) -> [(String, () async throws -> CheckResult)] {
        (ready.map { place in [("ready", { try await Self.readiness(at: place) })] } ?? [])
            + (host
                ? [
                    ("version", { CheckResult.ok("sealedpush \(Version.text), libsodium \(Sodium.version)") }),
                    ("clock", Self.clock), ("trust-roots", Self.trustRoots), ("outbox", deviceCount),
                    ("apns", { try await apns(topic) }),
                ] : [])
    }

    private func deviceCount() async throws -> CheckResult {
        let opened = try await outbox.opened(toShow: true)
        let unusable = try await opened.readableUnusableDevices() ?? []
        guard unusable.isEmpty else {
            let more = unusable.count > 10 ? ["and \(unusable.count - 10) more; see `sealedpush device list`"] : []
            throw CommandFailure.input((unusable.prefix(10).map(\.warning) + more).joined(separator: "; "))
        }
        return .ok("\(outbox.shown) can be read; devices: \(try await opened.status().deviceCount.grouped)")
    }

    /// APNs refuses a provider token whose time is off by an hour. systemd reports the kernel's state for every NTP client.
    private static func clock() throws -> CheckResult {
        let (tool, output) = (Process(), Pipe())
        // This folder may be one that this user can't read.
        (tool.executableURL, tool.currentDirectoryURL) = (URL(filePath: "/usr/bin/timedatectl"), URL(filePath: "/"))
        (tool.arguments, tool.standardOutput) = (["show", "--property=NTPSynchronized", "--value"], output)
        tool.standardError = FileHandle.nullDevice
        let answer = (try? tool.run()).flatMap { try? output.fileHandleForReading.readToEnd() }
        switch answer.map({ String(decoding: $0, as: UTF8.self) }) {
        case "yes\n": return .ok("synchronized")
        case "no\n": throw CommandFailure.file("not synchronized; enable an NTP client, such as systemd-timesyncd")
        default: return .skipped("systemd doesn't report whether it is synchronized")
        }
    }

    /// The authority of APNs' certificates. Source: Apple, "Apple Push Notification service server certificate update" (2025).
    private static let appleRoot = "e793c9b02fd8aa13e21c31228accb08119643b749c898964b1746d46c3d4cbd2"

    private static func trustRoots() throws -> CheckResult {
        let files = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        guard let file = files.first(where: FileManager.default.fileExists) else {
            throw CommandFailure.file("no certificate authorities found; install the package ca-certificates")
        }
        let text = String(decoding: try InputFile.read(file, limit: 4_000_000), as: UTF8.self)
        let isThere = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").contains { part in
            let certificate = Data(base64Encoded: String(part.prefix { $0 != "-" }), options: .ignoreUnknownCharacters)
            return certificate.map { Hex.encode($0.withUnsafeBytes(SHA256.hash)) } == appleRoot
        }
        guard isThere else {
            throw CommandFailure.file("\(file) lacks the authority of APNs, USERTrust RSA; update ca-certificates")
        }
        return .ok("\(file) contains the authority of APNs")
    }

    private static func readiness(at place: ServerPlace) async throws -> CheckResult {
        let name = place.description(nil)
        guard let status = try? await place.readiness() else {
            throw CommandFailure.file("no service answers at \(name)")
        }
        guard status == 200 else {
            throw CommandFailure.file("\(name) answers \(status) to /readyz; see the service's log")
        }
        return .ok("the service at \(name) is ready")
    }

    /// Sends a push to a token that no device has. If APNs refuses only the token, everything else works.
    private func apns(_ topic: Topic?) async throws -> CheckResult {
        guard provider.isGiven, let topic, let nobody = DeviceToken(parsing: String(repeating: "0", count: 64)) else {
            return .skipped("specify --topic and --provider-key to check the connection")
        }
        let account = try provider.account()
        let transport = try account.transport(metrics: nil, logger: .toStandardError(isVerbose: false))
        let request = PushRequest(
            address: .apns(nobody, account.environment), body: Array(#"{"aps":{"alert":"doctor"}}"#.utf8), topic: topic,
            apnsID: UUID().uuidString.lowercased(), collapseID: "doctor", priority: .immediate, expiration: nil)
        let answer: APNsAnswer
        do throws(PushTransportError) { answer = try await transport.answer(to: request) } catch {
            await transport.shutDown()
            switch error {
            case .unreachable(let reason), .connectionLost(let reason):
                throw CommandFailure.file("no answer: \(reason)")
            default: throw CommandFailure.file("no answer: \(error.name)")
            }
        }
        await transport.shutDown()
        guard case .refused(let refusal) = answer, refusal.reason == .badDeviceToken else {
            let words = answer.outcome.reason?.name ?? "200"
            throw CommandFailure.file("APNs answers \(words); see Docs/Operations.md, chapter 9")
        }
        return .ok("\(account.configuration.endpoint) accepts the key and the topic")
    }
}

/// The result of a check of this machine, in words.
private enum CheckResult {
    case ok(String)
    /// The check isn't possible here, or wasn't requested.
    case skipped(String)
    case failed(String)

    /// The outcome in JSON, its mark in a list, and the words.
    var parts: (outcome: String, mark: String, words: String) {
        switch self {
        case .ok(let words): ("ok", "ok  ", words)
        case .skipped(let words): ("skipped", "-   ", words)
        case .failed(let words): ("failed", "FAIL", words)
        }
    }
}
