import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@Suite("The sealer") struct SealerTests {
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let now = Timestamp.now()

    private func opener(allowsAnonymous: Bool = false, topic: Topic = "com.example.app") -> Opener {
        Opener(
            topic: topic, keys: InMemoryKeyStore([DeviceKey(phone, created: now)]), trusting: [sender.sender],
            allowsAnonymous: allowsAnonymous)
    }

    private func sealer(padding: PaddingPolicy = .buckets, fit: FitPolicy = .error) -> Sealer {
        Sealer(
            sender: sender, topic: "com.example.app", safeDefault: "You have a new message!", padding: padding, fit: fit
        )
    }

    /// Parses the payload as a receiver would: JSON, the field, the envelope.
    private func open(_ payload: SealedPayload, allowsAnonymous: Bool = false) throws -> OpenedContent {
        let object = try JSONSerialization.jsonObject(with: Data(payload.json)) as? [String: Any]
        let field = try #require(object?["custom-encrypted-message"] as? String)
        return try opener(allowsAnonymous: allowsAnonymous).open(try Envelope(parsing: field), at: .now())
    }

    @Test("content moved into a file has at most 65,536 bytes; the error tells by how much it is too long")
    func longestOverflow() throws {
        let url = URL(string: "https://files.example.com/a")!
        let tooLong = String(repeating: "x", count: 70_000)
        let error = #expect(throws: SealError.self) { try sealer().moveOverflow(of: Content(body: tooLong), at: url) }
        guard case .tooLarge(let excess)? = error else { throw try #require(error) }
        for (cut, isMoved) in [(excess - 1, false), (excess, true)] {
            let content = Content(body: String(tooLong.dropLast(cut)))
            #expect((try? sealer().moveOverflow(of: content, at: url) != nil) == (isMoved ? true : nil))
        }
    }

    @Test("content moved into a file keeps its person and group in the push, without what only the file has room for")
    func movedGroup() throws {
        var content = Content(title: "Nina", body: String(repeating: "x", count: 5_000))
        let picture = RemoteFile(
            url: URL(string: "https://files.example.com/p")!, byteCount: 9, hash: [UInt8](repeating: 0, count: 32),
            key: nil)
        content.attachments = [Content.Attachment(id: "a", file: picture, type: .png)]
        content.person = Content.Person(name: "Nina", id: "user-17", image: .attachment("a"))
        content.group = Content.Group(
            name: "Lunch club", image: .attachment("a"), recipients: [.init(name: "Ole", id: "user-18")], count: 3)
        let url = URL(string: "https://files.example.com/a")!
        let moved = try #require(try sealer().moveOverflow(of: content, at: url))
        #expect(moved.content.person == Content.Person(name: "Nina", id: "user-17"))
        #expect(moved.content.group == Content.Group(name: "Lunch club", count: 3))
    }

    @Test("sealed content opens, with id, topic, and sent filled in") func roundTrip() throws {
        let payload = try sealer().seal(Content(title: "Nina", body: "Lunch at one?"), toUnverified: phone.recipient)
        let opened = try open(payload)
        #expect(opened.content.alert == Content.Alert(title: "Nina", body: "Lunch at one?"))
        #expect(opened.id == payload.messageID)
        #expect(opened.topic == "com.example.app")
        #expect(abs(opened.sent.seconds(since: now)) < 60)
        #expect(opened.sender == sender.sender)
    }

    @Test(
        "content for a device that erases keys early gets an earlier expiry; a later or passed expiry is rejected",
        arguments: [1, 3, 30, 31])
    func keeps(days: Int) throws {
        let enrollment = EnrollmentPrivateKey()
        let record = try DeviceRecord(
            of: [phone.recipient], topic: "com.example.app", counter: 1, created: now,
            expires: now.advanced(bySeconds: 90 * 86_400), keeps: days, signedBy: enrollment)
        let device = try EnrolledDevice(loading: enrollment.enrollment, record: record, proven: [phone.recipient])
        let recipient = try device.recipient(at: now)
        var content = Content(body: "b")
        content.sent = now
        let last = now.advanced(bySeconds: Int64(days) * 86_400)
        let plain = try sealer().seal(content, to: recipient)
        #expect(plain.expires == (days < 30 ? last : nil))
        #expect(try open(plain).content.expires == plain.expires)
        content.expires = last.advanced(bySeconds: 3_600)
        #expect(try sealer().seal(content, to: recipient).expires == content.expires)
        content.expires = last.advanced(bySeconds: 3_601)
        #expect(throws: SealError.expiresTooLate(days: days)) { try sealer().seal(content, to: recipient) }
        if days < 30 {
            // The expiry to fill in must not have passed. The caller's own expiry is checked where the content is read.
            content.expires = nil
            content.sent = now.advanced(bySeconds: 60 - Int64(days) * 86_400)
            #expect(try sealer().seal(content, to: recipient).expires == now.advanced(bySeconds: 60))
            content.sent = now.advanced(bySeconds: -1 - Int64(days) * 86_400)
            #expect(throws: SealError.expiresTooLate(days: days)) { try sealer().seal(content, to: recipient) }
            #expect(throws: SealError.expiresTooLate(days: days)) { try sealer().prepare(content, keeping: days) }
            content.expires = now
            #expect(try sealer().seal(content, to: recipient).expires == now)
            (content.sent, content.expires) = (now, last.advanced(bySeconds: 3_601))
        }
        // The days for which the device keeps such a key are unknown.
        #expect(try sealer().seal(content, toUnverified: phone.recipient).expires == content.expires)
        // Text that is moved into a file leaves room for the expiry.
        let text = Content(body: String(repeating: "x", count: 2_900))
        let url = URL(string: "https://files.example.com/a")!
        for count in 0..<40 {
            var content = text
            content.alert.body? += String(repeating: "x", count: count)
            let moved = try sealer().moveOverflow(of: content, at: url)
            #expect(throws: Never.self) { try sealer().seal(moved?.content ?? content, to: recipient) }
        }
    }

    @Test("a sealer that requires hybrid keys rejects others, individually and in a batch") func requiresHybrid()
        throws
    {
        let sealer = Sealer(sender: sender, topic: "com.example.app", safeDefault: "New", requiresHybrid: true)
        let content = Content(body: "b")
        #expect(throws: SealError.notHybrid) { try sealer.seal(content, toUnverified: phone.recipient) }
        let prepared = try sealer.prepare(content)
        #expect(throws: SealError.notHybrid) { try sealer.seal(prepared, forKey: phone.recipient) }
        let hybrid = DevicePrivateKey(.hybrid).recipient
        #expect(try sealer.seal(content, toUnverified: hybrid).envelope.suite.recipientKeys == .hybrid)
        #expect(try sealer.seal(prepared, forKey: hybrid).envelope.suite.recipientKeys == .hybrid)
    }

    @Test("the payload is exactly the clear part and the field") func clearPart() throws {
        let payload = try sealer().seal(
            Content(title: "secret title", body: "secret body"), toUnverified: phone.recipient)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(payload.json)) as? [String: Any])
        #expect(Set(object.keys) == ["aps", "custom-encrypted-message"])
        let aps = try #require(object["aps"] as? [String: Any])
        #expect(Set(aps.keys) == ["alert", "mutable-content"])
        #expect(aps["alert"] as? String == "You have a new message!")
        #expect(aps["mutable-content"] as? Int == 1)
        #expect(!String(decoding: payload.json, as: UTF8.self).contains("secret"))
    }

    @Test("a payload never exceeds 4,096 bytes and opens completely, for any content, policy, and suite")
    func anyContent() throws {
        var random = SeededGenerator()
        var openedCount = 0
        for _ in 0..<300 {
            let padding = PaddingPolicy.allCases.randomElement(using: &random) ?? .buckets
            let isAnonymous = Bool.random(using: &random)
            let sealer =
                isAnonymous
                ? Sealer(anonymousFor: "com.example.app", safeDefault: "New", padding: padding)
                : sealer(padding: padding)
            var content = Content(
                title: RandomText.make(pieceCount: .random(in: 0...20, using: &random), using: &random),
                body: "x" + RandomText.make(pieceCount: .random(in: 0...900, using: &random), using: &random))
            content.data = [
                "t": .string(RandomText.make(pieceCount: 5, using: &random)), "n": 1.5, "z": [.null, true],
            ]
            do {
                let payload = try sealer.seal(content, toUnverified: phone.recipient)
                #expect(payload.json.count <= 4_096)
                let opened = try open(payload, allowsAnonymous: true)
                #expect(opened.content.alert == content.alert)
                #expect(opened.content.data == content.data)
                openedCount += 1
            } catch SealError.tooLarge(let over) {
                #expect(over > 0)
            }
        }
        #expect(openedCount > 50)
    }

    @Test(
        "the plan is exact: content of its size fits, and one more byte is rejected as one byte over",
        arguments: PaddingPolicy.allCases)
    func exactPlan(padding: PaddingPolicy) throws {
        for isAnonymous in [false, true] {
            let sealer =
                isAnonymous
                ? Sealer(anonymousFor: "com.example.app", safeDefault: "N\u{e9}w", padding: padding)
                : sealer(padding: padding)
            var content = Content(body: "")
            content.id = .random()
            content.topic = "com.example.app"
            content.sent = now
            let room = sealer.sizePlan.maximumContentByteCount - content.json.count
            content.alert.body = String(repeating: "b", count: room)
            #expect(content.json.count == sealer.sizePlan.maximumContentByteCount)
            let payload = try sealer.seal(content, toUnverified: phone.recipient)
            #expect(payload.json.count <= 4_096)
            // Base64url works in groups, so less than a whole byte of plaintext is left over.
            #expect(4_096 - payload.json.count < 2)
            #expect(try open(payload, allowsAnonymous: true).content.alert == content.alert)
            for over in [1, 2, 17, 5_000] {
                content.alert.body = String(repeating: "b", count: room + over)
                #expect(throws: SealError.tooLarge(byteCountOver: over)) {
                    try sealer.seal(content, toUnverified: phone.recipient)
                }
            }
        }
    }

    @Test("buckets are 256, 512, 1,024, 2,048, and the maximum; other policies are one byte or the maximum")
    func paddedSizes() {
        let plan = sealer().sizePlan
        #expect(plan.maximumPlaintextByteCount == 2_933)
        #expect(plan.plaintextByteCount(forContent: 1) == 256)
        #expect(plan.plaintextByteCount(forContent: 255) == 256)
        #expect(plan.plaintextByteCount(forContent: 256) == 512)
        #expect(plan.plaintextByteCount(forContent: 2_047) == 2_048)
        #expect(plan.plaintextByteCount(forContent: 2_048) == 2_933)
        #expect(plan.plaintextByteCount(forContent: 2_932) == 2_933)
        #expect(plan.plaintextByteCount(forContent: 2_933) == nil)
        #expect(sealer(padding: .none).sizePlan.plaintextByteCount(forContent: 100) == 101)
        #expect(sealer(padding: .full).sizePlan.plaintextByteCount(forContent: 100) == 2_933)
    }

    @Test("a body that is too long is cut between two graphemes, and as much as fits is kept")
    func truncation() throws {
        var random = SeededGenerator()
        let sealer = sealer(fit: .truncate)
        for _ in 0..<100 {
            let body = "x" + RandomText.make(pieceCount: .random(in: 300...2_500, using: &random), using: &random)
            var content = Content(title: "t", body: body)
            content.id = .random()
            content.sent = now
            let opened = try open(try sealer.seal(content, toUnverified: phone.recipient)).content
            let shown = try #require(opened.alert.body)
            if shown == body { continue }
            #expect(shown.hasSuffix("…"))
            let kept = shown.dropLast()
            #expect(body.hasPrefix(kept))
            #expect(Array(body).starts(with: Array(kept)))
            // The next grapheme wouldn't have fit.
            var longer = opened
            longer.alert.body = String(Array(body).prefix(kept.count + 1)) + "…"
            #expect(longer.json.count > sealer.sizePlan.maximumContentByteCount)
        }
    }

    @Test("content that doesn't fit even with a cut body is rejected with the number of excess bytes")
    func truncationHasLimits() throws {
        let sealer = sealer(fit: .truncate)
        let title = String(repeating: "t", count: 4_000)
        #expect(throws: SealError.self) {
            try sealer.seal(Content(title: title, body: "b"), toUnverified: phone.recipient)
        }
        let giant = "a" + String(repeating: "\u{301}", count: 3_000)
        #expect(throws: SealError.self) { try sealer.seal(Content(body: giant), toUnverified: phone.recipient) }
    }

    @Test("content that every receiver would reject is not sealed") func badContent() throws {
        let sealer = sealer()
        #expect(throws: SealError.content(.noVisibleText)) {
            try sealer.seal(Content(title: " \u{200b}\n"), toUnverified: phone.recipient)
        }
        var content = Content(body: "b", data: .number(.infinity))
        #expect(throws: SealError.content(.invalid("data"))) { try sealer.seal(content, toUnverified: phone.recipient) }
        content = Content(body: "b")
        content.other = ["alert": "a second alert"]
        #expect(throws: SealError.content(.invalid("alert"))) {
            try sealer.seal(content, toUnverified: phone.recipient)
        }
        content = Content(body: "b")
        content.topic = "com.example.other"
        #expect(throws: SealError.otherTopic) { try sealer.seal(content, toUnverified: phone.recipient) }
        content = Content(body: "b")
        content.badge = -1
        #expect(throws: SealError.content(.invalid("badge"))) {
            try sealer.seal(content, toUnverified: phone.recipient)
        }
    }

    @Test("the clear identifiers repeat for the same message and device only")
    func identifiers() throws {
        let sealer = sealer()
        var content = Content(body: "b")
        content.id = .random()
        let first = try sealer.seal(content, toUnverified: phone.recipient)
        let retry = try sealer.seal(content, toUnverified: phone.recipient)
        #expect(first.collapseID == retry.collapseID)
        #expect(first.apnsID == retry.apnsID)
        #expect(first.envelope != retry.envelope)
        let other = try sealer.seal(content, toUnverified: DevicePrivateKey().recipient)
        #expect(other.collapseID != first.collapseID)
        #expect(other.apnsID != first.apnsID)

        content.collapseID = "score"
        let score = try sealer.seal(content, toUnverified: phone.recipient)
        content.id = .random()
        let nextScore = try sealer.seal(content, toUnverified: phone.recipient)
        #expect(score.collapseID == nextScore.collapseID)
        #expect(score.apnsID != nextScore.apnsID)
        #expect(score.collapseID.utf8.count == 22)
        #expect(score.apnsID.dropFirst(14).first == "8")
        #expect(MessageID(parsing: score.apnsID) != nil)
    }

    @Test("the Encodable encoding has the same JSON, even if a library overwrites aps afterward")
    func encodable() throws {
        let payload = try sealer().seal(Content(body: "b"), toUnverified: phone.recipient)
        let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(payload)) as? NSDictionary
        let own = try JSONSerialization.jsonObject(with: Data(payload.json)) as? NSDictionary
        #expect(encoded == own)

        /// Like a library that encodes the payload first and its own `aps` second.
        struct Notification: Encodable {
            let payload: SealedPayload
            enum CodingKeys: CodingKey { case aps }
            func encode(to encoder: any Encoder) throws {
                try payload.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(["mutable-content": 1], forKey: .aps)
            }
        }
        let merged = try JSONEncoder().encode(Notification(payload: payload))
        let object = try #require(try JSONSerialization.jsonObject(with: merged) as? [String: Any])
        #expect(object["custom-encrypted-message"] as? String == payload.envelope.text)
        #expect((object["aps"] as? [String: Any])?.keys.sorted() == ["mutable-content"])
    }

    @Test("a clear alert without visible text, or too long, is rejected") func wireAlerts() throws {
        #expect(throws: WireAlertError.nothingVisible) { try WireAlert(text: " \n\u{200d}") }
        for blank: WireAlert.Text in [
            .plain(""), .plain("\u{fffc}"), .localized(key: " "), .localized(key: "K", arguments: ["a", ""]),
        ] {
            #expect(throws: WireAlertError.nothingVisible) { try WireAlert(body: blank) }
            #expect(throws: WireAlertError.nothingVisible) { try WireAlert(subtitle: blank, body: .plain("b")) }
            #expect(throws: WireAlertError.nothingVisible) { try WireAlert(title: blank, body: .plain("b")) }
        }
        #expect(throws: WireAlertError.self) { try WireAlert(text: String(repeating: "a", count: 1_023)) }
        _ = try WireAlert(text: String(repeating: "a", count: 1_022))
        let localized = try WireAlert(
            title: .plain("News"), body: .localized(key: "NEW_MESSAGE", arguments: ["Example"]))
        let sealer = Sealer(sender: sender, topic: "com.example.app", safeDefault: localized)
        let payload = try sealer.seal(Content(body: "b"), toUnverified: phone.recipient)
        let object = try JSONSerialization.jsonObject(with: Data(payload.json)) as? [String: Any]
        let alert = (object?["aps"] as? [String: Any])?["alert"] as? [String: Any]
        #expect(alert?["loc-key"] as? String == "NEW_MESSAGE")
        #expect(alert?["loc-args"] as? [String] == ["Example"])
        #expect(alert?["title"] as? String == "News")
    }

    @Test("an invalid literal stops the program with an error message") func literals() async {
        await #expect(processExitsWith: .failure) { _ = "" as WireAlert }
        await #expect(processExitsWith: .failure) { _ = "not a topic" as Topic }
        await #expect(processExitsWith: .failure) { _ = "pushsender1wrong" as SenderPublicKey }
    }
}
