import Testing

@testable import PushOutbox

@Suite("The pushes that a purge deletes") struct PurgePlanTests {
    private static let now: Int64 = 1_800_000_000_000

    @Test(
        "each scope, at a time that is certain",
        arguments: [
            (.expired, true, .expired(at: now), .expired(at: now), "expired"),
            (.records, true, nil, nil, "purged"),
            (.deadLetters(reason: "BadTopic"), false, .reason("BadTopic"), nil, "purged"),
            (.deadLetters(reason: "expired"), false, .reason("expired"), nil, "purged"),
            (.deadLetters(reason: nil), false, .anyReason(except: "expired"), nil, "purged"),
            (.sealed(by: .anonymous), false, .sealed(by: .anonymous), .sealed(by: .anonymous), "purged"),
            (.everything, true, .all, .all, "purged"),
        ] as [(PurgeScope, Bool, PushCondition?, PushCondition?, String)])
    func scopes(
        scope: PurgeScope, includesRecords: Bool, deadLetters: PushCondition?, entries: PushCondition?, outcome: String
    ) {
        let plan = PurgePlan(scope, at: Self.now)
        #expect(scope.includesRecords == includesRecords)
        #expect(plan.deadLetters == deadLetters)
        #expect(plan.entries == entries)
        #expect(plan.outcome == outcome)
    }

    @Test("if the time is uncertain, nothing has expired, and everything else is deleted as usual") func uncertain() {
        let plan = PurgePlan(.expired, at: nil)
        #expect(plan.deadLetters == nil)
        #expect(plan.entries == nil)
        for scope in [.deadLetters(reason: nil), .sealed(by: .anonymous), .everything] as [PurgeScope] {
            #expect(PurgePlan(scope, at: nil) == PurgePlan(scope, at: Self.now))
        }
    }

    @Test(
        "each condition selects waiting pushes or dead letters",
        arguments: [
            // Whether the push's end is the time of the condition, one millisecond later, its sender, and its reason.
            (.all, [true, true, true, true]), (.expired(at: now), [true, false, true, true]),
            (.reason("BadTopic"), [false, false, true, false]),
            (.anyReason(except: "BadTopic"), [false, false, false, true]),
            (.sealed(by: .anonymous), [true, false, false, true]),
        ] as [(PushCondition, [Bool])])
    func conditions(condition: PushCondition, selected: [Bool]) throws {
        let pushes = [
            ConditionRow(sendUntil: Self.now, sender: "anonymous"),
            ConditionRow(sendUntil: Self.now + 1, sender: "pushsender1x"),
            ConditionRow(sendUntil: Self.now, reason: "BadTopic"),
            ConditionRow(sendUntil: .min, reason: "expired", sender: "anonymous"),
        ]
        #expect(try ConditionRow.selected(pushes, by: condition.rows) == selected)
    }
}
