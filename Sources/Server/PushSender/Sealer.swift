internal import PushCore
public import SealedPush
// `Content`, `DevicePublicKey`, and `Topic` are half of this module's interface, so one import brings both halves.
@_exported public import SealedPush

/// Seals messages from one sender for one app: turns content into a payload of at most 4,096 bytes.
///
/// A payload has two parts. Its clear part is the same for all messages: an alert that says nothing, such as "You have a new
/// message", and the order to wake the app's extension. The other is the envelope, which only the device can open. No content
/// ever goes into the clear part, and a sealer never returns a payload that isn't sealed.
///
/// ```swift
/// let sealer = Sealer(sender: key, topic: "com.example.app", safeDefault: "You have a new message")
/// let payload = try sealer.seal(Content(title: "Nina", body: "Lunch?"), to: device.recipient(at: .now()))
/// let outcome = try await transport.deliver(PushRequest(payload, to: .apns(token)))
/// ```
/// Create one sealer for each app and sender key, and keep it while the server runs. It holds an HPKE context for each
/// recipient that it has seen, so each further message costs about 5 µs instead of 120; see ``ContextLimits``. The contexts are
/// wiped when they are used up or too old. ``forget(_:)`` wipes one early, such as that of a device's retired key.
///
/// Content passes through these steps:
/// 1. It is completed: an ID, the topic, the time, and, if the device erases its keys early, an expiry.
/// 2. It is checked. Content that a device would refuse throws an error here, where a developer sees it.
/// 3. It is written, and cut if ``FitPolicy`` allows that. ``sizePlan(for:)`` tells in advance how much fits.
/// 4. It is padded, so that its length says little. ``PaddingPolicy`` decides how little.
/// 5. It is sealed to the recipient. The kind of its key, X25519 or hybrid, decides on the suite.
///
/// The label of the recipient says what you know about the key. A ``VerifiedRecipient`` comes from a signed record, so that
/// nobody who can only write to the server's database can add a key of their own. With `toUnverified:`, such a person reads
/// along.
///
/// If a function throws, nothing was sealed. A sealer sends nothing, stores nothing, and remembers no message: the outbox of
/// PushOutbox does. Sealing the same content twice gives two different payloads, with the same ID if you set one; devices that
/// open both show one notification.
///
/// Safe for concurrent use. Tasks that seal for different devices don't wait for one another.
public final class Sealer: Sendable {
    /// The number of bytes that fit into one push to a device whose key isn't hybrid.
    public var sizePlan: SizePlan { plans[0] }
    /// One plan for each suite.
    private let plans: [SizePlan]
    /// The app to seal for.
    public let topic: Topic
    private let safeDefault: WireAlert
    private let fit: FitPolicy
    package let requiresHybrid: Bool
    /// Nil if messages are anonymous.
    private let contexts: ContextCache?
    private let identifiers: ClearIdentifiers
    private let clearPrefix: [UInt8]
    private let receipts: (key: ReceiptKey, address: ReceiptAddress)?

    /// Creates a sealer whose messages prove who sealed them.
    ///
    /// - Parameters:
    ///   - sender: The server's key, whose public half the app trusts.
    ///   - topic: The app's bundle ID.
    ///   - safeDefault: The alert that travels in the clear, and that iOS shows if the extension couldn't run.
    ///   - padding: How much an observer learns about lengths.
    ///   - fit: The treatment of content that doesn't fit.
    ///   - contexts: How long contexts are used, and how many are held.
    ///   - receipts: The address for devices' receipts, or nil for none. Takes about 110 bytes of each push, plus the address.
    ///   - requiresHybrid: Whether to reject non-hybrid keys, as from an old backup; see Docs/KeyManagement.md, 6.
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

    /// Creates a sealer whose messages are anonymous. Devices reject them unless their app allows anonymous messages.
    public convenience init(
        anonymousFor topic: Topic, safeDefault: WireAlert, padding: PaddingPolicy = .buckets, fit: FitPolicy = .error
    ) {
        self.init(
            contexts: nil, identifiers: ClearIdentifiers(), topic: topic, safeDefault: safeDefault, padding: padding,
            fit: fit, receipts: nil, requiresHybrid: false)
    }

    /// The sender of the messages, or nil if they're anonymous.
    package var sender: SenderPublicKey? { contexts?.publicKey }
    /// The sender's key as text.
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

    /// Seals content for one device with a verified key; see ``EnrolledDevice/recipient(at:)``.
    ///
    /// Fills in `id`, `topic`, and `sent` if the content lacks them, and `expires` if the device keeps retired keys for
    /// less than 30 days. In that case, `sent` must not be older than these days. Takes about 5 µs for a recipient seen
    /// before, and 120 µs for a new one.
    ///
    /// - Parameters:
    ///   - content: The content to seal.
    ///   - recipient: The key to seal to.
    ///   - reserve: How many of the 4,096 bytes to leave free, up to ``maximumReserve``, for clients that add spaces, say.
    /// - Throws: ``SealError``, without sealing anything.
    public func seal(
        _ content: Content, to recipient: VerifiedRecipient, reserve: Int = 0
    ) throws(SealError) -> SealedPayload {
        try seal(content, to: recipient.recipient, keeping: recipient.keeps, reserve: reserve)
    }

    /// Seals content for an unverified key: anyone who can add a key to the server's list can read the message. Use it for
    /// devices without signed records, if only the app's login protects that list. Otherwise like `seal(_:to:reserve:)`.
    public func seal(
        _ content: Content, toUnverified recipient: DevicePublicKey, reserve: Int = 0
    ) throws(SealError) -> SealedPayload {
        try seal(content, to: recipient, keeping: nil, reserve: reserve)
    }

    /// - Parameter days: How many days the device keeps a retired key, or nil if unknown.
    package func seal(
        _ content: Content, to recipient: DevicePublicKey, keeping days: Int?, reserve: Int = 0
    ) throws(SealError) -> SealedPayload {
        let plan = plans[try planIndex(for: recipient)]
        var content = content
        let (random, other) = SecureRandom.pair()
        content.id = content.id ?? MessageID(random)
        try complete(&content, keeping: days)
        let written = try fitted(write(content), of: content, within: reserve == 0 ? plan : plan.leavingFree(reserve))
        return seal(try PreparedContent(content), written, to: recipient, random: other)
    }

    /// The maximum number of bytes to leave free: a quarter of the payload.
    public static let maximumReserve = 1_024

    /// Returns how much fits into one push to this device.
    public func sizePlan(for recipient: DevicePublicKey) -> SizePlan {
        plans.first { $0.suite.fits(recipient) } ?? sizePlan
    }

    private func planIndex(for recipient: DevicePublicKey) throws(SealError) -> Int {
        guard !requiresHybrid || recipient.isHybrid else { throw .notHybrid }
        guard let index = plans.firstIndex(where: { $0.suite.fits(recipient) }) else { throw .anonymousToHybrid }
        return index
    }

    /// Checks, completes, shortens if allowed, and writes content once for all of its devices. After that, each device
    /// costs only the sealing. `days` is how many days these devices keep a retired key, or nil if unknown; `fit` replaces
    /// the sealer's own policy. Throws ``SealError/tooLarge(byteCountOver:)`` if it doesn't fit any device.
    package func prepare(
        _ content: Content, keeping days: Int? = nil, fit: FitPolicy? = nil
    ) throws(SealError) -> PreparedContent {
        var content = content
        try complete(&content, keeping: days)
        var prepared = try PreparedContent(content)
        let whole = write(content)
        prepared.written = plans.map { plan in
            Result { () throws(SealError) in try fitted(whole, of: content, within: plan, fit) }
        }
        let fitsAny = prepared.written.contains { if case .success = $0 { true } else { false } }
        if !fitsAny { _ = try prepared.written.first?.get() }
        return prepared
    }

    private func write(_ content: Content) -> WrittenContent {
        WrittenContent(content, receiptByteCount: content.hasOwnReceipt ? 0 : receiptByteCount)
    }

    /// Returns the written content with a plan's padding, shortened if that is necessary and allowed.
    private func fitted(
        _ whole: WrittenContent, of content: Content, within plan: SizePlan, _ fit: FitPolicy? = nil
    ) throws(SealError) -> WrittenContent {
        var written = whole
        let excess = whole.byteCount - plan.maximumContentByteCount
        if excess > 0 {
            guard fit ?? self.fit == .truncate, let shorter = content.truncated(by: excess) else {
                throw .tooLarge(byteCountOver: excess)
            }
            written = write(shorter)
        }
        guard let byteCount = plan.plaintextByteCount(forContent: written.byteCount) else {
            throw .tooLarge(byteCountOver: written.byteCount - plan.maximumContentByteCount)
        }
        written.plaintextByteCount = byteCount
        return written
    }

    /// Seals content that ``prepare(_:keeping:)`` of this sealer returned, for a key that the caller has judged.
    package func seal(
        _ content: PreparedContent, forKey recipient: DevicePublicKey
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

    /// Returns a fingerprint that distinguishes a repeated request from a different one under the same key. It covers the
    /// content as the caller gave it, so it needs JSON of its own: without the ID and the time that are filled in.
    package func fingerprint(of content: Content, under key: IdempotencyKey) -> [UInt8] {
        identifiers.fingerprint(of: content.json, under: key.tag)
    }

    /// Whether two fingerprints are known to be for different content; false if they come from different senders' keys.
    package static func differ(_ a: [UInt8], _ b: [UInt8]) -> Bool { ClearIdentifiers.differ(a, b) }

    /// Wipes the context of a recipient that is no longer in use, such as a device's retired key.
    public func forget(_ recipient: DevicePublicKey) { contexts?.forget(recipient) }

    /// Fills in `id`, `topic`, and `sent`, and `expires` if the keys may be gone before the content is too old. Then checks
    /// the content. Throws if the filled-in expiry has passed. Source: Specification 11.4.6.
    func complete(_ content: inout Content, keeping days: Int? = nil) throws(SealError) {
        guard content.topic == nil || content.topic == topic else { throw .otherTopic }
        content.id = content.id ?? .random()
        content.topic = topic
        let now = Timestamp.now()
        let sent = content.sent ?? now
        content.sent = sent
        if let days {
            if let expires = content.expires {
                try Self.check(expires, keeping: days, at: sent)
            } else if days < 30 {
                let expires = sent.advanced(bySeconds: Int64(days) * 86_400)
                guard expires >= now else { throw .expiresTooLate(days: days) }
                content.expires = expires
            }
        }
        do { try content.checkForSealing() } catch { throw .content(error) }
        guard content.withdrawal == nil || contexts != nil else { throw .anonymousWithdrawal }
    }

    /// Throws if a device that keeps retired keys for `days` may have erased one by `expiration`.
    package static func check(
        _ expiration: Timestamp, keeping days: Int, at now: Timestamp
    ) throws(SealError) {
        guard expiration.seconds(since: now) <= Int64(days) * 86_400 + clockDrift else {
            throw .expiresTooLate(days: days)
        }
    }

    /// The number of seconds by which an expiration may be later than a device keeps a key.
    package static let clockDrift: Int64 = 3_600

    /// The number of bytes that a receipt request adds to the content JSON, which is the same for every device.
    var receiptByteCount: Int {
        guard let receipts else { return 0 }
        return ReceiptRequest(
            address: receipts.address, id: ReceiptID([UInt8](repeating: 0, count: ReceiptID.byteCount)),
            key: [UInt8](repeating: 0, count: ReceiptRequest.keyByteCount)
        ).jsonMember.count
    }

    /// Returns the payload, written into an array of exactly its size.
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

    /// Returns everything before the envelope's text. Source: Specification 2.1.
    private static func clearPrefix(_ alert: WireAlert) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(["alert": alert.json, "mutable-content": 1])
        return Array("{\"aps\":".utf8) + writer.bytes + Array(",\"\(SealedPayload.fieldName)\":\"".utf8)
    }

    private static let backgroundPrefix = Array(PayloadForm.background.utf8)
    private static let clearSuffix = Array("\"}".utf8)
}
