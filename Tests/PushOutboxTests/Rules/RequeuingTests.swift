import Testing

@testable import PushOutbox

@Suite("Requeuing dead letters") struct RequeuingTests {
    @Test(
        "an address that was refused is used again if the reason is included",
        arguments: [
            (nil, true, "BadDeviceToken", true), ("BadDeviceToken", true, "BadDeviceToken", true),
            ("BadTopic", true, "BadDeviceToken", false), (nil, true, nil, false), (nil, false, "Unregistered", false),
            ("Unregistered", false, "Unregistered", false),
        ] as [(String?, Bool, String?, Bool)])
    func reenables(reason: String?, hasAddress: Bool, refusal: String?, isReenabled: Bool) throws {
        let requeuing = Requeuing(reason: reason, isWaiting: false)
        let device = ConditionRow(token: hasAddress ? [1] : nil, refusal: refusal)
        #expect(try ConditionRow.selected([device], by: requeuing.addresses) == [isReenabled])
    }

    @Test(
        "a dead letter is requeued if its reason is included, and it hasn't expired",
        arguments: [
            (nil, "BadTopic", 101, true), ("BadTopic", "BadTopic", 101, true), ("BadTopic", "expired", 101, false),
            (nil, "BadTopic", 100, false), ("BadTopic", "BadTopic", .min, false),
        ] as [(String?, String, Int64, Bool)])
    func includes(reason: String?, ofLetter: String, sendUntil: Int64, isIncluded: Bool) throws {
        let requeuing = Requeuing(reason: reason, isWaiting: true)
        let letter = ConditionRow(sendUntil: sendUntil, reason: ofLetter)
        #expect(try ConditionRow.selected([letter], by: requeuing.letters(at: 100)) == [isIncluded])
    }
}
