internal import NIOCore
internal import NIOHPACK

/// One request as it came: headers by name, and the body up to the largest that any push may have.
struct ProviderRequest {
    var method = ""
    var path = ""
    var authorization: String?
    var apnsID: String?
    var pushType: String?
    var topic: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    /// Further ones under a name that there was already.
    var repeated: [(name: String, value: String)] = []
    /// What does not fit is counted and thrown away.
    var body: ByteBuffer?
    var bodyByteCount = 0
    /// As HTTP/2 counts: 32 more for each field.
    private(set) var headerByteCount = 0

    init(_ headers: HPACKHeaders) {
        for (name, value, _) in headers {
            headerByteCount += name.utf8.count + value.utf8.count + 32
            switch name {
            case ":method": method = value
            case ":path": path = value
            case "authorization": Self.set(&authorization, name, value, &repeated)
            case "apns-id": Self.set(&apnsID, name, value, &repeated)
            case "apns-push-type": Self.set(&pushType, name, value, &repeated)
            case "apns-topic": Self.set(&topic, name, value, &repeated)
            case "apns-priority": Self.set(&priority, name, value, &repeated)
            case "apns-expiration": Self.set(&expiration, name, value, &repeated)
            case "apns-collapse-id": Self.set(&collapseID, name, value, &repeated)
            default: break
            }
        }
    }

    private static func set(
        _ field: inout String?, _ name: String, _ value: String, _ repeated: inout [(name: String, value: String)]
    ) {
        if field == nil { field = value } else { repeated.append((name, value)) }
    }

    mutating func append(_ data: inout ByteBuffer) {
        bodyByteCount += data.readableBytes
        guard bodyByteCount <= PushType.maximumPayloadByteCount else { return }
        if body == nil { body = data } else { body?.writeBuffer(&data) }
    }

    var bodyView: ByteBufferView { (body ?? ByteBuffer()).readableBytesView }
}

/// A request that passed every check, on its way to a device.
package struct APNsNotification: Codable, Hashable, Sendable {
    package var apnsID: String
    package var pushType: PushType
    package var priority: Int
    /// Nil: for as long as APNs stores. 0: one attempt.
    package var expiration: Int64?
    package var collapseID: String?
    package var payload: [UInt8]
    /// Milliseconds since 1970.
    package var received: Int64

    /// What `UNNotificationRequest.identifier` will be. Source: Apple, that property's page.
    package var identifier: String { collapseID ?? apnsID }

    /// Seconds since 1970; nil where it is not stored.
    func storedUntil(storageTime: Int64) -> Int64? {
        let longest = received / 1_000 + storageTime
        guard let expiration else { return longest }
        return expiration == 0 ? nil : min(expiration, longest)
    }
}

/// What a device has on its screen: the identifiers of the newest 1,000 notifications, at about 150 bytes each.
///
/// Only a word in the output rests on it. That nothing is shown twice as new is the extension's ledger's business.
struct ShownIdentifiers: Sendable {
    private var known: Set<String> = []
    /// Oldest first.
    private var order: [String] = []

    var count: Int { known.count }

    /// False where it was there already; it is the newest either way. Costs a look at all of them at worst.
    mutating func insert(_ identifier: String) -> Bool {
        let isNew = known.insert(identifier).inserted
        if !isNew, let place = order.lastIndex(of: identifier) { order.remove(at: place) }
        order.append(identifier)
        if order.count > Self.maximumCount { known.remove(order.removeFirst()) }
        return isNew
    }

    static let maximumCount = 1_000
}
