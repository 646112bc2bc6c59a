package import PushSender
package import SealedPush

/// Seals many messages without a service, one line each in and out, in the format of `/v1/seal`.
package struct SealBatch: Sendable {
    private let sealer: Sealer
    private let reserve: Int
    private let isUnverifiedAllowed: Bool
    private let known = ParsedTexts()

    /// `reserve` is the default for lines without a reserve: 0 to ``Sealer/maximumReserve``. `isUnverifiedAllowed` allows
    /// unverified keys on every line.
    package init(from sealer: Sealer, reserve: Int, isUnverifiedAllowed: Bool) {
        self.sealer = sealer
        self.reserve = reserve
        self.isUnverifiedAllowed = isUnverifiedAllowed
    }

    /// Writes the response to a line, numbered from 1, on a separate line. Returns false if the line wasn't sealed.
    package func answer(_ line: [UInt8], _ number: Int, to answers: inout JSONWriter) -> Bool {
        defer { answers.endLine() }
        do throws(OrderError) {
            let order = try SealOrder(
                try OrderReader.members(of: line, isLine: true), known: known, isUnverifiedAllowed: isUnverifiedAllowed)
            try order.seal(
                by: sealer, reserve: reserve, to: &answers, line: AnswerLine(number: number, status: 200))
            return true
        } catch {
            answers.value(error.json(line: number))
            return false
        }
    }

    package static let maximumLineByteCount = OrderReader.maximumByteCount
}
