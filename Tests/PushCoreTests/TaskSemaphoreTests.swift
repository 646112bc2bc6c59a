import PushCore
import TestSupport
import Testing

@Suite("A semaphore for tasks") struct TaskSemaphoreTests {
    @Test("There are never more tasks at once than allowed, and each caller gets one") func width() async throws {
        let semaphore = TaskSemaphore(3)
        let counts = Locked((now: 0, most: 0, done: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    try await semaphore.run(at: number % 4) {
                        counts.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        for _ in 0..<10 { await Task.yield() }
                        counts.withLock {
                            $0.now -= 1
                            $0.done += 1
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(counts.withLock { $0.done } == 60)
        #expect(counts.withLock { $0.most } <= 3)
    }

    @Test("Lower places come first, then earlier callers; a canceled caller leaves the queue")
    func order() async throws {
        let semaphore = TaskSemaphore(1)
        let order = Collected<String>()
        let isHeld = Held()
        let first = Task { try await semaphore.run { await isHeld.wait() } }
        var tasks: [Task<Void, any Error>] = []
        try await eventually("the first has its turn") { isHeld.hasWaiter }
        for (name, place) in [("c", 2), ("a", 0), ("gone", 0), ("d", 2), ("b", 1)] {
            let before = semaphore.waitingCount
            tasks.append(Task { try await semaphore.run(at: place) { order.add(name) } })
            try await eventually("\(name) waits") { semaphore.waitingCount == before + 1 }
        }
        tasks[2].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[2].value }
        isHeld.release()
        try await first.value
        for (index, task) in tasks.enumerated() where index != 2 { try await task.value }
        #expect(order.all == ["a", "b", "c", "d"])
        let tooLate = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.run { order.add("canceled before") }
        }
        await #expect(throws: CancellationError.self) { try await tooLate.value }
        try await semaphore.run { order.add("e") }
        #expect(order.all.last == "e")
    }

    @Test("A failing task releases its turn") func failure() async throws {
        let semaphore = TaskSemaphore(1)
        for _ in 0..<3 {
            await #expect(throws: X25519Error.invalidPublicKey) {
                try await semaphore.run { throw X25519Error.invalidPublicKey }
            }
        }
        try await semaphore.run {}
    }

    @Test("A semaphore admits the task that has waited longest") func places() async throws {
        let places = TaskSemaphore(2)
        for _ in 1...2 { await places.enter() }
        let order = Locked<[Int]>([])
        var waiting: [Task<Void, Never>] = []
        for number in 1...5 {
            waiting.append(
                Task {
                    await places.enter()
                    order.withLock { $0.append(number) }
                    places.leave()
                })
            try await eventually("\(number) tasks wait") { places.waitingCount == number }
        }
        places.leave()
        for task in waiting { await task.value }
        #expect(order.withLock { $0 } == [1, 2, 3, 4, 5])
        // Both places are free again.
        places.leave()
        let entered = Locked(0)
        for _ in 1...3 {
            Task {
                await places.enter()
                entered.withLock { $0 += 1 }
            }
        }
        try await eventually("two tasks have a place") { entered.withLock { $0 } == 2 && places.waitingCount == 1 }
        places.leave()
        try await eventually("the third task has a place") { entered.withLock { $0 } == 3 }
    }

    @Test("A task that must enter waits on despite its cancellation") func patient() async throws {
        let places = TaskSemaphore(1)
        await places.enter()
        let task = Task {
            await places.enter()
            return Task.isCancelled
        }
        try await eventually("it waits") { places.waitingCount == 1 }
        task.cancel()
        await Task.yield()
        #expect(places.waitingCount == 1)
        places.leave()
        #expect(await task.value)
        #expect(places.waitingCount == 0)
    }

    @Test("A semaphore doesn't admit a task that gave up, and the tasks behind it keep their order")
    func impatient() async throws {
        let places = TaskSemaphore(1)
        await places.enter()
        let order = Locked<[Int]>([])
        var tasks: [Task<Void, Never>] = []
        for number in 1...4 {
            let isPatient = number != 2
            tasks.append(
                Task {
                    let hasPlace = await places.enter(within: isPatient ? .seconds(600) : .milliseconds(100))
                    order.withLock { $0.append(hasPlace ? number : -number) }
                    if hasPlace { places.leave() }
                })
            try await eventually("\(number) tasks wait") {
                let hasGivenUp = order.withLock { $0 == [-2] }
                return places.waitingCount == (hasGivenUp ? number - 1 : number)
            }
        }
        await tasks[1].value
        #expect(order.withLock { $0 } == [-2] && places.waitingCount == 3)
        places.leave()
        for task in tasks { await task.value }
        #expect(order.withLock { $0 } == [-2, 1, 3, 4])
        // If there is a place at once, the patience doesn't matter.
        #expect(await places.enter(within: .zero))
        places.leave()
    }
}
