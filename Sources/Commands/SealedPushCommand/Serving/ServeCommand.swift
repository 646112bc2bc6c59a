internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushAPNs
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
            A place is a socket's path or HOST:PORT. Docs/openapi.yaml lists all paths. With APNs options, also delivers. \
            SIGHUP rereads keys, tokens, sender set, TLS.
            Example: sealedpush serve --from newsroom --topic app.id --apns APNs
            Exit status: 0 stopped, 64 usage, 65 input, 74 file or port, 75 busy, 77 keys.
            """)

    @Option(help: "The sender: a name in the keyring.") var from: KeyName

    @OptionGroup(title: "Listening") var listening: ListeningOptions
    @OptionGroup(title: "Sealing") var sealing: SealingOptions
    @OptionGroup(title: "Keyring and outbox") var keyring: KeyringOptions
    @OptionGroup(title: "Keyring and outbox") var options: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions
    @OptionGroup(title: "Watching") var observing: ObservationOptions

    func validate() throws {
        guard !listening.trial || provider.apns != nil || provider.environment == .sandbox
        else { throw ValidationError("--trial is only for a local APNs, or for Apple's sandbox.") }
    }

    func run() async throws {
        if listening.trial {
            CommandFailure.report(
                "a trial, not for production: what phones and the back end send isn't encrypted by TLS")
        }
        let observation = Observation()
        let running = Locked<PushServer?>(nil)
        let reload = Reload(
            onLate: Self.report,
            onEnd: {
                guard running.withLock({ $0?.isSealing ?? false }) else { return }
                CommandFailure.report("reread the keys, tokens, sender set, and certificate")
            })
        // Handle signals from the start: SIGHUP never ends the program, and SIGTERM ends it even as process 1.
        let interrupt = Interrupt(onHangUp: reload.request)
        let outbox = try await options.openedOrMade()
        // A service that can't enroll devices must not report itself ready.
        try await outbox.requireRegistering()
        let keys = try keyring.keys("serve")
        // Check the APNs options before listening.
        let account = try provider.isGiven ? provider.account() : nil
        let server = try server(keys, outbox, observation) {
            reload.late.contains(Self.keys) ? .keys : reload.late.isEmpty ? nil : .files
        }
        running.withLock { $0 = server }
        reload.start(parts(keys, server))
        let watch = Task { await Self.watchSockets(of: server) }
        let stop: @Sendable () -> Void = {
            watch.cancel()
            Task { await server.stop() }
        }
        try await interrupt.calling(stop) {
            try await observing.serving(observation, of: outbox, interrupt) {
                async let delivered: Void = deliver(account, outbox, observation, interrupt)
                async let served: Void = serve(server, interrupt)
                _ = try await (served, delivered)
            }
        }
    }

    /// Runs the server until it's stopped.
    private func serve(_ server: PushServer, _ interrupt: Interrupt) async throws {
        defer { interrupt.fire() }
        // Serve even if standard output can't be written.
        do throws(ServingError) {
            try await server.run { port, phonesPort in
                try? listening.announce(port, phonesPort)
                ServiceManager.ready()
            }
        } catch { throw listening.failure(error) }
    }

    /// Reports once if another program has removed or replaced a socket, such as one that cleans up old files. Callers then
    /// can't reach the service, which wouldn't notice.
    private static func watchSockets(of server: PushServer) async {
        while server.hasItsSockets {
            do { try await Task.sleep(for: .seconds(2)) } catch { return }
        }
        guard !Task.isCancelled else { return }
        CommandFailure.report(
            "a socket of this service was removed or replaced, so no program can connect to it; restart the service")
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

    private func server(
        _ keys: Keyring, _ outbox: Outbox, _ observation: Observation,
        unread: @escaping @Sendable () -> PushServer.Unread?
    ) throws -> PushServer {
        // Files created from here on, above all the socket, are accessible only to this user.
        umask(0o077)
        Descriptors.raise(to: 8_192)
        let state = ServerState(
            keys: try sender(keys), senderSet: try listening.senderSet(for: sealing.topic),
            tokens: try listening.tokens(), notifyTokens: try listening.notificationTokens())
        let certificate = try listening.certificate()
        do throws(ServingError) {
            return try PushServer(
                at: listening.listen, phones: listening.phones, certificate: certificate, isTrial: listening.trial,
                outbox: outbox, state: state, metrics: observation.metrics, readiness: observation.readiness,
                unread: unread, logger: observing.logger)
        } catch { throw listening.failure(error) }
    }

    /// Reads the sender's keys. Retired keys still count for receipts.
    private func sender(_ keys: Keyring) throws -> SenderKeys {
        let sealer = try sealing.sealer(from: from, keys, keyring)
        let recent = try keys.senderKeys(named: from, retiredWithin: ReceiptBody.keyRetention)
        return SenderKeys(
            sender: try keys.senderKey(named: from), sealer: sealer,
            receipts: ReceiptReceiver(keys: recent.map { ReceiptKey(of: $0, for: sealing.topic) }),
            service: listening.service)
    }

    // MARK: On SIGHUP

    private static let keys = "the sender's keys"

    /// Each part is reread independently, so that a failure of one doesn't affect the others.
    private func parts(_ keys: Keyring, _ server: PushServer) -> [Reload.Part] {
        [
            part(Self.keys) { try readSenderAgain(keys, for: server) },
            part("the tokens") { server.use(tokens: try listening.tokens()) },
            part("the tokens for notifications") { server.use(notifyTokens: try listening.notificationTokens()) },
            part("the sender set") { server.use(senderSet: try listening.senderSet(for: sealing.topic)) },
            part("the certificate") { server.use(certificate: try listening.certificate()) },
        ]
    }

    private func part(_ name: String, _ read: @escaping @Sendable () throws -> Void) -> Reload.Part {
        Reload.Part(name: name) {
            do {
                try read()
                return true
            } catch {
                CommandFailure.report(
                    "\(name) could not be reread, so the previous version stays in use: \(CommandFailure.words(of: error))"
                )
                return false
            }
        }
    }

    private static func report(late names: [String]) {
        guard !names.isEmpty else { return CommandFailure.report("all files have responded") }
        CommandFailure.report(
            "\(names.joined(separator: ", ")) could not be reread within \(Reload.patience.components.seconds) s, so the previous version stays in use until the file system responds"
        )
    }

    private func readSenderAgain(_ keys: Keyring, for server: PushServer) throws {
        do {
            server.use(keys: try sender(keys))
        } catch {
            let way: String
            switch error as? KeyringError {
            // The keyring was read, but has no usable key: revoked, erased, or removed, or a new one beside a revoked one.
            case .notUsable, .notFound, .noSecret, .wrongKind: way = "fix the key, then send SIGHUP to reload it"
            // The keyring was sealed again, as after a theft. Don't seal with a key whose state can't be checked.
            case .wrongSecret, .needsSecret: way = "restart with the keyring's new secret"
            default:
                // The keys may have been revoked. A damaged or busy file doesn't end the service, but /readyz reports that it
                // isn't ready.
                server.doubtSender()
                throw error
            }
            server.withdrawSender()
            CommandFailure.report(
                "sealing is disabled and all logins are refused; \(way): \(CommandFailure.words(of: error))")
        }
    }
}

/// The options for the addresses of `serve`, its authentication, and its identity.
struct ListeningOptions: ParsableArguments {
    @Option(help: .value("place", "For the back end.")) var listen = ServerPlace.socket("sealedpush.sock")

    @Option(help: .value("place", "For phones.")) var phones: ServerPlace?

    @Option(help: .value("file", "The back end's token, or two during a change.")) var tokenFile: String?

    @Option(help: .value("file", "Tokens that may only notify one user each.")) var notifyTokens: String?

    @Option(help: .value("chain,key", "PEM files for --listen and --phones HOST:PORT.")) var tls: String?

    @Option(help: .value("file", "The sender set for phones (`sealedpush trust sign`).")) var senderSet: String?

    @Option(help: .value("name", "Name in logins and leavings. (default: the topic)"))
    var service: ServiceName?

    @Flag(help: "Allow addresses without TLS, for --apns or sandbox.") var trial = false

    @Flag(help: "Print one JSON object once the server is listening.") var json = false

    func validate() throws {
        guard tls.map({ $0.split(separator: ",").count == 2 }) ?? true
        else { throw ValidationError("--tls must be two files: CHAIN,KEY.") }
        let addresses = [listen, phones].filter { if case .address? = $0 { true } else { false } }
        guard tls == nil || !addresses.isEmpty else {
            throw ValidationError("--tls is for addresses, but the service listens only at sockets; leave it out.")
        }
    }

    func tokens() throws -> BearerTokens? {
        guard let file = tokenFile.map({ SecretFile($0, from: "--token-file") }) else { return nil }
        var bytes = try file.read(limit: 4_096)
        defer { wipe(&bytes) }
        do throws(TokenError) { return try BearerTokens(parsing: bytes) } catch {
            throw CommandFailure.input("\(file) doesn't contain a valid token: \(error)")
        }
    }

    func notificationTokens() throws -> NotifyTokens? {
        guard let file = notifyTokens.map({ SecretFile($0, from: "--notify-tokens") }) else { return nil }
        let bytes = try file.read(limit: NotifyTokens.maximumByteCount)
        do throws(TokenError) { return try NotifyTokens(parsing: bytes) } catch {
            throw CommandFailure.input("\(file) doesn't contain valid tokens: \(error)")
        }
    }

    func senderSet(for topic: Topic) throws -> SenderSet? {
        guard let senderSet else { return nil }
        let text = String(
            decoding: try InputFile.read(senderSet, limit: 4_096, isSetting: true).withoutByteOrderMark, as: UTF8.self)
        do throws(RecordError) {
            let set = try SenderSet(parsing: text.trimmingCharacters(in: .whitespacesAndNewlines))
            guard set.topic == topic else { throw .otherTopic }
            return set
        } catch { throw CommandFailure.input("\(senderSet) doesn't contain a valid sender set for \(topic): \(error)") }
    }

    func certificate() throws -> ListenerCertificate? {
        guard let files = tls?.split(separator: ",").map(String.init) else { return nil }
        var key = try SecretFile(files[1], from: "--tls").read(limit: 65_536)
        defer { wipe(&key) }
        let chain = try InputFile.read(files[0], limit: 1_000_000, isSetting: true)
        do throws(CertificateFault) {
            let certificate = try ListenerCertificate(chain: chain, key: key)
            if certificate.hasExpired {
                CommandFailure.report(
                    "--tls: the server's certificate in \(files[0]) has expired, so clients refuse it")
            }
            return certificate
        } catch { throw CommandFailure.input("--tls: \(error.file == .chain ? files[0] : files[1]) \(error)") }
    }

    /// Returns the failure for an error of the service, with the option of the place where it can't listen.
    func failure(_ error: ServingError) -> CommandFailure {
        if case .notBound(_, let place?) = error, place == phones {
            return CommandFailure(serving: error, at: "--phones")
        }
        return CommandFailure(serving: error)
    }

    func announce(_ port: Int?, _ phonesPort: Int?) throws {
        guard json else {
            let doors = [listen.description(port)] + (phones.map { ["\($0.description(phonesPort)) for phones"] } ?? [])
            return try Output.line("Serving at \(doors.joined(separator: " and at ")). Press Ctrl-C to stop.")
        }
        var members = listen.json(port)
        if let phones { members["phones"] = .object(phones.json(phonesPort)) }
        try Output.json(.object(members))
    }
}
