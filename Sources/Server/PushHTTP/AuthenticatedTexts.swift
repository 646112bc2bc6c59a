internal import PushCore
import SealedPush

/// Texts that only a process with the sender's key can create or change. A MAC binds each text to its purpose, its app, its
/// service, and a name. One sender may serve several apps whose user names belong to different people.
final class AuthenticatedTexts: Sendable {
    private let key: GuardedSecret

    init(of sender: SenderPrivateKey, for purpose: StaticString, of topic: Topic, service: ServiceName) {
        key = sender.derived(purpose, for: topic.description, service.description)
    }

    func seal(_ text: String, for name: String = "") -> String { "\(text).\(Base64URL.encode(mac(text, name)))" }

    /// Returns the text, or `nil` unless ``seal(_:for:)`` made it for this name.
    func open(_ sealed: some StringProtocol, for name: String = "") -> String? {
        guard sealed.utf8.count <= 4_096, let dot = sealed.lastIndex(of: "."),
            let mac = Base64URL.decode(sealed[sealed.index(after: dot)...].utf8)
        else { return nil }
        let text = String(sealed[..<dot])
        return ConstantTime.areEqual(mac, self.mac(text, name)) ? text : nil
    }

    private func mac(_ text: String, _ name: String) -> [UInt8] {
        var message: [UInt8] = []
        for part in [name, text] {
            message.append(bigEndian: UInt64(part.utf8.count))
            message += part.utf8
        }
        return key.withBytes { BLAKE2b.hash(message, key: $0, byteCount: 32) }
    }
}
