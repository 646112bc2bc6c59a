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

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a back end and phones over HTTP until stopped.",
        discussion: """
            A place is a socket's path, or HOST:PORT. Docs/openapi.yaml has all paths. With APNs' options it delivers, too. \
            SIGHUP rereads keys, tokens, sender set, TLS.
            Example: sealedpush serve --from newsroom --topic app.id --apns APNs
            Exit status: 0 stopped, 64 usage, 65 input, 74 file or port, 75 busy, 77 keys.
            """)

    @Option(help: "The sender: a name in the keyring.") var from: KeyName

    @OptionGroup(title: "Listening") var listening: ListeningOptions
    @OptionGroup(title: "Sealing") var sealing: SealingOptions
    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions
    @OptionGroup(title: "Watching") var observing: ObservationOptions

    func run() async throws {
        let observation = Observation()
        // From the start: a hangup ends nothing.
        let running = Locked<(@Sendable () -> Void)?>(nil)
        let hangUp = Interrupt([], onHangUp: { running.withLock { $0 }?() })
        defer { withExtendedLifetime(hangUp) {} }
        let outbox = try await options.openedOrMade()
        // A no-op registration fails exactly where a real one would: a service that says that it is ready, and then can't
        // enroll or send, helps nobody.
        try await outbox.register([])
        let keys = try keyring.keys("serve")
        // Looked at before anything listens.
        let account = try provider.isGiven ? provider.account() : nil
        let server = try server(keys, outbox, observation)
        running.withLock { $0 = { readAgain(keys, for: server) } }
        let interrupt = Interrupt()
        let stop: @Sendable () -> Void = { Task { await server.stop() } }
        try await interrupt.calling(stop) {
            try await observing.serving(observation, of: outbox, interrupt) {
                async let delivered: Void = deliver(account, outbox, observation, interrupt)
                async let served: Void = serve(server, interrupt)
                _ = try await (served, delivered)
            }
        }
    }

    /// Until the server is stopped.
    private func serve(_ server: PushServer, _ interrupt: Interrupt) async throws {
        defer { interrupt.fire() }
        // It serves even if nobody reads what it says.
        try await server.run { port, phonesPort in try? listening.announce(port, phonesPort) }
    }

    private func deliver(
        _ account: ProviderAccount?, _ outbox: Outbox, _ observation: Observation, _ interrupt: Interrupt
    ) async throws {
        guard let account else { return }
        let delivery = LastingDelivery(
            outbox: outbox, account: account, reread: provider.account, logger: observing.logger, interrupt: interrupt,
            observation: observation)
        try await delivery.run()
    }

    private func server(_ keys: Keyring, _ outbox: Outbox, _ observation: Observation) throws -> PushServer {
        // Whatever is made from here on, the socket above all, is this user's alone.
        umask(0o077)
        Descriptors.raise(to: 8_192)
        let state = ServerState(
            keys: try sender(keys), senderSet: try listening.senderSet(for: sealing.topic),
            tokens: try listening.tokens())
        return try PushServer(
            at: listening.listen, phones: listening.phones, certificate: try listening.certificate(), outbox: outbox,
            state: state, metrics: observation.metrics, logger: observing.logger)
    }

    /// A receipt is believed for 7 days, and a day is for clocks: so long the keys of before count for receipts.
    private func sender(_ keys: Keyring) throws -> SenderKeys {
        let sealer = try sealing.sealer(from: from, keys, keyring)
        let recent = try keys.senderKeys(named: from, retiredWithin: 8 * 86_400)
        return SenderKeys(
            sender: try keys.senderKey(named: from), sealer: sealer,
            receipts: ReceiptReceiver(keys: recent.map { ReceiptKey(of: $0, for: sealing.topic) }),
            service: listening.service)
    }

    // MARK: On SIGHUP

    /// Each part by itself: one that can't be read does not keep the others from being read.
    private func readAgain(_ keys: Keyring, for server: PushServer) {
        let results = [
            reads("the sender's keys") { try readSenderAgain(keys, for: server) },
            reads("the tokens") { server.use(tokens: try listening.tokens()) },
            reads("the sender set") { server.use(senderSet: try listening.senderSet(for: sealing.topic)) },
            reads("the certificate") { server.use(certificate: try listening.certificate()) },
        ]
        if !results.contains(false), server.isSealing {
            Failure.report("keys, tokens, sender set and certificate were read again")
        }
    }

    private func reads(_ name: String, _ read: () throws -> Void) -> Bool {
        do {
            try read()
            return true
        } catch {
            Failure.report(
                "\(name) could not be read again, and what was read before stays in use: \(Failure.words(of: error))")
            return false
        }
    }

    private func readSenderAgain(_ keys: Keyring, for server: PushServer) throws {
        do {
            server.use(keys: try sender(keys))
        } catch {
            let way: String
            switch error as? KeyringError {
            // It was read, and has no key to seal with: revoked, erased or removed, or one that waits beside a revoked one.
            case .notUsable, .notFound, .noSecret, .wrongKind: way = "SIGHUP finds another key"
            // It was sealed anew, as after a theft: a key that can't be looked at is not sealed with.
            case .wrongSecret, .needsSecret: way = "this is started with its new secret"
            default:
                // The keys may have been revoked. A damaged or busy file ends no service, but /readyz says that it can't be
                // relied on.
                server.doubtSender()
                throw error
            }
            server.withdrawSender()
            Failure.report(
                "nothing is sealed any more, and all logins are refused, until \(way): \(Failure.words(of: error))")
        }
    }
}

/// Where `serve` listens, and with what it proves who it is.
struct ListeningOptions: ParsableArguments {
    @Option(help: .value("place", "For the back end.")) var listen = ServerPlace.socket("sealedpush.sock")

    @Option(help: .value("place", "For phones.")) var phones: ServerPlace?

    @Option(help: .value("file", "The back end's token, or two while it changes.")) var tokenFile: String?

    @Option(help: ArgumentHelp("PEM files, for addresses beyond this machine.", valueName: "chain,key"))
    var tls: String?

    @Option(help: .value("file", "The sender set for phones (`sealedpush trust sign`).")) var senderSet: String?

    @Option(help: .value("name", "Where its logins count. (default: the topic)")) var service: String?

    @Flag(help: "Print one JSON object when it listens.") var json = false

    func validate() throws {
        guard tls.map({ $0.split(separator: ",").count == 2 }) ?? true
        else { throw ValidationError("--tls takes two files: CHAIN,KEY.") }
    }

    func tokens() throws -> BearerTokens? {
        guard let tokenFile else { return nil }
        var bytes = try SecretFile.read(tokenFile, limit: 4_096)
        defer { wipeSecret(&bytes) }
        do throws(TokenError) { return try BearerTokens(parsing: bytes) } catch {
            throw Failure.input("\(tokenFile) holds no token: \(error)")
        }
    }

    func senderSet(for topic: Topic) throws -> SenderSet? {
        guard let senderSet else { return nil }
        let text = String(decoding: try Input.read(senderSet, limit: 4_096), as: UTF8.self)
        do throws(RecordError) {
            let set = try SenderSet(parsing: text.trimmingCharacters(in: .whitespacesAndNewlines))
            guard set.topic == topic else { throw .otherTopic }
            return set
        } catch { throw Failure.input("\(senderSet) holds no sender set for \(topic): \(error)") }
    }

    func certificate() throws -> ServerCertificate? {
        guard let files = tls?.split(separator: ",").map(String.init) else { return nil }
        var key = try SecretFile.read(files[1], limit: 65_536)
        defer { wipeSecret(&key) }
        let chain = try Input.read(files[0], limit: 1_000_000)
        return try ServerCertificate(chain: chain, key: key)
    }

    func announce(_ port: Int?, _ phonesPort: Int?) throws {
        guard json else {
            let doors = [listen.description(port)] + (phones.map { ["\($0.description(phonesPort)) for phones"] } ?? [])
            return try Output.line("Serving at \(doors.joined(separator: ", and at ")), until Ctrl-C.")
        }
        var members = listen.json(port)
        if let phones { members["phones"] = .object(phones.json(phonesPort)) }
        try Output.json(.object(members))
    }
}

/// Delivers until Ctrl-C, whatever befalls a run: APNs refuses the key or one device after another, the outbox is away. Then
/// there is a pause, which grows, and another run, with the provider's key as it is then. Nothing of it ends the program: its
/// phones and back ends have done nothing wrong, and are answered meanwhile.
struct LastingDelivery {
    let outbox: Outbox
    let account: ProviderAccount
    /// Reads the provider's key again, after a run that failed.
    let reread: @Sendable () throws -> ProviderAccount
    let logger: Logger
    let interrupt: Interrupt
    let observation: Observation

    /// - Throws: what kept the last run from ending in good order.
    func run() async throws {
        let paused = Gauge(label: "push_delivery_paused", factory: observation.metrics)
        var failureCount = 0
        while true {
            paused.record(0)
            let before = courier
            do {
                let run = DeliveryRun(
                    outbox: outbox, account: try failureCount == 0 ? account : reread(), logger: logger, goal: .stopped,
                    interrupt: interrupt, observation: observation)
                _ = try await run.run()
                return
            } catch {
                guard !interrupt.isInterrupted else { throw error }
                // What has delivered something was right for a while, and begins anew.
                if let courier, courier !== before, await courier.report.acceptedCount > 0 { failureCount = 0 }
                failureCount += 1
                let pause = Self.pause(after: error, failureCount: failureCount)
                paused.record(1)
                Failure.report(
                    "delivery pauses for \(pause.components.seconds) s, everything else goes on: \(Failure.words(of: error))"
                )
                await interrupt.sleep(for: pause * account.delayScale)
                guard !interrupt.isInterrupted else { return }
            }
        }
    }

    private var courier: Courier? { observation.courier.withLock { $0 } }

    /// An outbox that is away comes back by itself. What APNs refuses stays refused until somebody has done something, and each run
    /// in vain may cost some devices their addresses; an outbox that is damaged, or wants another key, waits for somebody, too.
    static func pause(after error: any Error, failureCount: Int) -> Duration {
        let isOutboxAway = if case .outbox(let error)? = error as? CourierError { isAway(error) } else { false }
        let (first, longest): (Int64, Int64) = isOutboxAway ? (1, 60) : (60, 3_600)
        return .seconds(min(first << min(failureCount - 1, 12), longest))
    }

    private static func isAway(_ error: OutboxError) -> Bool {
        switch error {
        case .busy, .unreachable, .diskFull, .database, .server: true
        default: false
        }
    }
}
