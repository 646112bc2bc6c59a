import Dispatch
import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("The limits that the notifications of one process share") struct WorkBudgetTests {
    @Test("No work begins while memory is short, and all continues once there is some") func memory() async throws {
        let (available, checkCount) = (Locked<Int?>(0), Locked(0))
        let budget = WorkBudget {
            checkCount.withLock { $0 += 1 }
            return available.withLock { $0 }
        }
        let done = Collected<Int>()
        let tasks = (0..<4).map { number in Task { try await budget.files.run { done.add(number) } } }
        try await eventually("all wait") { budget.files.waitingCount == 4 }
        available.withLock { $0 = 1 << 20 }
        let before = checkCount.withLock { $0 }
        try await eventually("it has checked again") { checkCount.withLock { $0 } > before + 3 }
        #expect(done.all.isEmpty)
        available.withLock { $0 = 64 << 20 }
        for task in tasks { try await task.value }
        #expect(done.all.count == 4)
    }

    @Test("The less memory, the fewer transfers: 6 if it's unknown, 2 if 2 MB are left")
    func fewer() async throws {
        for (available, expected) in [(nil, 6), (24 << 20, 6), (2 << 20, 2), (1_500 << 10, 1)] as [(Int?, Int)] {
            let budget = WorkBudget { available }
            let held = Held()
            let tasks = (0..<9).map { _ in Task { try await budget.files.run { await held.wait() } } }
            try await eventually("the others wait") { budget.files.waitingCount == 9 - expected }
            held.release()
            for task in tasks { try await task.value }
        }
    }

    @Test("Different kinds of work share the memory, and a text waits for none of it") func kinds() async throws {
        let budget = WorkBudget { 2 << 20 }
        let (files, texts) = (Held(), Held())
        let first = (0..<2).map { _ in Task { try await budget.files.run { await files.wait() } } }
        try await eventually("two files have their turns") { files.waiterCount == 2 }
        let others = [
            Task { try await budget.receipts.run {} }, Task { try await budget.largeWork.run {} },
            Task { try await budget.files.run {} },
        ]
        try await eventually("the others wait") {
            budget.receipts.waitingCount + budget.largeWork.waitingCount + budget.files.waitingCount == 3
        }
        let overflows = (0..<2).map { _ in Task { try await budget.overflows.run { await texts.wait() } } }
        try await eventually("both texts have their turns") { texts.waiterCount == 2 }
        #expect(budget.receipts.waitingCount == 1 && budget.largeWork.waitingCount == 1)
        files.release()
        texts.release()
        for task in first + overflows + others { try await task.value }
    }
}

@Suite("Lookups of names") struct LookUpTests {
    @Test("A lookup that hangs is abandoned with its task, and the number of threads is limited")
    func hanging() async throws {
        let lookUps = LookUps()
        let gate = DispatchSemaphore(value: 0)
        let tasks = (0..<LookUps.maximumCount).map { _ in
            Task { try await lookUps.run { () throws(MediaError) in gate.wait() } }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: MediaError.network) { try await task.value } }
        await #expect(throws: MediaError.network) { try await lookUps.run { () throws(MediaError) in } }
        for _ in tasks { gate.signal() }
        try await eventually("there is room again") { (try? await lookUps.run { () throws(MediaError) in }) != nil }
    }

    @Test("A lookup ends with the result of its work") func answers() async throws {
        await #expect(throws: MediaError.addressRefused) {
            try await LookUps().run { () throws(MediaError) in throw .addressRefused }
        }
    }

    @Test("Each address of a name is checked, and a name without an address isn't contacted")
    func names() async throws {
        let asked = Collected<IPAddress>()
        // Every machine's hosts file has this name.
        _ = try await LookUps().check(.name("localhost")) { asked.add($0) }
        #expect(!asked.all.isEmpty && asked.all.allSatisfy { $0.isLoopback })
        let address = try #require(IPAddress(text: "10.0.0.1"))
        for host in [NetworkHost.name("localhost"), .address(address)] {
            await #expect(throws: MediaError.addressRefused) {
                _ = try await LookUps().check(host) { (_) throws(MediaError) in throw .addressRefused }
            }
        }
        await #expect(throws: MediaError.network) { _ = try await LookUps().check(.name("nobody.invalid")) { _ in } }
    }

    /// 192.0.0.170 and 10.0.0.1 behind a prefix of each possible length (RFC 6052, 2.2).
    @Test(
        "An address made by a NAT64 counts as its IPv4 address, whatever the prefix",
        arguments: [
            ("fd00:db8:c000:aa::", "fd00:db8:101:101::", "fd00:db8:a00:1::"),
            ("fd00:db8:1c0:0:aa::", "fd00:db8:101:101:1::", "fd00:db8:10a:0:1::"),
            ("fd00:db8:122:c000:0:aa00::", "fd00:db8:122:101:1:100::", "fd00:db8:122:a00:0:100::"),
            ("fd00:db8:122:3c0:0:aa::", "fd00:db8:122:301:1:101::", "fd00:db8:122:30a:0:1::"),
            ("fd00:db8:122:344:c0:0:aa00::", "fd00:db8:122:344:1:101:100::", "fd00:db8:122:344:a:0:100::"),
            ("fd00:db8:122:344::c000:aa", "fd00:db8:122:344::101:101", "fd00:db8:122:344::a00:1"),
            // A company's own prefix, which looks like any other address.
            ("2607:db8:122:344::c000:aa", "2607:db8:122:344::101:101", "2607:db8:122:344::a00:1"),
        ])
    func translated(known: String, open: String, hidden: String) async throws {
        let addresses = { @Sendable (name: String) -> [IPAddress] in
            let texts = [
                NAT64.wellKnownName: [known], "open.example": ["1.1.1.1", open], "hidden.example": [hidden],
                "local.example": ["fd00:aaaa::1"],
            ]
            return (texts[name] ?? []).compactMap(IPAddress.init(text:))
        }
        let mayConnect = { @Sendable (address: IPAddress) throws(MediaError) in
            try SessionFetching().check(.address(address), reaching: .internet)
        }
        let network = try await LookUps(addresses).check(.name("open.example"), mayConnect)
        #expect(network.original(of: try #require(IPAddress(text: open))) == IPAddress(text: "1.1.1.1"))
        for name in ["hidden.example", "local.example"] {
            await #expect(throws: MediaError.addressRefused) {
                _ = try await LookUps(addresses).check(.name(name), mayConnect)
            }
        }
        guard known.hasPrefix("fd") else { return }
        // On a network without a NAT64, such an address is a local one.
        await #expect(throws: MediaError.addressRefused) {
            _ = try await LookUps { $0 == NAT64.wellKnownName ? [] : addresses($0) }
                .check(.name("open.example"), mayConnect)
        }
    }
}
