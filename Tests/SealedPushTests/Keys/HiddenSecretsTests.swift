import Testing
import _PushBase

@testable import SealedPush

@Suite("A key object that is printed")
struct HiddenSecretsTests {
    @Test("shows an identity's public half, and nothing of its secret")
    func identity() {
        let identity = Identity()
        let device = DeviceKey(identity, created: Exchange.now)
        for shown in everyPrint(of: identity) + everyPrint(of: device) + everyPrint(of: Optional(identity)) {
            expectHidden(identity.secretText, identity.secretBytes, in: shown)
        }
        #expect("\(identity)" == "Identity(\(identity.recipient))")
        #expect(String(reflecting: identity).contains(identity.recipient.description))
    }

    @Test("shows a sender key's public half, and nothing of its secret")
    func senderKey() {
        let key = SenderKey()
        for shown in everyPrint(of: key) + everyPrint(of: [key]) {
            expectHidden(key.secretText, key.secretBytes, in: shown)
        }
        #expect("\(key)" == "SenderKey(\(key.sender))")
        #expect(String(reflecting: key).contains(key.sender.description))
    }

    @Test("shows an authority's or enrolment key's public half, and nothing of its secret")
    func signingKeys() {
        let (authorityKey, enrolmentKey) = (AuthorityKey(), EnrolmentKey())
        for shown in everyPrint(of: authorityKey) + everyPrint(of: [authorityKey]) {
            expectHidden(authorityKey.secretText, authorityKey.secretBytes, in: shown)
        }
        for shown in everyPrint(of: enrolmentKey) + everyPrint(of: [enrolmentKey]) {
            expectHidden(enrolmentKey.secretText, enrolmentKey.secretBytes, in: shown)
        }
        #expect("\(authorityKey)" == "AuthorityKey(\(authorityKey.authority))")
        #expect("\(enrolmentKey)" == "EnrolmentKey(\(enrolmentKey.enrolment))")
        #expect(String(reflecting: authorityKey).contains(authorityKey.authority.description))
        #expect(String(reflecting: enrolmentKey).contains(enrolmentKey.enrolment.description))
    }

    @Test("shows no child but the public half to a mirror")
    func mirrors() {
        #expect(Mirror(reflecting: Identity()).children.map(\.label) == ["recipient"])
        #expect(Mirror(reflecting: SenderKey()).children.map(\.label) == ["sender"])
        #expect(Mirror(reflecting: AuthorityKey()).children.map(\.label) == ["authority"])
        #expect(Mirror(reflecting: EnrolmentKey()).children.map(\.label) == ["enrolment"])
        let keys: [any CustomReflectable] = [Identity(), SenderKey(), AuthorityKey(), EnrolmentKey()]
        for mirror in keys.map(Mirror.init(reflecting:)) {
            for child in mirror.children { #expect(child.value is String) }
        }
    }

    private func everyPrint(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var printed = ""
        print(value, to: &printed)
        var debugPrinted = ""
        debugPrint(value, to: &debugPrinted)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped, printed, debugPrinted]
    }

    private func expectHidden(_ text: String, _ bytes: [UInt8], in shown: String) {
        let capitals = shown.uppercased()
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
