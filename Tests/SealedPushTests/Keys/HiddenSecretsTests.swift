import PushCore
import Testing

@testable import SealedPush

@Suite("A key object that is printed")
struct HiddenSecretsTests {
    @Test("shows its public half, and nothing of its secret")
    func printed() {
        let (identity, senderKey) = (DevicePrivateKey(), SenderPrivateKey())
        let (authorityKey, enrollmentKey) = (AuthorityPrivateKey(), EnrollmentPrivateKey())
        expectHidden(identity, "Identity", "recipient", identity.recipient)
        expectHidden(senderKey, "SenderKey", "sender", senderKey.sender)
        expectHidden(authorityKey, "AuthorityKey", "authority", authorityKey.authority)
        expectHidden(enrollmentKey, "EnrollmentKey", "enrollment", enrollmentKey.enrollment)
        for shown in everyPrint(of: DeviceKey(identity, created: Exchange.now)) {
            expectNothing(of: identity, in: shown)
        }
    }

    private func expectHidden<Role>(_ key: PrivateKey<Role>, _ type: String, _ label: String, _ half: some Any) {
        for shown in everyPrint(of: key) + everyPrint(of: [key]) + everyPrint(of: Optional(key)) {
            expectNothing(of: key, in: shown)
        }
        #expect("\(key)" == "\(type)(\(half))")
        #expect(String(reflecting: key).contains("\(half)"))
        let children = Mirror(reflecting: key).children
        #expect(children.map(\.label) == [label] && children.allSatisfy { $0.value is String })
    }

    private func everyPrint(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var debugPrinted = ""
        debugPrint(value, to: &debugPrinted)
        return ["\(value)", String(reflecting: value), dumped, debugPrinted]
    }

    private func expectNothing<Role>(of key: PrivateKey<Role>, in shown: String) {
        let (text, bytes, capitals) = (key.secretText, key.secretBytes, shown.uppercased())
        #expect(!shown.isEmpty)
        #expect(!capitals.contains("SECRET-KEY-1"))
        // Pieces of eight characters or four bytes: no accident in a lifetime.
        for start in stride(from: text.count - 58, to: text.count - 8, by: 4) {
            #expect(!capitals.contains(text.dropFirst(start).prefix(8)))
        }
        for start in stride(from: 0, through: 28, by: 4) {
            let piece = bytes[start..<start + 4]
            #expect(!capitals.contains(Hex.encode(piece).uppercased()))
            #expect(!capitals.contains(piece.map(String.init).joined(separator: ", ")))
        }
    }
}
