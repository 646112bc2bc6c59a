import Foundation

/// Looks for a shorter plan that breaks the same promise.
struct Shrinking {
    private(set) var plan: Plan
    private let promise: String
    /// Returns false once there is no time left.
    private let mayContinue: () -> Bool
    private(set) var runCount = 0

    init(_ plan: Plan, breaking promise: String, while mayContinue: @escaping () -> Bool) {
        (self.plan, self.promise, self.mayContinue) = (plan, promise, mayContinue)
    }

    mutating func run() throws {
        var pieceCount = 2
        while mayContinue(), plan.operations.count > 1 {
            let size = max(1, plan.operations.count / pieceCount)
            var start = plan.operations.count
            var isShorter = false
            // From the end: what follows the fault is needed least.
            while start > 0, mayContinue() {
                let range = max(0, start - size)..<start
                var shorter = plan
                shorter.operations.removeSubrange(range)
                if try accept(shorter) { isShorter = true }
                start = range.lowerBound
            }
            if size == 1, !isShorter { break }
            pieceCount = isShorter ? max(2, pieceCount) : pieceCount * 2
        }
        try simplify()
    }

    /// Makes the configuration as plain as the fault permits.
    private mutating func simplify() throws {
        let steps: [(inout Configuration) -> Void] = [
            { $0.isKeyed = false }, { $0.hasMembers = false }, { $0.isHybrid = false }, { $0.courierCount = 1 },
            { $0.inFlightCount = 1 }, { $0.keepsRetiredKeys = 30 }, { $0.leavings = .taken },
            { $0.keepsOnlyNewest = false }, { $0.endsSessions = false }, { $0.restartsLast = false },
        ]
        for step in steps where mayContinue() {
            var simpler = plan
            step(&simpler.configuration)
            _ = try accept(simpler)
        }
        for index in plan.operations.indices where mayContinue() {
            var simpler = plan
            switch simpler.operations[index] {
            case .weather: simpler.operations[index] = .weather(.clear)
            case .pass: simpler.operations[index] = .pass(milliseconds: 60_000)
            case .send(let message, let user, _, _):
                simpler.operations[index] = .send(
                    message: message, user: user, isConsiderate: false, secondsToLive: nil)
            default: continue
            }
            _ = try accept(simpler)
        }
    }

    private mutating func accept(_ other: Plan) throws -> Bool {
        runCount += 1
        guard try World(other).run()?.promise == promise else { return false }
        plan = other
        return true
    }
}

extension World {
    /// What happened, in sentences: everything about the message, and what has no message.
    func story(of message: Int?) -> [String] {
        log.filter { message == nil || $0.message == nil || $0.message == message }.map(\.line).suffix(100)
    }
}
