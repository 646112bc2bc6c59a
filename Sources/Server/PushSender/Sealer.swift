internal import PushCore
public import SealedPush
// `Content`, `DevicePublicKey` and `Topic` are half of this module's interface: one import brings both halves.
@_exported public import SealedPush

/// Seals messages of one sender for one app: content in, a payload of at most 4,096 bytes out.
///
/// Keep one for as long as the server runs: it keeps an HPKE context for each recipient it has seen, so that a further
/// message costs a few microseconds in place of about 120 (see ``ContextLimits``). Safe from many threads at once.
/// Nothing of the content ever goes into the clear part, and there is no way to get a payload that is not sealed.
public final class Sealer: Sendable {
    /// How much fits into one push to a device whose key is not hybrid.
    public var sizePlan: SizePlan { plans[0] }
    /// One for each suite.
    private let plans: [SizePlan]
    /// The app that it seals for.
    public let topic: Topic
    private let safeDefault: WireAlert
    private let fit: FitPolicy
    /// Whether it seals to hybrid keys alone.
    package let requiresHybrid: Bool
    /// Nil where messages prove nobody.
    private let contexts: ContextCache?
    private let identifiers: ClearIdentifiers
    private let clearPrefix: [UInt8]
    private let receipts: (key: ReceiptKey, address: ReceiptAddress)?

    /// A sealer whose messages prove who sealed them.
    ///
    /// - Parameters:
    ///   - sender: the server's key, whose public half the app trusts.
    ///   - topic: the app's bundle ID.
    ///   - safeDefault: what travels in the clear, and what iOS shows where the extension could not run.
    ///   - padding: how much an observer learns about lengths.
    ///   - fit: what happens to content that does not fit.
    ///   - contexts: how long contexts are used and how many are held.
    ///   - receipts: where devices post that they have shown a message; nil for no receipts. Takes about 110 bytes of each
    ///     push, and those of the address.
    ///   - requiresHybrid: whether it refuses keys that are not hybrid, which an old backup may bring back:
    ///     Docs/KeyManagement.md, 6.
    public convenience init(
        sender: SenderPrivateKey, topic: Topic, safeDefault: WireAlert, padding: PaddingPolicy = .buckets,
        fit: FitPolicy = .error, contexts: ContextLimits = ContextLimits(), receipts: ReceiptAddress? = nil,
        requiresHybrid: Bool = false
    ) {
        self.init(
            contexts: ContextCache(sender: sender, topic: topic, limits: contexts),
            identifiers: ClearIdentifiers(sender: sender, topic: topic), topic: topic, safeDefault: safeDefault,
            padding: padding, fit: fit, receipts: receipts.map { (ReceiptKey(of: sender, for: topic), $0) },
            requiresHybrid: requiresHybrid)
    }

    /// A sealer whose messages prove nothing about who sealed them; devices refuse them unless their app allows it.
    public convenience init(
        anonymousFor topic: Topic, safeDefault: WireAlert, padding: PaddingPolicy = .buckets, fit: FitPolicy = .error
    ) {
        self.init(
            contexts: nil, identifiers: ClearIdentifiers(), topic: topic, safeDefault: safeDefault, padding: padding,
            fit: fit, receipts: nil, requiresHybrid: false)
    }

    /// Whose messages it seals; nil where they prove nobody.
    package var sender: SenderPublicKey? { contexts?.publicKey }
    /// The same as text.
    package let senderText: String?

    private init(
        contexts: ContextCache?, identifiers: consuming ClearIdentifiers, topic: Topic, safeDefault: WireAlert,
        padding: PaddingPolicy, fit: FitPolicy, receipts: (key: ReceiptKey, address: ReceiptAddress)?,
        requiresHybrid: Bool
    ) {
        self.contexts = contexts
        senderText = contexts?.publicKey.description
        self.identifiers = identifiers
        self.topic = topic
        self.safeDefault = safeDefault
        self.fit = fit
        self.receipts = receipts
        self.requiresHybrid = requiresHybrid
        clearPrefix = Self.clearPrefix(safeDefault)
        let clearByteCount = clearPrefix.count + Self.clearSuffix.count
        plans = Envelope.Suite.all(from: contexts?.publicKey).map { suite in
            SizePlan(clearByteCount: clearByteCount, suite: suite, padding: padding)
        }
    }

    /// Seals content for one device, whose key somebody vouches for: ``EnrolledDevice/recipient(at:)``.
    ///
    /// `id`, `topic` and `sent` are filled in if the content has none; `expires`, too, if the device keeps retired keys for
    /// less than 30 days. About 5 µs for a recipient already seen, 120 µs for a new one.
    ///
    /// - Parameter reserve: how many of the 4,096 bytes are left free, 0 to ``maximumReserve``: for a client that encodes the
    ///   payload again, with spaces, say.
    /// - Throws: ``SealError``; nothing is then sealed.
    public func seal(
        _ content: Content, to recipient: VerifiedRecipient, reserve: Int = 0
    ) throws(SealError) -> SealedPayload {
        try seal(content, to: recipient.recipient, keeping: recipient.keeps, reserve: reserve)
    }

    /// Seals content for a key that nobody vouches for: whoever put it into the server's list reads the message.
    ///
    /// For devices without signed records, where the app's login alone guards that list. Otherwise as the other one.
    public func seal(
        _ content: Content, toUnverified recipient: DevicePublicKey, reserve: Int = 0
    ) throws(SealError) -> SealedPayload {
        try seal(content, to: recipient, keeping: nil, reserve: reserve)
    }

    /// - Parameter days: for how many days the device keeps a retired key; nil if nobody has said.
    package func seal(
        _ content: Content, to recipient: DevicePublicKey, keeping days: Int?, reserve: Int = 0
    ) throws(SealError) -> SealedPayload {
        let plan = plans[try planIndex(for: recipient)]
        var content = content
        let (random, other) = SecureRandom.pair()
        content.id = content.id ?? MessageID(random)
        try complete(&content, keeping: days)
        let written = try write(content, within: reserve == 0 ? plan : plan.leavingFree(reserve))
        return seal(try PreparedContent(content), written, to: recipient, random: other)
    }

    /// A quarter of the payload: the most that may be left free.
    public static let maximumReserve = 1_024

    /// How much fits into one push to this device.
    public func sizePlan(for recipient: DevicePublicKey) -> SizePlan {
        plans.first { $0.suite.fits(recipient) } ?? sizePlan
    }

    private func planIndex(for recipient: DevicePublicKey) throws(SealError) -> Int {
        guard !requiresHybrid || recipient.isHybrid else { throw .notHybrid }
        guard let index = plans.firstIndex(where: { $0.suite.fits(recipient) }) else { throw .anonymousToHybrid }
        return index
    }

    /// Checks content, fills in what is missing, cuts it where the policy says so, and writes it: once for all of
    /// its devices, each of which then costs no more than the sealing.
    ///
    /// - Parameter days: for how many days these devices keep a retired key; nil if nobody has said.
    /// - Throws: ``SealError/tooLarge(byteCountOver:)`` if it fits no device.
    package func prepare(_ content: Content, keeping days: Int? = nil) throws(SealError) -> PreparedContent {
        var content = content
        try complete(&content, keeping: days)
        var prepared = try PreparedContent(content)
        prepared.written = plans.map { plan in
            Result { () throws(SealError) in try write(content, within: plan) }
        }
        let fitsAny = prepared.written.contains { if case .success = $0 { true } else { false } }
        if !fitsAny { _ = try prepared.written.first?.get() }
        return prepared
    }

    private func write(_ content: Content, within plan: SizePlan) throws(SealError) -> WrittenContent {
        let receiptByteCount = content.hasOwnReceipt ? 0 : receiptByteCount
        var written = WrittenContent(content, receiptByteCount: receiptByteCount)
        let excess = written.byteCount - plan.maximumContentByteCount
        if excess > 0 {
            guard fit == .truncate, let shorter = content.truncated(by: excess) else {
                throw .tooLarge(byteCountOver: excess)
            }
            written = WrittenContent(shorter, receiptByteCount: receiptByteCount)
        }
        guard let byteCount = plan.plaintextByteCount(forContent: written.byteCount) else {
            throw .tooLarge(byteCountOver: written.byteCount - plan.maximumContentByteCount)
        }
        written.plaintextByteCount = byteCount
        return written
    }

    /// Seals what ``prepare(_:keeping:)`` of this sealer has made.
    package func seal(
        _ content: PreparedContent, toUnverified recipient: DevicePublicKey
    ) throws(SealError) -> SealedPayload {
        let written = try content.written[planIndex(for: recipient)].get()
        return seal(content, written, to: recipient, random: SecureRandom.pair().0)
    }

    private func seal(
        _ content: PreparedContent, _ written: WrittenContent, to recipient: DevicePublicKey, random: Bytes16
    ) -> SealedPayload {
        let receipt = content.hasOwnReceipt ? nil : receipts.map { $0.key.request(recipient, to: $0.address) }
        let plaintext = written.plaintext(with: receipt)
        let envelope =
            contexts?.seal(plaintext, to: recipient, random: random)
            ?? Envelope.sealingAnonymously(plaintext, to: recipient)
        return SealedPayload(
            json: json(content.isBackground ? Self.backgroundPrefix : clearPrefix, around: envelope),
            recipient: recipient, topic: topic,
            apnsID: identifiers.apnsID(message: content.id, recipient: recipient),
            collapseID: identifiers.collapseID(content.collapseID, message: content.id, recipient: recipient),
            messageID: content.id, expires: content.expires, envelope: envelope,
            isBackground: content.isBackground, alert: safeDefault)
    }

    /// By which a repeated request is told from another one under the same key.
    package func fingerprint(of content: Content, under key: IdempotencyKey) -> [UInt8] {
        identifiers.fingerprint(of: content.json, under: key.tag)
    }

    /// Whether two contents are known to differ: nobody can tell where another sender's key made one of them.
    package static func differ(_ a: [UInt8], _ b: [UInt8]) -> Bool { ClearIdentifiers.differ(a, b) }

    /// Wipes the context to a recipient that is sealed to no more, such as a retired key of a device.
    public func forget(_ recipient: DevicePublicKey) { contexts?.forget(recipient) }

    /// Fills in `id`, `topic` and `sent`, and `expires` if the keys may be gone before the content is too old; checks it all.
    /// Source: Specification 11.4.6.
    func complete(_ content: inout Content, keeping days: Int? = nil) throws(SealError) {
        guard content.topic == nil || content.topic == topic else { throw .otherTopic }
        content.id = content.id ?? .random()
        content.topic = topic
        let sent = content.sent ?? .now()
        content.sent = sent
        if let days {
            if let expires = content.expires {
                try Self.check(expires, keeping: days, at: sent)
            } else if days < 30 {
                content.expires = sent.advanced(bySeconds: Int64(days) * 86_400)
            }
        }
        do { try content.checkForSealing() } catch { throw .content(error) }
        guard content.withdrawal == nil || contexts != nil else { throw .anonymousWithdrawal }
    }

    /// Throws if a device that keeps retired keys for this many days may have erased its key by then. One hour allows for clocks
    /// that differ.
    package static func check(
        _ expiration: Timestamp, keeping days: Int, at now: Timestamp
    ) throws(SealError) {
        guard expiration.seconds(since: now) <= Int64(days) * 86_400 + 3_600 else { throw .expiresTooLate(days: days) }
    }

    /// How many bytes of content JSON a device's receipt takes, whichever device it is.
    var receiptByteCount: Int {
        guard let receipts else { return 0 }
        return ReceiptRequest(
            address: receipts.address, id: ReceiptID([UInt8](repeating: 0, count: ReceiptID.byteCount)),
            key: [UInt8](repeating: 0, count: ReceiptRequest.keyByteCount)
        ).jsonMember.count
    }

    /// The payload, in memory of its size.
    private func json(_ clearPrefix: [UInt8], around envelope: Envelope) -> [UInt8] {
        let textPlace = clearPrefix.count
        let textEnd = textPlace + Base64URL.textByteCount(of: envelope.bytes.count)
        let byteCount = textEnd + Self.clearSuffix.count
        return [UInt8](unsafeUninitializedCapacity: byteCount) { json, count in
            let json = UnsafeMutableRawBufferPointer(json)
            json.copyBytes(from: clearPrefix)
            envelope.bytes.withUnsafeBytes { bytes in
                Base64URL.write(bytes, to: UnsafeMutableRawBufferPointer(rebasing: json[textPlace..<textEnd]))
            }
            UnsafeMutableRawBufferPointer(rebasing: json[textEnd...]).copyBytes(from: Self.clearSuffix)
            count = byteCount
        }
    }

    /// Everything before the envelope's text. Source: Specification 2.1.
    private static func clearPrefix(_ alert: WireAlert) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(["alert": alert.json, "mutable-content": 1])
        return Array("{\"aps\":".utf8) + writer.bytes + Array(",\"\(SealedPayload.fieldName)\":\"".utf8)
    }

    private static let backgroundPrefix = Array(PayloadForm.background.utf8)
    private static let clearSuffix = Array("\"}".utf8)
}
