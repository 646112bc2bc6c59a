import Foundation
internal import PushCore

/// The folder of a local APNs: its certificate and root, provider keys, devices, waiting notifications, and log.
struct LocalAPNsFolder {
    let url: URL
    private let lock: Int32

    /// Creates the folder if it's missing, and locks it for one server until ``release()``.
    init(_ url: URL) throws(LocalAPNsError) {
        self.url = url
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw .folder(url.path(percentEncoded: false), "it can't be created") }
        // Anyone who can write here decides which keys are trusted, where devices connect, and which faults are injected.
        try Self.requireOwn(url)
        let path = url.appending(path: "lock").path(percentEncoded: false)
        lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .folder(path, String(cString: strerror(errno))) }
        // The system releases the lock when the process ends for any reason.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw .folder(url.path(percentEncoded: false), "another local APNs is running here")
        }
    }

    static func requireOwn(_ folder: URL) throws(LocalAPNsError) {
        let path = folder.path(percentEncoded: false)
        let exposure: Exposure?
        do throws(DurableFiles.Failure) { exposure = try Exposure.ofFolder(path) } catch {
            throw .folder(path, error.message)
        }
        guard let exposure else { return }
        throw .folder(
            exposure.path,
            exposure.kind == .owner
                ? "it belongs to another user; choose a folder that you own"
                : "other users can write to it; choose a folder that only you can write to")
    }

    /// Releases the folder for another server. Must be called only once.
    func release() {
        // Unlock explicitly, because a child that is about to execute another program still has the descriptor.
        flock(lock, LOCK_UN)
        close(lock)
    }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// Returns the existing certificate, or a new one.
    func certificate() throws(LocalAPNsError) -> LocalCertificate {
        if let root = text("root.pem"), let certificate = text("server.pem"), let key = text("server-key.pem"),
            LocalCertificate.isGood(certificate)
        {
            return LocalCertificate(rootPEM: root, certificatePEM: certificate, keyPEM: key)
        }
        let made: LocalCertificate
        do { made = try LocalCertificate.make() } catch { throw .certificate("\(error)") }
        // The root is written last, so that if it exists, the rest does, too.
        try write(made.keyPEM, "server-key.pem")
        try write(made.certificatePEM, "server.pem")
        try write(made.rootPEM, "root.pem")
        return made
    }

    /// Returns the provider keys. If there is none, creates one and its `.p8` file.
    func providerKeys() throws(LocalAPNsError) -> [AcceptedProviderKey] {
        if let text = text("keys.json") {
            guard let keys = try? JSONDecoder().decode([AcceptedProviderKey].self, from: Data(text.utf8)) else {
                throw .damaged(path("keys.json"))
            }
            return keys
        }
        let (key, p8) = AcceptedProviderKey.make()
        try write(p8, "AuthKey_\(key.keyID).p8")
        try save([key], as: "keys.json")
        return [key]
    }

    /// Returns the last known state of each device. If several lines describe the same one, the last line counts.
    func devices() -> [LocalDeviceRecord] {
        (text("devices.jsonl") ?? "").split(separator: "\n").compactMap {
            try? JSONDecoder().decode(LocalDeviceRecord.self, from: Data($0.utf8))
        }
    }

    /// Returns the device file, open for appending.
    func deviceFile() throws(LocalAPNsError) -> FileHandle {
        let path = path("devices.jsonl")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, String(cString: strerror(errno))) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Returns the notifications that waited for devices when the server last stopped, and removes them from the folder.
    func takeWaiting() -> [WaitingNotification] {
        defer { unlink(path("waiting.json")) }
        guard let text = text("waiting.json") else { return [] }
        return (try? JSONDecoder().decode([WaitingNotification].self, from: Data(text.utf8))) ?? []
    }

    /// Writes a value as JSON.
    func save(_ value: some Encodable, as name: String) throws(LocalAPNsError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { throw .damaged(url.path(percentEncoded: false)) }
        try write(String(decoding: data, as: UTF8.self) + "\n", name)
    }

    private func text(_ name: String) -> String? {
        guard let data = try? Data(contentsOf: url.appending(path: name)) else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    /// Writes a file atomically, readable only by its owner.
    private func write(_ text: String, _ name: String) throws(LocalAPNsError) {
        let temporary = url.appending(path: "tmp.\(UUID().uuidString)")
        do throws(DurableFiles.Failure) {
            try DurableFiles.write(Array(text.utf8), to: temporary, mode: 0o600)
            try DurableFiles.rename(temporary, to: url.appending(path: name))
        } catch { throw .folder(path(name), error.message) }
    }
}
