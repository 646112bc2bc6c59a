import SealedPush

/// A condition on the columns of a row. The rules use it to say which rows they mean. It has one meaning in memory and one
/// form in SQL, so a store that selects rows with SQL doesn't repeat the rule.
package struct RowCondition: Hashable, Sendable {
    /// The tests that a row must pass, all of them.
    private let terms: [Term]

    package enum Column: String, Sendable {
        case sendUntil = "send_until"
        case reason
        /// The text of ``SealedBy``.
        case sender
        case token
        case tokenRefusal = "token_refusal"
    }

    package enum Value: Hashable, Sendable {
        case int(Int64)
        case text(String)
    }

    struct Term: Hashable, Sendable {
        let column: Column
        let test: Test
    }

    /// As in SQL, every test except `isMissing` fails if the column is NULL.
    enum Test: Hashable, Sendable {
        case isMissing
        case isPresent
        case equals(String)
        case differs(from: String)
        case isAtMost(Int64)
        case isAbove(Int64)
    }

    init(_ tests: KeyValuePairs<Column, Test> = [:]) { terms = tests.map { Term(column: $0, test: $1) } }

    /// Selects devices that can be sent to: those with an address that isn't refused.
    package static let isReachable = Self([.token: .isPresent, .tokenRefusal: .isMissing])
}

// MARK: In memory

extension RowCondition {
    package func holds(in row: some OutboxRow) throws(OutboxError) -> Bool {
        for term in terms where try !term.holds(in: row) { return false }
        return true
    }
}

extension RowCondition.Term {
    fileprivate func holds(in row: some OutboxRow) throws(OutboxError) -> Bool {
        switch test {
        case .isMissing: try isMissing(in: row)
        case .isPresent: try !isMissing(in: row)
        case .equals(let text): try row.optionalText(column.rawValue) == text
        case .differs(let text): try row.optionalText(column.rawValue).map { $0 != text } ?? false
        case .isAtMost(let limit): try row.optionalInt(column.rawValue).map { $0 <= limit } ?? false
        case .isAbove(let limit): try row.optionalInt(column.rawValue).map { $0 > limit } ?? false
        }
    }

    private func isMissing(in row: some OutboxRow) throws(OutboxError) -> Bool {
        switch column {
        case .sendUntil: try row.optionalInt(column.rawValue) == nil
        case .token: try row.optionalBytes(column.rawValue) == nil
        case .reason, .sender, .tokenRefusal: try row.optionalText(column.rawValue) == nil
        }
    }
}

// MARK: In SQL

extension RowCondition {
    /// Returns the condition in SQL, and the values of its parameters.
    ///
    /// - Parameter operand: Returns the SQL that a column is compared with: the parameter of this number, which begins at 1.
    package func sql(_ operand: (Column, Int) -> String) -> (condition: String, values: [Value]) {
        var values: [Value] = []
        func compared(_ column: Column, _ sign: String, _ value: Value) -> String {
            values.append(value)
            return "\(column.rawValue) \(sign) \(operand(column, values.count))"
        }
        let tests = terms.map { term in
            let column = term.column
            return switch term.test {
            case .isMissing: "\(column.rawValue) IS NULL"
            case .isPresent: "\(column.rawValue) IS NOT NULL"
            case .equals(let text): compared(column, "=", .text(text))
            case .differs(let text): compared(column, "<>", .text(text))
            case .isAtMost(let limit): compared(column, "<=", .int(limit))
            case .isAbove(let limit): compared(column, ">", .int(limit))
            }
        }
        return (tests.isEmpty ? "true" : tests.joined(separator: " AND "), values)
    }
}
