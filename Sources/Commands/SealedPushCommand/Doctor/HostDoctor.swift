internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushAPNS
internal import PushCore
internal import PushHTTP
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// The options of `doctor` that check this machine instead of a keyring or a payload.
struct HostOptions: ParsableArguments {
    @Flag(help: "Check the clock, the trust roots, the outbox, and the connection to APNs.") var host = false

    @Option(help: .value("place", "Check whether a running service is ready: a socket or HOST:PORT.")) var ready:
        ServerPlace?

    @OptionGroup(title: "Outbox") var outbox: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions

    var isGiven: Bool { host || ready != nil }

    /// Performs the checks in order. Those of APNs need a topic.
    func checks(topic: Topic?) async -> [HostCheck] {
        var checks: [HostCheck] = []
        if let ready { checks.append(await HostCheck("ready") { try await Self.readiness(at: ready) }) }
        guard host else { return checks }
        checks += [
            await HostCheck("version") { "sealedpush \(Version.text), libsodium \(Sodium.version)" },
            await HostCheck("clock", Self.clock), await HostCheck("trust-roots", Self.trustRoots),
            await HostCheck("outbox") {
                let status = try await outbox.opened(toShow: true).status()
                return "\(outbox.shown) can be read; devices: \(status.deviceCount.grouped)"
            },
        ]
        if provider.isGiven, let topic {
            checks.append(await HostCheck("apns") { try await apns(topic) })
        } else {
            checks.append(HostCheck(skipping: "apns", "not checked; specify --topic and --provider-key"))
        }
        return checks
    }
}

/// One check of a machine.
struct HostCheck {
    enum Outcome: String { case ok, failed, skipped }

    let name: String
    let outcome: Outcome
    let words: String

    init(_ name: String, _ check: () async throws -> String) async {
        self.name = name
        do { (outcome, words) = (.ok, try await check()) } catch {
            (outcome, words) = (.failed, Failure.words(of: error))
        }
    }

    init(skipping name: String, _ words: String) { (self.name, outcome, self.words) = (name, .skipped, words) }

    var line: String {
        let mark =
            switch outcome {
            case .ok: "ok  "
            case .failed: "FAIL"
            case .skipped: "    "
            }
        return "\(mark)  \(name): \(TerminalText.printable(words))"
    }

    var json: JSONValue { ["name": .string(name), "outcome": .string(outcome.rawValue), "words": .string(words)] }
}

extension HostOptions {
    /// APNs refuses a provider token whose time is off by an hour. systemd reports the kernel's state for every NTP client.
    private static func clock() throws -> String {
        let (tool, output) = (Process(), Pipe())
        tool.executableURL = URL(filePath: "/usr/bin/timedatectl")
        (tool.arguments, tool.standardOutput) = (["show", "--property=NTPSynchronized", "--value"], output)
        tool.standardError = FileHandle.nullDevice
        let answer = (try? tool.run()).flatMap { try? output.fileHandleForReading.readToEnd() }
        switch answer.map({ String(decoding: $0, as: UTF8.self) }) {
        case "yes\n": return "synchronized"
        case "no\n": throw Failure.file("not synchronized; enable an NTP client, such as systemd-timesyncd")
        default: return "systemd doesn't report whether it is synchronized"
        }
    }

    /// The authority of APNs' certificates. Source: Apple, "Apple Push Notification service server certificate update" (2025).
    private static let appleRoot = "e793c9b02fd8aa13e21c31228accb08119643b749c898964b1746d46c3d4cbd2"

    private static func trustRoots() throws -> String {
        let files = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        guard let file = files.first(where: FileManager.default.fileExists) else {
            throw Failure.file("no certificate authorities found; install the package ca-certificates")
        }
        let text = String(decoding: try Input.read(file, limit: 4_000_000), as: UTF8.self)
        for part in text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst() {
            let lines = part.prefix { $0 != "-" }.filter { !$0.isNewline }
            guard let certificate = Data(base64Encoded: String(lines)) else { continue }
            let hash = certificate.withUnsafeBytes { SHA256.hash($0) }
            if Hex.encode(hash) == appleRoot { return "\(file) contains the authority of APNs" }
        }
        throw Failure.file("\(file) lacks the authority of APNs, USERTrust RSA; update ca-certificates")
    }

    private static func readiness(at place: ServerPlace) async throws -> String {
        let status: Int
        do { status = try await place.readiness() } catch {
            throw Failure.file("no service answers at \(place.description(nil))")
        }
        guard status == 200 else {
            throw Failure.file("\(place.description(nil)) answers \(status) to /readyz; see the service's log")
        }
        return "the service at \(place.description(nil)) is ready"
    }

    /// Sends a push to a token that no device has. If APNs refuses only the token, everything else works.
    private func apns(_ topic: Topic) async throws -> String {
        let account = try provider.account()
        let transport = try account.transport(metrics: nil, logger: .toStandardError(isVerbose: false))
        let request = PushRequest(
            address: .apns(DeviceToken(parsing: String(repeating: "0", count: 64))!, account.environment),
            body: Array(#"{"aps":{"alert":"sealedpush doctor"}}"#.utf8), topic: topic,
            apnsID: UUID().uuidString.lowercased(),
            collapseID: "doctor",
            priority: .considerate, expiration: nil)
        let answer: APNSAnswer
        do throws(PushTransportError) { answer = try await transport.answer(to: request) } catch {
            await transport.shutDown()
            switch error {
            case .unreachable(let reason), .connectionLost(let reason): throw Failure.file("no answer: \(reason)")
            default: throw Failure.file("no answer: \(error.name)")
            }
        }
        await transport.shutDown()
        guard case .refused(let refusal) = answer else {
            throw Failure.file("\(account.configuration.endpoint) accepts a token that no device has, so it isn't APNs")
        }
        let reason = refusal.reason ?? "status \(refusal.status)"
        guard reason == "BadDeviceToken" else {
            throw Failure.file("APNs answers \(reason); see Docs/Operations.md, chapter 9")
        }
        return "\(account.configuration.endpoint) accepts the key and the topic"
    }
}
