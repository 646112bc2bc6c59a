import TestSupport
import Testing

@testable import SealedPush

@Suite("An error about key text")
struct KeyTextErrorTests {
    @Test("never holds any of the text, however it is printed")
    func noEcho() throws {
        let secret = DevicePrivateKey().secretText
        let middle = String(secret.dropFirst(30).prefix(20))
        let wrong = [
            String(secret.dropLast()), secret + "Q", secret.lowercased(), secret + secret, String(secret.dropFirst()),
            String(secret.dropFirst(17)), secret.replacing(middle, with: middle.lowercased()), secret + "é",
            "X" + secret, String(secret.dropLast()) + (secret.hasSuffix("Q") ? "P" : "Q"),
        ]
        for text in wrong {
            let error = try #require(throws: KeyTextError.self) { try DevicePrivateKey(parsing: text) }
            var dumped = ""
            dump(error, to: &dumped)
            for shown in ["\(error)", String(reflecting: error), dumped, error.description, error.rawValue] {
                for start in stride(from: 18, to: secret.count - 6, by: 3) {
                    let piece = secret.dropFirst(start).prefix(6)
                    #expect(!shown.uppercased().contains(piece))
                }
            }
        }
    }

    @Test("has a code and a sentence of its own for each case")
    func sentences() {
        #expect(Set(KeyTextError.allCases.map(\.description)).count == KeyTextError.allCases.count)
        #expect(Set(KeyTextError.allCases.map(\.rawValue)).count == KeyTextError.allCases.count)
    }

    @Test("in a program's own source stops it, and names the key, but nothing that may be a secret")
    func literals() async throws {
        let placeholder = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                dieQuietly()
                _ = SenderPublicKey(stringLiteral: "pushsender1...")
            })
        let words = String(decoding: placeholder.standardErrorContent, as: UTF8.self)
        #expect(words.contains("pushsender1... in the source can't be used: "), "\(words)")

        let secret = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                dieQuietly()
                _ = AuthorityPublicKey(stringLiteral: "PUSH-AUTHORITY-SECRET-KEY-1QQQQ")
            })
        let others = String(decoding: secret.standardErrorContent, as: UTF8.self)
        #expect(others.contains("pushauthority1… in the source can't be used: "), "\(others)")
        #expect(!others.contains("QQQQ"))
    }
}
