package import Foundation
internal import PushCore
internal import SealedPush

/// What a local APNs keeps: its certificate and root, the providers' keys, the devices, what waits for them, its log.
struct LocalAPNsFolder {
    let url: URL
    private let lock: Int32

    /// Makes the folder where it is missing, and takes it for one server until ``release()``.
    init(_ url: URL) throws(LocalAPNsError) {
        self.url = url
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw .folder(url.path(percentEncoded: false), "it can't be made") }
        // Who may write here decides which keys are trusted, where devices connect, and which faults there are.
        try Self.requireOwn(url)
        let path = url.appending(path: "lock").path(percentEncoded: false)
        lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .folder(path, String(cString: strerror(errno))) }
        // The system lets go of it when the process ends, however that is.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw .folder(url.path(percentEncoded: false), "another local APNs is running here")
        }
    }

    static func requireOwn(_ folder: URL) throws(LocalAPNsError) {
        let path = folder.path(percentEncoded: false)
        switch DurableFiles.stranger(in: folder) {
        case .owner: throw .folder(path, "it belongs to another user: name a folder of your own")
        case .writers: throw .folder(path, "others may write it: name a folder that only you can write")
        case nil: return
        }
    }

    /// Lets another server have the folder; once only.
    func release() {
        // Said aloud: a child that is about to become another program still has the descriptor.
        flock(lock, LOCK_UN)
        close(lock)
    }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// The certificate that is there, or a new one.
    func certificate() throws(LocalAPNsError) -> ServerCertificate {
        if let root = text("root.pem"), let certificate = text("server.pem"), let key = text("server-key.pem"),
            ServerCertificate.isGood(certificate)
        {
            return ServerCertificate(rootPEM: root, certificatePEM: certificate, keyPEM: key)
        }
        let made: ServerCertificate
        do { made = try ServerCertificate.make() } catch { throw .certificate("\(error)") }
        // The root last: who finds it finds the rest.
        try write(made.keyPEM, "server-key.pem")
        try write(made.certificatePEM, "server.pem")
        try write(made.rootPEM, "root.pem")
        return made
    }

    /// The providers' keys; one is made where there is none, and its `.p8` written beside.
    func providerKeys() throws(LocalAPNsError) -> [ProviderKey] {
        if let text = text("keys.json") {
            guard let keys = try? JSONDecoder().decode([ProviderKey].self, from: Data(text.utf8)) else {
                throw .damaged(path("keys.json"))
            }
            return keys
        }
        let (key, p8) = ProviderKey.make()
        try write(p8, "AuthKey_\(key.keyID).p8")
        try save([key])
        return [key]
    }

    func save(_ keys: [ProviderKey]) throws(LocalAPNsError) { try write(json(keys), "keys.json") }

    func save(_ address: LocalAPNsAddress) throws(LocalAPNsError) {
        try write(json(address), LocalAPNsAddress.fileName)
    }

    /// The devices as they were last; the last of several lines about one counts.
    func devices() -> [DeviceRecord] {
        (text("devices.jsonl") ?? "").split(separator: "\n").compactMap {
            try? JSONDecoder().decode(DeviceRecord.self, from: Data($0.utf8))
        }
    }

    /// Open for adding to.
    func deviceFile() throws(LocalAPNsError) -> FileHandle {
        let path = path("devices.jsonl")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, String(cString: strerror(errno))) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// What waited for devices when the server was last stopped; taken, so that it is there once.
    func takeWaiting() -> [WaitingNotification] {
        defer { unlink(path("waiting.json")) }
        guard let text = text("waiting.json") else { return [] }
        return (try? JSONDecoder().decode([WaitingNotification].self, from: Data(text.utf8))) ?? []
    }

    func save(_ waiting: [WaitingNotification]) throws(LocalAPNsError) { try write(json(waiting), "waiting.json") }

    private func json(_ value: some Encodable) throws(LocalAPNsError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { throw .damaged(url.path(percentEncoded: false)) }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    private func text(_ name: String) -> String? {
        guard let data = try? Data(contentsOf: url.appending(path: name)) else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    /// Whole or not at all; readable for nobody else.
    private func write(_ text: String, _ name: String) throws(LocalAPNsError) {
        let temporary = url.appending(path: "tmp.\(UUID().uuidString)")
        do throws(DurableFiles.Failure) {
            try DurableFiles.write(Array(text.utf8), to: temporary, mode: 0o600)
            try DurableFiles.rename(temporary, to: url.appending(path: name))
        } catch { throw .folder(path(name), error.message) }
    }
}

/// Where a local APNs listens, and what a provider and a device need to reach it: `address.json` in its folder.
package struct LocalAPNsAddress: Codable, Hashable, Sendable {
    package var host: String
    package var port: Int
    /// The Unix socket for tests: `curl --unix-socket CONTROL http://localhost/status`.
    package var control: String
    /// The Unix socket for devices.
    package var devices: String
    /// The root certificate to trust, PEM.
    package var root: String
    /// The provider key that was made here, with its `.p8`; else the first.
    package var keyID: String?
    package var teamID: String?
    package var key: String?
    package var environment: APNsEnvironment
    /// Of the faults.
    package var seed: UInt64

    package static let fileName = "address.json"

    /// Reads it from a server's folder.
    package init(inFolder folder: URL) throws(LocalAPNsError) {
        let file = folder.appending(path: Self.fileName)
        try LocalAPNsFolder.requireOwn(folder)
        guard let bytes = try? DurableFiles.read(file, limit: 65_536) else {
            throw .folder(file.path(percentEncoded: false), "no local APNs has been started here")
        }
        guard let address = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
            throw .damaged(file.path(percentEncoded: false))
        }
        self = address
    }

    init(host: String, port: Int, folder: LocalAPNsFolder, keys: [ProviderKey], configuration: LocalAPNsConfiguration) {
        self.host = host
        self.port = port
        control = folder.path(LocalAPNsCore.controlSocketName)
        devices = folder.path(DeviceSocket.name)
        root = folder.path("root.pem")
        func file(_ key: ProviderKey) -> String? {
            let path = folder.path("AuthKey_\(key.keyID).p8")
            return FileManager.default.fileExists(atPath: path) ? path : nil
        }
        let known = keys.first { file($0) != nil } ?? keys.first
        keyID = known?.keyID
        teamID = known?.teamID
        key = known.flatMap(file)
        environment = configuration.environment
        seed = configuration.seed
    }
}
