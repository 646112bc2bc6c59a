internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import Logging
internal import PushAPNS
internal import PushKeyring
internal import PushOutbox
internal import PushPage
internal import PushSender
internal import PushServer
internal import SealedPush
internal import _PushBase

/// `sealedpush serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves phones and a back end in any language by HTTP, until it is stopped.",
        discussion: """
            Phones enrol under /v1/phones (Docs/Specification.md, 18), with a token that your back end gets for an account \
            from POST /v1/logins. It sends with POST /v1/messages, or has payloads sealed with POST /v1/seal \
            (Docs/openapi.yaml has all paths). What is answered is on the disk; `sealedpush work` delivers it, or this \
            command with --deliver.

            It listens at a socket that only this user can open, unless --listen names an address: then the back end must \
            show a token, and beyond this machine there must be TLS. The token is a line of 32 characters or more in a file \
            of yours alone; two lines while callers change.

            Keys, tokens and the sender set are read again on SIGUSR1; a sender whose keys are revoked or gone seals nothing \
            more, but finishes a message for everyone that has begun. Ctrl-C and SIGTERM end it in good order. What APNs \
            refuses ends nothing: delivery pauses, and goes on.

            Examples:
              sealedpush serve --from newsroom --topic com.example.app --keyring Keys --deliver --apns APNs
              sealedpush serve --from newsroom --topic com.example.app --listen 127.0.0.1:8480 --token-file token \
                --metrics 127.0.0.1:9102
              curl --unix-socket sealedpush.sock http://localhost/v1/messages --json \
                '{"user":"alice","content":{"alert":{"title":"Nina","body":"Lunch at one?"}}}'

            Exit status: 0 stopped, 64 wrong use, 65 unusable input, 74 files, port or socket, 75 busy, 77 keys.
            """)

    @Option(help: "The socket to listen at, made anew, in a folder that nobody else may write.")
    var socket: String?

    @Option(help: "An address to listen at in place of a socket, as HOST:PORT; port 0 for any that is free.")
    var listen: ListeningAddress?

    @Option(help: "A file with the token for the back end's paths.")
    var tokenFile: String?

    @Option(help: "A PEM file with the certificate and those that vouch for it.")
    var tlsCertificate: String?

    @Option(help: "A PEM file with the certificate's key.")
    var tlsKey: String?

    @Option(help: "A file with the sender set that phones are to take (`sealedpush trust sign`).")
    var senderSet: String?

    @Option(
        help: "Show what waits and goes out on a page, for a browser on this machine: HOST:PORT, or a socket's path.",
        transform: PagePlace.init(parsing:))
    var page: PagePlace?

    @Flag(help: "Deliver, too; with the options for APNs.")
    var deliver = false

    @Flag(help: "Print one JSON object when it listens.")
    var json = false

    @OptionGroup var sealing: SealingOptions
    @OptionGroup var keyring: KeyringOptions
    @OptionGroup var options: OutboxOptions
    @OptionGroup var provider: ProviderOptions
    @OptionGroup var delays: DelayOptions
    @OptionGroup var observing: ObservationOptions

    func validate() throws {
        guard socket == nil || listen == nil else { throw ValidationError("Give either --socket or --listen.") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        guard tlsCertificate == nil || listen != nil else { throw ValidationError("TLS is for --listen.") }
        guard !sealing.anonymous else {
            throw ValidationError("serve needs a sender (--from): phones prove their keys to one that they trust.")
        }
        guard !provider.isGiven || deliver else { throw ValidationError("The options for APNs go with --deliver.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let interrupt = Interrupt()
            let observation = Observation()
            let outbox = try await outbox()
            let keys = try keyring.keys("serve")
            // Looked at before anything listens.
            if deliver { try await provider.transport().transport.shutDown() }
            let server = try server(keys, outbox, observation)
            let reading = PatientReading { isAsked in
                isAsked ? readAgain(keys, for: server) : readDoubtfulAgain(keys, for: server)
            }
            let rereading = Rereading { reading.readNow() }
            defer { withExtendedLifetime(rereading) {} }
            interrupt.onInterrupt { Task { await server.stop() } }
            let shown = try await OutboxPage(at: page, of: outbox)
            if let shown, !json { Failure.report("the page is at \(shown.page.address)") }
            let following = Task { await shown?.follow() }
            defer { following.cancel() }
            try await observing.serving(observation, of: outbox, provider.logger, interrupt) {
                async let delivered: Void = deliverIfWanted(outbox, observation, interrupt)
                async let served: Void = serve(server, shown?.page.address, interrupt)
                _ = try await (served, delivered)
            }
        }
    }

    /// Until the server is stopped.
    private func serve(_ server: PushServer, _ page: String?, _ interrupt: Interrupt) async throws {
        defer { interrupt.fire() }
        do throws(ServingError) {
            try await server.run { port in
                // Where nobody reads it, it serves all the same.
                try? json
                    ? Output.json(announcement(port, page))
                    : Output.line("Serving at \(place(port)), until Ctrl-C.")
            }
        } catch { throw Failure.server(error, place()) }
    }

    private func deliverIfWanted(_ outbox: Outbox, _ observation: Observation, _ interrupt: Interrupt) async throws {
        guard deliver else { return }
        try await LastingDelivery(
            outbox: outbox, provider: provider, delays: delays, interrupt: interrupt, observation: observation
        ).run()
    }

    /// With the key that each request will want: a service that says it is ready, and then can't enrol or send, helps nobody.
    private func outbox() async throws -> Outbox {
        let outbox = try await options.openedOrMade()
        // Registers nothing, and wants all that registering wants.
        try await outbox.register([])
        return outbox
    }

    private func server(_ keys: Keyring, _ outbox: Outbox, _ observation: Observation) throws -> PushServer {
        // Whatever is made from here on, the socket above all, is this user's alone.
        umask(0o077)
        Descriptors.raise(to: 8_192)
        let (state, certificate) = (try state(keys), try certificate())
        do throws(ServingError) {
            return try PushServer(
                at: listen.map { .address($0.host, port: $0.port) } ?? .socket(socketPath), certificate: certificate,
                outbox: outbox, state: state, metrics: observation.metrics, logger: provider.logger)
        } catch { throw Failure.server(error, place()) }
    }

    private func state(_ keys: Keyring) throws -> ServerState {
        let (sender, sealer) = try sender(keys)
        return ServerState(
            sender: sender, sealer: sealer, senderSet: try readSenderSet(), tokens: try tokenFile.map(Self.tokens))
    }

    private func sender(_ keys: Keyring) throws -> (SenderKey, Sealer) {
        guard let from = sealing.from else { throw Failure.usage("serve needs a sender: --from NAME") }
        let sealer = try sealing.sealer(keys, keyring)
        return (try keys.senderKey(named: from), sealer)
    }

    // MARK: On SIGUSR1

    /// Each part for itself: one that can't be read does not keep the others from being read.
    ///
    /// - Returns: false where nobody knows whether the sender's keys are revoked.
    private func readAgain(_ keys: Keyring, for server: PushServer) -> Bool {
        let isSenderRead = reads("the sender's keys") { try readSenderAgain(keys, for: server) }
        let others = [
            reads("the tokens") { server.use(tokens: try tokenFile.map(Self.tokens)) },
            reads("the sender set") { server.use(senderSet: try readSenderSet()) },
        ]
        if isSenderRead, !others.contains(false) { Failure.report("keys, tokens and the sender set were read again") }
        return isSenderRead
    }

    /// After a pause: the keyring is busy, or its files are being changed.
    private func readDoubtfulAgain(_ keys: Keyring, for server: PushServer) -> Bool {
        let isRead = reads("the sender's keys") { try readSenderAgain(keys, for: server) }
        if isRead { Failure.report("the sender's keys were read again") }
        return isRead
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
            let (sender, sealer) = try sender(keys)
            server.use(sender: sender, sealer: sealer)
        } catch let error as KeyringError where error.leavesNoSender {
            server.withdrawSender()
            let way = error.isOfTheSeal ? "this is started with its new secret" : "SIGUSR1 finds another key"
            Failure.report("nothing is sealed any more, and all logins are refused, until \(way): \(error.shown)")
        } catch {
            // Revoked or not, nobody knows: it goes on, so that a file that is damaged or busy ends no service, says at /readyz
            // that it is not to be relied on, and is read again after a while.
            server.doubtSender()
            throw error
        }
    }

    private func readSenderSet() throws -> SenderSet? {
        guard let senderSet else { return nil }
        let text = String(decoding: try Input.read(senderSet, limit: 4_096), as: UTF8.self)
        do throws(RecordError) {
            let set = try SenderSet(parsing: text.trimmingCharacters(in: .whitespacesAndNewlines))
            guard set.topic == sealing.topic else { throw .otherTopic }
            return set
        } catch { throw Failure.input("\(senderSet) holds no sender set for \(sealing.topic): \(error)") }
    }

    private static func tokens(_ file: String) throws -> BearerTokens {
        var bytes = try SecretFile.read(file, limit: 4_096)
        defer { wipeSecret(&bytes) }
        do throws(TokenError) { return try BearerTokens(parsing: bytes) } catch {
            throw Failure.input("\(file) holds no token: \(error)")
        }
    }

    private func certificate() throws -> ServerCertificate? {
        guard let tlsCertificate, let tlsKey else { return nil }
        var key = try SecretFile.read(tlsKey, limit: 65_536)
        defer { wipeSecret(&key) }
        let chain = try Input.read(tlsCertificate, limit: 1_000_000)
        do throws(ServingError) { return try ServerCertificate(chain: chain, key: key) } catch {
            throw Failure.server(error, "")
        }
    }

    private var socketPath: String { socket ?? "sealedpush.sock" }

    private func place(_ port: Int? = nil) -> String {
        guard let listen else { return socketPath }
        let host = listen.host.contains(":") ? "[\(listen.host)]" : listen.host
        return "\(tlsKey == nil ? "http" : "https")://\(host):\(port ?? listen.port)"
    }

    private func announcement(_ port: Int?, _ page: String?) -> JSONValue {
        var members: [String: JSONValue] = ["socket": .string(socketPath)]
        if let listen {
            members = ["host": .string(listen.host), "port": .integer(Int64(port ?? listen.port))]
        }
        members["page"] = page.map { .string($0) }
        return .object(members)
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
