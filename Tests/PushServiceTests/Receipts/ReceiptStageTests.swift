import Dispatch
import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("The receipt stage") struct ReceiptStageTests {
    private let fixture: Fixture
    private let server: PostServer
    private var queue: ReceiptQueue { ReceiptQueue(in: fixture.root) }

    init() throws {
        fixture = try Fixture()
        server = try PostServer()
    }

    private func sealer(_ url: String? = nil) -> Sealer {
        Sealer(
            sender: fixture.sender, topic: Fixture.topic, safeDefault: "wire default",
            receipts: ReceiptAddress(parsing: url ?? server.url))
    }

    private func field(_ url: String? = nil, _ content: Content = Content(body: "Hello")) throws -> String {
        try sealer(url).seal(content, toUnverified: fixture.phone.recipient).envelope.text
    }

    @discardableResult private func show(
        _ field: String, identifier: String = UUID().uuidString, stage: ReceiptStage = ReceiptStage(hosts: []),
        environment: DeviceEnvironment? = nil
    ) async -> UNNotificationContent {
        await fixture.show(field, identifier: identifier, stages: [stage], environment: environment)
    }

    /// Posts waiting receipts, as the app does.
    private func post(_ stage: ReceiptStage, _ environment: DeviceEnvironment) async {
        await stage.postWaiting(in: .folder(fixture.folder.url), environment: environment)
    }

    /// Without the simulator, loopback is a host like any other.
    private var device: DeviceEnvironment { fixture.environment(SessionFetching()) }

    private func receipts() throws -> [ShownReceipt] {
        let receiver = ReceiptReceiver(keys: [ReceiptKey(of: fixture.sender, for: Fixture.topic)])
        return try server.bodies.map { try receiver.receive($0, at: .now()) }
    }

    @Test("The stage reports that a message was shown, and by reason how many before it didn't open")
    func posted() async throws {
        for _ in 0..<3 { await show("garbage") }
        let stranger = Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "x")
        await show(try stranger.seal(Content(body: "x"), toUnverified: fixture.phone.recipient).envelope.text)
        #expect(server.bodies.isEmpty)
        let start = ContinuousClock.now
        #expect(await show(try field()).body == "Hello")
        let whole = ContinuousClock.now - start
        let receipt = try #require(try receipts().first)
        #expect(receipt.failures == [.malformed: 3, .unknownSender: 1])
        #expect(receipt.id == ReceiptKey(of: fixture.sender, for: Fixture.topic).id(of: fixture.phone.recipient))
        #expect(receipt.elapsed > .zero && receipt.elapsed <= whole)
        await show(try field())
        #expect(try receipts().map { $0.failures.isEmpty } == [false, true])
        #expect(queue.waiting().isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: queue.folder.path)
        #expect(names.isEmpty, "\(names)")
    }

    @Test("The stage posts only to the app's own hosts, and on a device never without TLS") func hosts() async throws {
        let stage = ReceiptStage(hosts: ["push.example.com"])
        for url in ["https://elsewhere.example/r", "https://push.example.com.evil.example/", "https://10.0.0.1/"] {
            await show(try field(url), stage: stage)
            #expect(queue.waiting().isEmpty, "\(url)")
        }
        await show(try field(), stage: ReceiptStage(hosts: ["127.0.0.1"]), environment: device)
        #expect(queue.waiting().isEmpty)
        #expect(server.heads.isEmpty)
    }

    @Test("The stage drops a waiting receipt for a host that is no longer the app's") func hostOfOld() async throws {
        server.behave(.answers(500))
        await show(try field())
        #expect(queue.waiting().count == 1)
        server.behave(.answers(204))
        await post(ReceiptStage(hosts: ["push.example.com"]), device)
        #expect(queue.waiting().isEmpty)
        #expect(server.heads.count == 1)
    }

    @Test("The stage only counts failures while no message asks for receipts") func noRequest() async throws {
        await show("garbage")
        await show(try fixture.seal())
        #expect(server.heads.isEmpty)
        #expect(queue.waiting().isEmpty)
        await show(try field())
        #expect(try receipts().map { $0.failures } == [[.malformed: 1]])
    }

    @Test("The stage counts a message once, however often the extension is called") func repeated() async throws {
        let field = try field()
        await show("garbage")
        for _ in 0..<3 { #expect(await show(field, identifier: "same").body == "Hello") }
        let receipts = try receipts()
        #expect(Set(receipts.map { $0.number }).count == 1)
        #expect(receipts.map { $0.failures } == [[.malformed: 1], [:], [:]])
        // Under another identifier, it's a replay: a failure that isn't shown.
        await show(field, identifier: "other")
        await show(try self.field())
        #expect(try self.receipts().last?.failures == [.replayed: 1])
    }

    @Test(
        "The stage keeps a receipt if the server fails, and posts it with the next notification",
        arguments: [500, 503, 429, 408, 301, 999])
    func failing(status: Int) async throws {
        server.behave(.answers(status))
        #expect(await show(try field()).body == "Hello")
        #expect(queue.waiting().count == 1)
        server.behave(.answers(204))
        await show(try field())
        #expect(queue.waiting().isEmpty)
        let receipts = try receipts()
        #expect(receipts.count == 3)
        #expect(Set(receipts.map { $0.number }).count == 2)
    }

    @Test("The stage drops a receipt that was permanently refused", arguments: [400, 403, 404, 410, 413])
    func refused(status: Int) async throws {
        server.behave(.answers(status))
        await show(try field())
        // On a busy machine, a post can time out, which keeps the receipt for the next message.
        for _ in 0..<5 where !queue.waiting().isEmpty { await show(try field()) }
        #expect(queue.waiting().isEmpty)
    }

    @Test("The stage keeps a receipt if the server closes or redirects, and uses the status, whatever follows it")
    func misbehaving() async throws {
        server.behave(.closes)
        await show(try field())
        #expect(queue.waiting().count == 1)
        server.behave(.redirects)
        await show(try field())
        #expect(queue.waiting().count == 2)
        #expect(server.heads.allSatisfy { $0.hasPrefix("POST /r ") })
        server.behave(.floods)
        await show(try field())
        #expect(queue.waiting().isEmpty)
    }

    @Test("Without a server, the stage keeps receipts, and tries an address once per run") func nobody() async throws {
        // No server listens there, in this test or any other.
        let nobody = "http://127.0.0.1:1/r"
        await show(try field(nobody))
        await show(try field(nobody))
        #expect(queue.waiting().count == 2)
        // Receipts for other servers are still posted.
        await show(try field())
        #expect(try receipts().count == 1)
        #expect(queue.waiting().count == 2)
    }

    @Test("A hanging server delays nothing, because the handler was called before") func hanging() async throws {
        server.behave(.hangs)
        let service = TestedService(fixture.configuration(stages: [ReceiptStage(hosts: [])]))
        service.environment = fixture.environment()
        // The notification was shown, although the server never answers.
        #expect(await receive(Fixture.request(field: try field()), service).body == "Hello")
        try await eventually("the server is asked") { !server.heads.isEmpty }
        #expect(queue.waiting().count == 1)
    }

    @Test("The stage posts before the notification is shown if the app wants that, once, and for two seconds at most")
    func first() async throws {
        let stage = ReceiptStage(hosts: [], postsFirst: true)
        let service = TestedService(fixture.configuration(stages: [stage]))
        service.environment = fixture.environment()
        let field = try field()
        let server = server
        let postedBefore: Int = await withCheckedContinuation { continuation in
            service.didReceive(Fixture.request(field: field)) { _ in
                continuation.resume(returning: server.bodies.count)
            }
        }
        await service.tidied()
        #expect(postedBefore == 1)
        #expect(server.bodies.count == 1 && queue.waiting().isEmpty)

        server.behave(.hangs)
        #expect(await receive(Fixture.request(field: try self.field()), service).body == "Hello")
        #expect(queue.waiting().count == 1)
        #expect(fixture.log.contains { $0.failure == "late" })
    }

    @Test("The stage still posts if the system says at once that it won't wait") func refusedActivity() async throws {
        var environment = fixture.environment()
        environment.activity = { $0(true) }
        #expect(await show(try field(), environment: environment).body == "Hello")
        #expect(server.bodies.count == 1 && queue.waiting().isEmpty)
    }

    @Test("The stage has the system keep the process until the receipts are posted, and stops when it won't")
    func activity() async throws {
        for isExpired in [false, true] {
            let server = try PostServer()
            let calls = Collected<Bool>()
            let isHeld = DispatchSemaphore(value: 0)
            var environment = fixture.environment()
            environment.activity = { work in
                DispatchQueue(label: "activity").async {
                    calls.add(false)
                    work(false)
                    isHeld.signal()
                }
                guard isExpired else { return }
                DispatchQueue(label: "expiry").async {
                    while server.heads.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
                    work(true)
                }
            }
            server.behave(isExpired ? .hangs : .answers(204))
            #expect(await show(try field(server.url), environment: environment).body == "Hello")
            // The block returns once the work is done or has been stopped.
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "held").async {
                    isHeld.wait()
                    continuation.resume()
                }
            }
            #expect(calls.all == [false])
            #expect(queue.waiting().count == (isExpired ? 1 : 0))
        }
    }

    @Test("The stage waits for a random time if the app wants that, and then posts with a later notification")
    func delayed() async throws {
        let stage = ReceiptStage(hosts: [], maximumDelay: .seconds(86_400))
        await show(try field(), stage: stage)
        try #require(queue.waiting().count == 1, "a chance of 1 in 8,640")
        #expect(server.heads.isEmpty)
        await post(stage, fixture.environment(now: { .now().advanced(bySeconds: 86_400) }))
        #expect(try receipts().count == 1)
        #expect(queue.waiting().isEmpty)
    }

    @Test("The stage drops a receipt that wasn't accepted for a week") func old() async throws {
        server.behave(.answers(500))
        await show(try field())
        server.behave(.answers(204))
        await post(ReceiptStage(hosts: []), fixture.environment(now: { .now().advanced(bySeconds: 7 * 86_400 + 60) }))
        #expect(queue.waiting().isEmpty)
        #expect(server.heads.count == 1)
    }
}
