import Crypto
import Foundation
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("What Apple leaves unknown")
struct SwitchTests {
    /// A request that the strict answer refuses and the lenient one takes.
    struct Question: Sendable, CustomTestStringConvertible {
        let question: APNsQuestion
        let reason: String
        var headers: [String: String?] = [:]
        var body = #"{"aps":{"alert":"x"}}"#
        var testDescription: String { "\(question.rawValue): \(headers), \(body)" }
    }

    static let questions: [Question] = [
        Question(
            question: .idCase, reason: "BadMessageId", headers: ["apns-id": "2C4A3A56-0000-4000-8000-00000000ABCD"]),
        Question(question: .missingPushType, reason: "InvalidPushType", headers: ["apns-push-type": nil]),
        Question(question: .pushTypeOfPayload, reason: "InvalidPushType", body: #"{"aps":{"content-available":1}}"#),
        Question(
            question: .pushTypeOfPayload, reason: "InvalidPushType",
            headers: ["apns-push-type": "background", "apns-priority": "5"],
            body: #"{"aps":{"content-available":1,"alert":"x"}}"#),
        Question(
            question: .topicSuffix, reason: "BadTopic", headers: ["apns-topic": "com.example.app.voip"]),
        Question(
            question: .backgroundPriority, reason: "BadPriority", headers: ["apns-push-type": "background"],
            body: #"{"aps":{"content-available":1}}"#),
        Question(question: .emptyCollapseID, reason: "BadCollapseId", headers: ["apns-collapse-id": ""]),
        Question(question: .payload, reason: "BadRequestPayload", body: "hello"),
        Question(question: .payload, reason: "BadRequestPayload", body: "{}"),
        Question(question: .payload, reason: "BadRequestPayload", body: #"{"aps":1}"#),
        Question(question: .payload, reason: "BadRequestPayload", body: #"[{"aps":{"alert":"x"}}]"#),
        Question(question: .payload, reason: "BadRequestPayload", body: #"{"aps":{"alert":"x"}} x"#),
        Question(question: .payload, reason: "BadRequestPayload", body: #"{"aps":{"alert":"x",}}"#),
        Question(
            question: .payload, reason: "BadRequestPayload", body: String(repeating: "[", count: 3_000)),
    ]

    @Test("the strict answer refuses, the lenient one takes it", arguments: questions)
    func both(_ question: Question) throws {
        let strict = try APNsFixture()
        #expect(strict.answer(try strict.request(question.headers, body: question.body)) == question.reason)
        let lenient = try APNsFixture { $0.lenient = [question.question] }
        #expect(lenient.answer(try lenient.request(question.headers, body: question.body)) == nil)
        let others = try APNsFixture { $0.lenient = Set(APNsQuestion.allCases).subtracting([question.question]) }
        #expect(others.answer(try others.request(question.headers, body: question.body)) == question.reason)
    }

    @Test("an ID in capitals is echoed in small letters")
    func loweredID() throws {
        let fixture = try APNsFixture { $0.lenient = [.idCase] }
        var identity = ConnectionIdentity()
        let request = try fixture.request(["apns-id": "2C4A3A56-0000-4000-8000-00000000ABCD"])
        #expect(fixture.handled(request, &identity).apnsID == "2c4a3a56-0000-4000-8000-00000000abcd")
    }

    @Test("any key of the team will do on a connection, where that is lenient")
    func relatedKeys() throws {
        for (lenient, reason) in [(Set<APNsQuestion>(), "UnrelatedKeyIdInToken"), ([.relatedKeys], nil)] {
            let fixture = try APNsFixture { $0.lenient = lenient }
            let (made, p8) = ProviderKey.make(teamID: fixture.key.teamID)
            var topical = made
            topical.topics = [APNsFixture.topic]
            fixture.core.tokens.register(topical)
            var identity = ConnectionIdentity()
            #expect(fixture.answer(try fixture.request(), &identity) == nil)
            let maker = ProviderTokenMaker(key: topical, secret: try .init(pemRepresentation: p8))
            let authorization = try maker.authorization(issued: fixture.now)
            #expect(fixture.answer(try fixture.request(["authorization": authorization]), &identity) == reason)
        }
    }

    @Test("the outline of a payload is the same as Foundation's reading of it")
    func outline() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            var object: [String: Any] = ["aps": ["alert": RandomText.make(pieceCount: 5, using: &random)]]
            for number in 0..<Int.random(in: 0...4, using: &random) {
                object["k\(number)"] = [
                    RandomText.make(pieceCount: 8, using: &random), -1.5e10, true, NSNull(), ["deep": [1, 2]],
                ].shuffled(using: &random)
            }
            let data = try JSONSerialization.data(withJSONObject: object)
            let outline = Array(data).withUnsafeBufferPointer { PayloadOutline(scanning: $0) }
            #expect(outline?.members.count == object.count)
            #expect(outline?.hasAps == true)
            for length in stride(from: 0, to: data.count, by: 3) {
                let cut = Array(data.prefix(length)).withUnsafeBufferPointer { PayloadOutline(scanning: $0) }
                #expect(cut == nil)
            }
        }
    }
}
