import FuzzSupport
import PushSender

@testable import SealedPush

/// The required result of opening a correctly sealed message: a second implementation of Specification 4.3 and 6.4,
/// and ContentParts 21.2.
struct Verdict {
    private let content: Content?
    private let isAnonymous: Bool
    private let now: Timestamp

    /// - Parameter time: selects when to open: at the usual time, or around a limit.
    init(on content: Content?, isAnonymous: Bool, time: Int) {
        self.content = content
        self.isAnonymous = isAnonymous
        let sent = [600, 601, 93_600, 93_601].map { content?.sent?.advanced(bySeconds: -$0) }
        let opened = [2_592_000, 2_592_001].map { content?.sent?.advanced(bySeconds: $0) }
        let expired = [600, 601].map { content?.expires?.advanced(bySeconds: $0) }
        let moments = [Parties.now] + (sent + opened + expired).map { $0 ?? Parties.now }
        now = moments[time % moments.count]
    }

    /// Returns the bytes without padding, if they are content.
    static func content(of plaintext: [UInt8]) -> Content? {
        var rest = plaintext
        while rest.last == 0 { rest.removeLast() }
        guard rest.popLast() == 0x80 else { return nil }
        return try? Content(opening: rest)
    }

    func check(_ envelope: Envelope, to recipient: DevicePublicKey = Parties.recipient) {
        do {
            let opened = try Parties.opener.open(envelope, at: now)
            demand(error == nil, "it opens, where \(error.map { "\($0)" } ?? "") is due")
            demand(opened.recipient == recipient, "another recipient")
            check(opened)
        } catch { demand(error == self.error, "\(error), where \(self.error.map { "\($0)" } ?? "opening") is due") }
    }

    private func check(_ opened: OpenedContent) {
        demand((opened.sender == nil) == isAnonymous, "the sender isn't the one that sealed")
        guard let content, let again = try? Content(opening: content.json) else { return }
        guard isAnonymous else {
            demand(opened.content.json == again.json, "the content isn't the sealed one")
            let (other, sealed) = (opened.content.other, content.other)
            demand(other.mapValues(\.normalized) == sealed.mapValues(\.normalized), "the values aren't the sealed ones")
            demand(opened.content.data?.normalized == content.data?.normalized, "the data isn't the sealed one")
            return
        }
        demand(opened.content.interruptionLevel != .critical, "an anonymous message is critical")
        demand(opened.content.interruptionLevel != .timeSensitive, "an anonymous message is time-sensitive")
        if case .critical? = opened.content.sound { fatalError("an anonymous message has a critical sound") }
        // The sealer may have cut the body, but never the title.
        demand(opened.content.alert.title == content.alert.title, "the title has changed")
    }

    private var error: OpenError? {
        guard let content, content.id != nil, let topic = content.topic, let sent = content.sent,
            !(isAnonymous && content.withdrawal != nil)
        else { return .malformedContent }
        if topic != Parties.topic { return .topic }
        let age = now.secondsSince1970 - sent.secondsSince1970
        if -age > (isAnonymous ? 600 : 93_600) { return .clock }
        if age > 2_592_000 { return .tooOld }
        if let expires = content.expires, now.secondsSince1970 > expires.secondsSince1970 + 600 { return .expired }
        return nil
    }
}

extension JSONValue {
    /// The value with whole numbers as integers, since 1.0 comes back as 1 after writing and reading.
    var normalized: JSONValue {
        switch self {
        case .number(let number): Int64(exactly: number).map(JSONValue.integer) ?? self
        case .array(let values): .array(values.map(\.normalized))
        case .object(let members): .object(members.mapValues(\.normalized))
        default: self
        }
    }
}
