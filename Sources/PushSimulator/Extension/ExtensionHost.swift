import Dispatch
import Foundation
internal import Glibc
internal import PushCrypto
internal import PushKeyring
internal import PushService
internal import SealedPush
public import UserNotifications

/// The process that hosts an app's notification service extension, as iOS's extension host does.
///
/// An app's own extension runs in the simulator once it has a main program of three lines (Docs/Integration.md):
/// ```swift
/// import PushSimulator
///
/// @main struct Host { static func main() { ExtensionHost.run { NotificationService() } } }
/// ```
public enum ExtensionHost {
    /// Serves the simulator on standard input and output until input ends; what the extension prints goes to standard
    /// error. Never returns.
    public static func run(_ makeExtension: @escaping () -> UNNotificationServiceExtension) -> Never {
        serve { _ in makeExtension() }
    }

    /// The simulator's own extension: `SealedNotificationService`, configured by the simulator's flags.
    public static func runStandard() -> Never {
        serve { request in
            guard let configuration = request.standard?.configuration(container: request.device.container) else {
                try? FileHandle.standardError.write(
                    contentsOf: Data("device-simulator: no usable configuration\n".utf8))
                exit(64)
            }
            return StandardService(configuration)
        }
    }

    private static func serve(_ makeExtension: (ExtensionRequest) -> UNNotificationServiceExtension) -> Never {
        // The answers have standard output for themselves.
        let answers = dup(1)
        dup2(2, 1)
        var hosted: HostedExtension?
        while let line = readLine() {
            guard let command = try? JSONDecoder().decode(ExtensionCommand.self, from: Data(line.utf8)) else {
                exit(65)
            }
            switch command {
            case .deliver(let request):
                let current = hosted ?? HostedExtension(makeExtension(request), answers: answers)
                hosted = current
                current.deliver(request)
            case .expire:
                hosted?.expire()
            }
        }
        hosted?.finishTidying()
        exit(0)
    }
}

/// One instance of an extension; called on threads of the system's choice, as iOS does.
private final class HostedExtension: @unchecked Sendable {
    // An extension class is not Sendable, and iOS calls it from any thread all the same: so does this.
    private let service: UNNotificationServiceExtension
    private let answers: Int32

    init(_ service: UNNotificationServiceExtension, answers: Int32) {
        self.service = service
        self.answers = answers
    }

    func deliver(_ request: ExtensionRequest) {
        let payload = (try? JSONSerialization.jsonObject(with: request.payload)) as? [String: Any] ?? [:]
        if let sealed = service as? SealedNotificationService { sealed.environment = request.device.environment }
        let notification = UNNotificationRequest(
            identifier: request.identifier, content: WireNotification(payload).content,
            trigger: UNPushNotificationTrigger())
        let callCount = Locked(0)
        nonisolated(unsafe) let handedOver = notification
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            service.didReceive(handedOver) { [self] content in
                let number = callCount.withLock { count in
                    count += 1
                    return count
                }
                answer(ShownNotification(content), callNumber: number)
            }
        }
    }

    /// Gives what is still tidied up a moment, as iOS mostly does before it suspends a process.
    func finishTidying() {
        _ = (service as? SealedNotificationService)?.tidying.wait(timeout: .now() + .milliseconds(400))
    }

    /// On another thread: Apple, `serviceExtensionTimeWillExpire()`.
    func expire() {
        DispatchQueue.global(qos: .userInteractive).async { [self] in service.serviceExtensionTimeWillExpire() }
    }

    private func answer(_ content: ShownNotification, callNumber: Int) {
        let answer = ExtensionAnswer(
            content: content, callNumber: callNumber, memoryByteCount: ProcessMemory.byteCount(of: "self"))
        guard var line = try? JSONEncoder().encode(answer) else { return }
        line.append(UInt8(ascii: "\n"))
        try? FileHandle(fileDescriptor: answers, closeOnDealloc: false).write(contentsOf: line)
    }
}

extension SimulatedDevice {
    /// What the extension finds on this device.
    fileprivate var environment: DeviceEnvironment {
        let keychain: any KeyStore = isLocked ? LockedKeychain() : store
        let container = container
        return DeviceEnvironment(keychain: { _ in keychain }, appGroup: { _ in container })
    }

    private var store: any KeyStore {
        guard let name = KeyName(parsing: name) else { return InMemoryKeyStore([]) }
        do {
            let unlocking = try KeyringKeySource(keyFile: keyFile).unlocking()
            return KeyringStore(Keyring(folder: keyring, unlocking: unlocking), device: name)
        } catch {
            return UnreadableKeychain(reason: error.description)
        }
    }
}

/// A keychain before the first unlock: every item answers `errSecInteractionNotAllowed`.
private struct LockedKeychain: KeyStore {
    func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] { throw .locked }
}

/// A keyring whose key can't be had.
private struct UnreadableKeychain: KeyStore {
    let reason: String
    func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] { throw .unavailable(reason) }
}

/// The extension of an app that has nothing of its own to add.
final class StandardService: SealedNotificationService {
    private let fixed: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) { fixed = configuration }

    override var configuration: ServiceConfiguration { fixed }
}

extension StandardConfiguration {
    func configuration(container: URL) -> ServiceConfiguration? {
        guard let topic = Topic(parsing: topic) else { return nil }
        let trusted = senders.compactMap { try? Sender(parsing: $0) }
        let pinned = authorities.compactMap { try? Authority(parsing: $0) }
        guard trusted.count == senders.count, pinned.count == authorities.count, VisibleText.isVisible(safeDefault)
        else { return nil }
        return ServiceConfiguration(
            topic: topic, keys: .keychain(accessGroup: "simulated"), trusting: trusted,
            authorities: pinned, safeDefault: SafeDefault(body: safeDefault), container: .folder(container),
            allowsAnonymous: allowsAnonymous)
    }
}
