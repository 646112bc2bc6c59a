import Foundation
import TestSupport
import Testing

@testable import PushSimulator

@Suite("The times and answers of requests") struct OutstandingRequestsTests {
    private let start = ContinuousClock.now

    private func requests() -> OutstandingRequests { OutstandingRequests(processStart: start, timeLimit: .seconds(30)) }

    private func answer(_ number: Int, call: Int = 1, body: String = "b") -> ExtensionReport {
        let content = ShownNotification(WireNotification(["aps": ["alert": body]]).content)
        return .answer(number: number, content: content, callNumber: call, memoryByteCount: 7)
    }

    @Test("the first request's time starts with the process, a later one's with its call") func deadlines() {
        var requests = requests()
        _ = requests.add("first", ExtensionTicket(), at: start + .seconds(4))
        #expect(requests.advance(to: start + .milliseconds(29_999)) == .init())
        #expect(requests.advance(to: start + .seconds(30)) == .init(expires: true))
        // It's told only once.
        #expect(requests.advance(to: start + .milliseconds(30_001)) == .init())
        requests.receive(answer(1), at: start + .milliseconds(30_500))
        requests.receive(.settled(number: 1), at: start + .milliseconds(30_500))
        #expect(requests.isEmpty)
        _ = requests.add("second", ExtensionTicket(), at: start + .seconds(40))
        #expect(requests.advance(to: start + .milliseconds(69_999)) == .init())
        #expect(requests.advance(to: start + .seconds(70)) == .init(expires: true))
    }

    @Test(
        "if a request isn't answered after the warning, the whole process is killed, and a late call is ignored"
    )
    func killing() {
        var requests = requests()
        let (late, other) = (ExtensionTicket(), ExtensionTicket())
        _ = requests.add("late", late, at: start)
        _ = requests.add("other", other, at: start + .seconds(10))
        #expect(requests.advance(to: start + .seconds(30)) == .init(expires: true))
        #expect(requests.advance(to: start + .milliseconds(30_999)) == .init())
        #expect(requests.advance(to: start + .seconds(31)) == .init(kills: true))
        requests.finishAll(.killed("why"), at: start + .seconds(31))
        #expect(late.result?.ending == .timedOut)
        #expect(late.result?.elapsed == .seconds(31))
        #expect(other.result?.ending == .killed("why"))
        requests.receive(answer(1), at: start + .seconds(32))
        #expect(requests.lateRemarks == ["the extension called the handler of late after its time was up (ignored)"])
    }

    @Test("a second call causes a remark and is otherwise ignored, before and after its request has finished")
    func secondCall() throws {
        var requests = requests()
        let ticket = ExtensionTicket()
        _ = requests.add("a", ticket, at: start)
        requests.receive(answer(1), at: start + .seconds(1))
        requests.receive(answer(1, call: 2, body: "other"), at: start + .seconds(1))
        requests.receive(.settled(number: 1), at: start + .seconds(2))
        requests.receive(answer(1, call: 3, body: "third"), at: start + .seconds(3))
        let result = try #require(ticket.result)
        #expect(result.body == "b")
        #expect(result.elapsed == .seconds(1))
        #expect(result.remarks == ["the extension called its handler a second time (ignored)"])
        #expect(requests.lateRemarks == ["the extension called the handler of a a second time (ignored)"])
    }

    @Test("cleanup is waited for briefly if there is one request, and not at all if there are more") func settling() {
        var requests = requests()
        let alone = ExtensionTicket()
        _ = requests.add("alone", alone, at: start)
        requests.receive(answer(1), at: start)
        #expect(!requests.isEmpty)
        _ = requests.advance(to: start + .milliseconds(499))
        #expect(!requests.isEmpty)
        _ = requests.advance(to: start + .milliseconds(500))
        #expect(requests.isEmpty)
        #expect(alone.result?.elapsed == .zero)
        let one = ExtensionTicket()
        _ = requests.add("one", one, at: start)
        _ = requests.add("two", ExtensionTicket(), at: start)
        requests.receive(answer(2), at: start)
        #expect(one.result?.body == "b")
    }

    @Test("an answer to an unknown request has no effect, and answers survive the process's exit")
    func strangers() {
        var requests = requests()
        let ticket = ExtensionTicket()
        _ = requests.add("a", ticket, at: start)
        requests.receive(answer(9), at: start)
        requests.receive(.settled(number: 1), at: start)
        #expect(!requests.isEmpty)
        requests.receive(answer(1), at: start)
        requests.finishAll(.ended("signal 6"), at: start + .seconds(1))
        #expect(ticket.result?.body == "b")
        #expect(requests.lateRemarks.isEmpty)
    }
}
