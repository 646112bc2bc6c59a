public import SealedPush

/// A sealed push to one device, as a transport sends it. It stays the same on each retry.
///
/// Outside of this package, it can only be created from a sealed payload. Printing it shows only public names. Source:
/// Specification 2.6 and 2.11.
public struct PushRequest: Hashable, Sendable {
    /// The destination.
    public let address: Address
    /// The request's body: at most 4,096 bytes.
    public let body: [UInt8]
    /// The value of `apns-topic`.
    public let topic: Topic
    /// The value of `apns-id`: a lowercase UUID.
    public let apnsID: String
    /// The value of `apns-collapse-id`: at most 64 bytes.
    public let collapseID: String
    /// The value of `apns-priority`.
    public let priority: PushPriority
    /// The value of `apns-expiration`: how long the service keeps the push for an offline device. If nil, the service decides.
    public let expiration: Timestamp?
    /// Whether this is a background push, with an `apns-push-type` of `background`.
    public let isBackground: Bool
    /// A hint that the service accepted a push for this address and topic before. Not sent; affects only the connection.
    public var isProven = false

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - payload: The sealed payload.
    ///   - address: The device's address.
    ///   - priority: The priority. Background pushes use the only one that Apple allows.
    ///   - expiration: The expiration, or nil to use the content's own, if any.
    public init(
        _ payload: SealedPayload, to address: Address, priority: PushPriority = .immediate, expiration: Timestamp? = nil
    ) {
        self.init(
            address: address, body: payload.json, topic: payload.topic, apnsID: payload.apnsID,
            collapseID: payload.collapseID, priority: payload.priority(priority),
            expiration: expiration ?? payload.expires, isBackground: payload.isBackground)
    }

    /// Creates a request from one that was sealed and stored earlier. Its body says whether it is a background push.
    package init(
        address: Address, body: [UInt8], topic: Topic, apnsID: String, collapseID: String, priority: PushPriority,
        expiration: Timestamp?
    ) {
        self.init(
            address: address, body: body, topic: topic, apnsID: apnsID, collapseID: collapseID, priority: priority,
            expiration: expiration, isBackground: PayloadForm.isBackground(body))
    }

    private init(
        address: Address, body: [UInt8], topic: Topic, apnsID: String, collapseID: String, priority: PushPriority,
        expiration: Timestamp?, isBackground: Bool
    ) {
        self.address = address
        self.body = body
        self.topic = topic
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.priority = priority
        self.expiration = expiration
        self.isBackground = isBackground
    }
}

extension PushRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The request's ID and part of its address, without the body.
    public var description: String { "push \(apnsID) to \(address.logged)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that dumping a request doesn't reveal its address.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
