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
