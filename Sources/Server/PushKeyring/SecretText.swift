internal import PushCore
internal import PushSender

/// A secret key's text while a keyring is read or written. It's wiped with the last reference, and never printed.
final class SecretText: Sendable {
    private let bytes: WipedBytes

    /// Returns nil if there are no bytes, or more than a key's text can have.
    init?(copying text: UnsafeRawBufferPointer) {
        guard (1...KeyKind.maximumCharacterCount).contains(text.count) else { return nil }
        bytes = WipedBytes(count: text.count) { $0.copyMemory(from: text) }
    }

    func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer { bytes.withBytes(body) }
}
