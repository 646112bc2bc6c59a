internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import Logging
internal import PushAPNS
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// `sealedpush serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a back end and phones over HTTP until stopped.",
        discussion: """
            A place is a socket's path, or HOST:PORT. Docs/openapi.yaml has all paths. With APNs' options it delivers, too. \
            SIGHUP rereads keys, tokens, sender set and certificate.

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
        try await Failure.reportingAsync {
            let interrupt = Interrupt()
            let observation = Observation()
            let outbox = try await outbox()
            let keys = try keyring.keys("serve")
            // Looked at before anything listens.
            let account = try provider.isGiven ? provider.account() : nil
            let server = try server(keys, outbox, observation)
            let rereading = Rereading { readAgain(keys, for: server) }
            defer { withExtendedLifetime(rereading) {} }
            interrupt.onInterrupt { Task { await server.stop() } }
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
        do throws(ServingError) {
            try await server.run { port, phonesPort in
                // It serves even if nobody reads this.
                try? listening.announce(port, phonesPort)
            }
        } catch { throw Failure.server(error) }
    }

    private func deliver(
        _ account: ProviderAccount?, _ outbox: Outbox, _ observation: Observation, _ interrupt: Interrupt
    ) async throws {
        guard let account else { return }
        try await LastingDelivery(
            outbox: outbox, account: account, reread: provider.account, logger: observing.logger, interrupt: interrupt,
            observation: observation
        ).run()
    }

    /// With the key that each request will need: a service that says it is ready, and then can't enroll or send, helps nobody.
    private func outbox() async throws -> Outbox {
        let outbox = try await options.openedOrMade()
        // A no-op registration: fails exactly where a real one would.
        try await outbox.register([])
        return outbox
    }

    private func server(_ keys: Keyring, _ outbox: Outbox, _ observation: Observation) throws -> PushServer {
        // Whatever is made from here on, the socket above all, is this user's alone.
        umask(0o077)
        Descriptors.raise(to: 8_192)
        let (sender, sealer, receipts) = try sender(keys)
        let state = ServerState(
            sender: sender, sealer: sealer, receipts: receipts, senderSet: try listening.senderSet(for: sealing.topic),
            tokens: try listening.tokens())
        let certificate = try listening.certificate()
        do throws(ServingError) {
            return try PushServer(
                at: listening.listen.place, phones: listening.phones?.place, certificate: certificate, outbox: outbox,
                state: state, metrics: observation.metrics, logger: observing.logger)
        } catch { throw Failure.server(error) }
    }

    /// A receipt is believed for 7 days, and a day is for clocks: so long the keys of before count for receipts.
    private func sender(_ keys: Keyring) throws -> (SenderPrivateKey, Sealer, ReceiptReceiver) {
        let sealer = try sealing.sealer(from: from, keys, keyring, isContextPerMessage: listening.contextPerMessage)
        let recent = try keys.senderKeys(named: from, retiredWithin: 8 * 86_400)
        return (try keys.senderKey(named: from), sealer, ReceiptReceiver(keys: recent.map { ReceiptKey(of: $0) }))
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
        if !results.contains(false) { Failure.report("keys, tokens, sender set and certificate were read again") }
    }

    private func reads(_ name: String, _ read: () throws -> Void) -> Bool {
        do {
            try read()
            return true
        } catch {
            let words = (error as? Failure)?.message ?? Failure.words(of: error)
            Failure.report("\(name) could not be read again, and what was read before stays in use: \(words)")
            return false
        }
    }

    private func readSenderAgain(_ keys: Keyring, for server: PushServer) throws {
        do {
            let (sender, sealer, receipts) = try sender(keys)
            server.use(sender: sender, sealer: sealer, receipts: receipts)
        } catch let error as KeyringError where error.leavesNoSender {
            server.withdrawSender()
            let way = error.isOfTheSeal ? "this is started with its new secret" : "SIGHUP finds another key"
            Failure.report("nothing is sealed any more, and all logins are refused, until \(way): \(error.shown)")
        } catch {
            // The keys may have been revoked. A damaged or busy file ends no service, but /readyz says that it can't be relied on.
            server.doubtSender()
            throw error
        }
    }
}

/// Where `serve` listens, and with what it proves who it is.
struct ListeningOptions: ParsableArguments {
    @Option(help: .value("place", "For the back end.")) var listen = ListeningPlace(socket: "sealedpush.sock")

    @Option(help: .value("place", "For phones.")) var phones: ListeningPlace?

    @Option(help: .value("file", "The back end's token, or two while it changes.")) var tokenFile: String?

    @Option(help: ArgumentHelp("PEM files, for addresses beyond this machine.", valueName: "chain,key"))
    var tls: String?

    @Option(help: .value("file", "The sender set for phones (`sealedpush trust sign`).")) var senderSet: String?

    @Flag(help: "A context per message, for machines that are cloned.") var contextPerMessage = false

    @Flag(help: "Print one JSON object when it listens.") var json = false

    func validate() throws {
        guard tls.map({ $0.split(separator: ",").count == 2 }) ?? true else {
            throw ValidationError("--tls takes two files: CHAIN,KEY.")
        }
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
        do throws(ServingError) { return try ServerCertificate(chain: chain, key: key) } catch {
            throw Failure.server(error)
        }
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

extension KeyringError {
    /// Whether the keyring was read, and has no key to seal with: revoked, retired, erased or removed, or one that waits to be
    /// used beside one that was revoked. Or somebody has sealed it anew, as after a theft: a key that can't be looked at is not
    /// sealed with.
    fileprivate var leavesNoSender: Bool {
        switch self {
        case .notUsable, .notFound, .noSecret, .wrongKind, .wrongSecret, .needsSecret: true
        default: false
        }
    }

    fileprivate var isOfTheSeal: Bool {
        switch self {
        case .wrongSecret, .needsSecret: true
        default: false
        }
    }
}
