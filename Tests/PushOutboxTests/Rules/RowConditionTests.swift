import PushSender
import Testing

@testable import PushOutbox

@Suite("Conditions on rows") struct RowConditionTests {
    /// All conditions that the rules use.
    private static let conditions: [RowCondition] =
        [PushCondition.all, .expired(at: 100), .reason("a"), .anyReason(except: "a"), .sealed(by: .anonymous)].map(
            \.rows)
        + [nil, "a"].flatMap { reason in
            let requeuing = Requeuing(reason: reason, isWaiting: false)
            return [requeuing.addresses, requeuing.letters(at: 100)]
        } + [.isReachable]

    @Test("each means the same in memory and in SQL, for every combination of values, including NULL")
    func combinations() throws {
        var rows: [ConditionRow] = []
        for sendUntil in [nil, .min, 99, 100, 101, .max] as [Int64?] {
            for reason in [nil, "a", "b", ""] {
                for sender in [nil, "anonymous", "pushsender1x"] {
                    for (token, refusal) in [(nil, nil), (nil, "a"), ([1], nil), ([1], "a"), ([], "b")]
                        as [([UInt8]?, String?)]
                    {
                        rows.append(
                            ConditionRow(
                                sendUntil: sendUntil, reason: reason, sender: sender, token: token, refusal: refusal))
                    }
                }
            }
        }
        for condition in Self.conditions {
            let selected = try ConditionRow.selected(rows, by: condition)
            #expect(!selected.contains(nil) && selected.contains(true), "\(condition)")
        }
    }

    @Test(
        "their parameters are numbered in order",
        arguments: [
            (RowCondition(), "true", []), (.isReachable, "token IS NOT NULL AND token_refusal IS NULL", []),
            (
                RowCondition([.sendUntil: .isAbove(5), .reason: .equals("a")]), "send_until > $1 AND reason = $2",
                [.int(5), .text("a")]
            ),
            (
                RowCondition([.sender: .differs(from: "b"), .sendUntil: .isAtMost(7)]),
                "sender <> $1 AND send_until <= $2", [.text("b"), .int(7)]
            ),
        ] as [(RowCondition, String, [RowCondition.Value])])
    func numbers(condition: RowCondition, sql: String, values: [RowCondition.Value]) {
        let found = condition.sql { _, number in "$\(number)" }
        #expect(found.condition == sql)
        #expect(found.values == values)
    }
}
