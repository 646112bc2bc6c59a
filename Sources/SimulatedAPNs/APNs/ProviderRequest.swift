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
    var hasDuplicates = false
    /// What does not fit is counted and thrown away.
    var body: ByteBuffer?
    var bodyByteCount = 0

    init(_ headers: HPACKHeaders) {
        for (name, value, _) in headers {
            switch name {
            case ":method": method = value
            case ":path": path = value
            case "authorization": Self.set(&authorization, value, &hasDuplicates)
            case "apns-id": Self.set(&apnsID, value, &hasDuplicates)
            case "apns-push-type": Self.set(&pushType, value, &hasDuplicates)
            case "apns-topic": Self.set(&topic, value, &hasDuplicates)
            case "apns-priority": Self.set(&priority, value, &hasDuplicates)
            case "apns-expiration": Self.set(&expiration, value, &hasDuplicates)
            case "apns-collapse-id": Self.set(&collapseID, value, &hasDuplicates)
            default: break
            }
        }
    }

    private static func set(_ field: inout String?, _ value: String, _ hasDuplicates: inout Bool) {
        if field != nil { hasDuplicates = true }
        field = value
    }

    mutating func append(_ data: inout ByteBuffer) {
        bodyByteCount += data.readableBytes
        guard bodyByteCount <= PushType.maximumPayloadByteCount else { return }
        if body == nil { body = data } else { body?.writeBuffer(&data) }
    }

    var bodyView: ByteBufferView { (body ?? ByteBuffer()).readableBytesView }
}
