internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushSimulator
internal import SealedPush
internal import SimulatedAPNs

/// `device-simulator trial`
struct TrialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trial", abstract: "Try a service with a local APNs and a simulated phone, not for production.",
        usage: "device-simulator trial [<options>]",
        discussion: """
            Sets up the folder, or continues with it, and runs `sealedpush start`, a local APNs, and the phone of a user \
            named alice, who gets a test message. Prints what an app and a back end need to take part.

            Not for production: there is no TLS, and nothing reaches Apple.

            Example:
              device-simulator trial --folder Trial

            Press Ctrl-C to stop. Exit status: 0 done, 64 usage, 69 a program ended, 74 files.
            """)

    @Option(help: "The trial's folder; created if missing.") var folder = "Trial"

    @Option(help: "The app's bundle ID.") var topic: Topic = "com.example.app"

    @Option(help: "The port for apps.") var phonesPort = 8_481

    @Option(help: "The port for back ends, which need the token.") var port = 8_482

    @Flag(help: "For a container: listen at all addresses, and at 127.0.0.1:9102.") var open = false

    func validate() throws {
        guard TypedPath.isPath(folder) else {
            throw ValidationError("--folder must be a folder's path, starting with / or ./ if it contains any of :=?@.")
        }
        guard [phonesPort, port].allSatisfy({ (1...65_535).contains($0) }), port != phonesPort else {
            throw ValidationError("--port and --phones-port must be two different ports, 1 to 65535.")
        }
    }

    func run() throws {
        let places = TrialPlaces(folder)
        try runUntilDone { ended in
            do throws(DurableFiles.Failure) { try DurableFiles.ensureFolder(places.folder) } catch {
                throw CommandFailure.file("\(places.folder.path) can't be created: \(error.message)")
            }
            let apns: LocalAPNs
            do throws(LocalAPNsError) { apns = try await LocalAPNs.start(folder: places.apns) } catch {
                throw CommandFailure(error)
            }
            let programs = TrialPrograms()
            let outcome: Result<Void, any Error>
            do {
                try await begin(programs, places)
                outcome = .success(())
            } catch { outcome = .failure(error) }
            if case .success = outcome {
                let watch = Task { await programs.endWithFirst() }
                await ended()
                watch.cancel()
            }
            // Read before the programs are told to stop.
            let failed = programs.firstEnded
            programs.stop()
            await apns.stop()
            try outcome.get()
            if let failed { throw Self.failure(failed) }
        }
    }

    private static func failure(_ program: String) -> CommandFailure {
        CommandFailure(status: 69, message: "\(program) ended, and so does the trial; its messages are above")
    }

    /// Starts the service, logs alice in, starts her phone, and sends a test.
    private func begin(_ programs: TrialPrograms, _ places: TrialPlaces) async throws {
        let host = open ? "0.0.0.0" : "127.0.0.1"
        let service = "sealedpush"
        try programs.start(
            service,
            ["start", "--in", places.server.path, "--topic", topic.description, "--", "--apns", places.apns.path]
                + ["--phones", "\(host):\(phonesPort)", "--listen", "\(host):\(port)", "--token-file", places.token]
                + (open ? ["--trial", "--metrics", "127.0.0.1:9102"] : []))
        let server = TrialServer(port: port)
        var token: [UInt8] = []
        defer { wipe(&token) }
        var login: String?
        // Another service may answer at this port, until this one fails. The file may be unfinished.
        while login == nil {
            try await programs.sleep(unlessEnded: service)
            guard try InputFile.exists(places.token) else { continue }
            wipe(&token)
            token = try SecretFile(places.token, from: "--folder").read(limit: 4_096)
            login = await server.login("alice", token)
        }
        guard let login else { return }
        try print(login, sender: places.sender(), places)
        let phone = "device-simulator"
        try programs.start(
            phone,
            ["run", "--device", "alice-phone", "--topic", topic.description, "--apns", places.apns.path]
                + ["--trust", TrialPlaces.senderName.description, "--keyring", places.keyring]
                + ["--unlock", places.keyFile, "--state", places.phone.path]
                + ["--server", "http://127.0.0.1:\(phonesPort)", "--login", login])
        while await !server.test("alice", token) {
            try await programs.sleep(unlessEnded: phone)
        }
    }

    private func print(_ login: String, sender: SenderPublicKey, _ places: TrialPlaces) throws {
        let lines = [
            "", "THIS IS A TRIAL, NOT FOR PRODUCTION: there is no TLS, and nothing reaches Apple.",
            "  SENDER_KEY = \(sender)", "  app's server: http://localhost:\(phonesPort), for \(topic)",
            "  login of alice, for an hour: \(login)",
            "  back end: http://localhost:\(port), with the token in \(places.token)", "",
        ]
        for line in lines { try printLine(line) }
    }
}

/// The files of a trial.
private struct TrialPlaces: Sendable {
    let folder: URL
    static let senderName: KeyName = "newsroom"

    init(_ folder: String) { self.folder = URL(filePath: folder).absoluteURL.standardized }

    var server: URL { folder.appending(path: "server") }
    var apns: URL { folder.appending(path: "APNs") }
    var phone: URL { folder.appending(path: "alice-phone") }
    var token: String { server.appending(path: "secrets/token").path }
    var keyFile: String { server.appending(path: "secrets/unlock.key").path }
    var keyring: String { server.appending(path: "Keys").path }

    func sender() throws -> SenderPublicKey {
        let key = try SecretFile(keyFile, from: "--folder").keyringKey()
        return try Keyring(folder: URL(filePath: keyring), unlocking: .given(.key(key))).sender(named: Self.senderName)
    }
}
