internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import PushOutbox
internal import PushReceipts
internal import PushSender
internal import SealedPush

/// `sealedpush receipts listen`
struct ReceiptsListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Takes receipts by HTTP and counts them in the outbox, until it is stopped.",
        discussion: """
            It speaks HTTP without TLS: put a proxy before it that ends TLS and passes POST requests on, and give devices the \
            proxy's address with `send --receipts https://…`. The senders' secret keys are read to make the receipts' own \
            keys, and are not kept. Neither addresses nor bodies are stored.

            Under each name, all keys count that are in use or were retired in the last 8 days, and none that was revoked. \
            After `keys rotate` or `keys revoke`, SIGUSR1 (`kill -USR1 PID`) has it read them again, without a restart.

            Examples:
              sealedpush receipts listen --from newsroom --port 8093
              sealedpush receipts listen --from newsroom --from weather --host 10.0.0.5 --port 8093

            Exit status: 0 stopped, 64 wrong use, 65 unusable input, 74 files or port, 75 busy, 77 keys.
            """)

    @Option(help: "A sender whose messages ask for receipts: a name in the keyring; all its keys of the last 8 days.")
    var from: [KeyName]

    @Option(help: "The port to listen at; 0 for any that is free.")
    var port: Int

    @Option(help: "The address to listen at: this machine alone, unless the proxy is elsewhere.")
    var host = "127.0.0.1"

    @Flag(help: "Print one JSON object when it listens.")
    var json = false

    @OptionGroup var keyring: KeyringOptions
    @OptionGroup var options: OutboxOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
        guard (1...16).contains(from.count) else { throw ValidationError("Give --from once to 16 times.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let keys = try keyring.keys("receipts listen")
            try keyring.warnIfInTheClear(keys)
            let names = from
            let receiver = try Self.receiver(keys, names)
            let outbox = try await options.openedOrMade()
            let interrupt = Interrupt()
            let server: ReceiptServer
            do {
                server = try await ReceiptServer.start(host: host, port: port, receiver: receiver, outbox: outbox)
            } catch { throw Failure.file("\(host) port \(port): \(error)") }
            let address = "http://\(host):\(server.port)/"
            try json
                ? Output.json(["host": .string(host), "port": .integer(Int64(server.port))])
                : Output.line("Receipts are taken at \(address), until Ctrl-C.")
            let rereading = Rereading {
                do {
                    server.use(try Self.receiver(keys, names))
                    Failure.report("the senders' keys were read again")
                } catch {
                    Failure.report(
                        "the senders' keys could not be read again, and stay as they were: \(Failure.words(of: error))")
                }
            }
            defer { withExtendedLifetime(rereading) {} }
            await withCheckedContinuation { continuation in interrupt.onInterrupt { continuation.resume() } }
            await server.stop()
        }
    }

    /// A receipt is believed for 7 days, and a day is for clocks.
    private static func receiver(_ keys: Keyring, _ names: [KeyName]) throws -> ReceiptReceiver {
        let found = try names.flatMap { try keys.senderKeys(named: $0, retiredWithin: 8 * 86_400) }
        guard found.count <= 16 else {
            throw Failure.input("the names have more than 16 keys of the last 8 days: leave out names")
        }
        return ReceiptReceiver(keys: found.map { ReceiptKey(of: $0) })
    }
}
