import PushSender
import Testing

@testable import PushOutbox

@Suite("The lanes of an order") struct LaneSequenceTests {
    /// A lane that is searched, and how many queues are taken from it.
    private struct Step: Equatable {
        let lane: PushPriority
        let limit: Int

        init(_ lane: PushPriority, _ limit: Int) { (self.lane, self.limit) = (lane, limit) }
    }

    /// Returns the lanes that are searched while this many pushes wait in each lane.
    private func steps(count: Int, considerate: Int, waiting: [PushPriority: Int]) -> [Step] {
        var lanes = LaneSequence(
            LeaseOrder(
                carrier: .apns(), count: count, considerateCount: considerate, duration: .seconds(60), firstNumber: 1))
        var (steps, taken, waiting): ([Step], Int, [PushPriority: Int]) = ([], 0, waiting)
        while let (lane, limit) = lanes.next(after: taken) {
            steps.append(Step(lane, limit))
            let found = min(limit, waiting[lane] ?? 0)
            waiting[lane]? -= found
            taken += found
        }
        #expect(taken <= count)
        return steps
    }

    @Test("the considerate lane has a share, then the immediate lane is served, then the considerate lane again")
    func order() {
        let (immediate, considerate) = (PushPriority.immediate, PushPriority.considerate)
        // Nothing waits.
        #expect(
            steps(count: 8, considerate: 1, waiting: [:])
                == [Step(considerate, 1), Step(immediate, 8), Step(considerate, 8)])
        // Both lanes have more than enough.
        #expect(
            steps(count: 8, considerate: 1, waiting: [immediate: 100, considerate: 100])
                == [Step(considerate, 1), Step(immediate, 7)])
        // The rest goes to the considerate lane.
        #expect(
            steps(count: 8, considerate: 1, waiting: [immediate: 3, considerate: 100])
                == [Step(considerate, 1), Step(immediate, 7), Step(considerate, 4)])
        // The share isn't used.
        #expect(
            steps(count: 8, considerate: 1, waiting: [immediate: 100])
                == [Step(considerate, 1), Step(immediate, 8)])
        // There is no share this time.
        #expect(
            steps(count: 8, considerate: 0, waiting: [immediate: 5, considerate: 100])
                == [Step(immediate, 8), Step(considerate, 3)])
        // The share is the whole order, or larger.
        for share in [8, 9] {
            #expect(
                steps(count: 8, considerate: share, waiting: [immediate: 100, considerate: 100])
                    == [Step(considerate, 8)])
        }
        #expect(steps(count: 0, considerate: 0, waiting: [immediate: 1, considerate: 1]) == [])
    }
}
