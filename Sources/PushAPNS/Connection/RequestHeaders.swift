internal import NIOHPACK
internal import PushSender

/// The header block of a push.
///
/// What repeats is put into HPACK's table (a byte each from then on); what is new with each push is not. Source: Apple,
/// "Sending notification requests to APNs".
struct RequestHeaders {
    private let authority: String

    init(endpoint: APNSEndpoint) {
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        authority = endpoint.port == 443 ? host : "\(host):\(endpoint.port)"
    }

    func block(for request: PushRequest, authorization: String) -> HPACKHeaders {
        var headers = HPACKHeaders()
        headers.reserveCapacity(11)
        headers.add(name: ":method", value: "POST")
        headers.add(name: ":scheme", value: "https")
        headers.add(name: ":authority", value: authority)
        headers.add(name: ":path", value: "/3/device/" + request.token.description, indexing: .nonIndexable)
        headers.add(name: "authorization", value: authorization)
        headers.add(name: "apns-topic", value: request.topic.description)
        headers.add(name: "apns-push-type", value: "alert")
        headers.add(name: "apns-priority", value: request.priority == .immediate ? "10" : "5")
        headers.add(name: "apns-id", value: request.apnsID, indexing: .nonIndexable)
        headers.add(name: "apns-collapse-id", value: request.collapseID, indexing: .nonIndexable)
        if let expiration = request.expiration {
            headers.add(name: "apns-expiration", value: String(expiration.secondsSince1970), indexing: .nonIndexable)
        }
        return headers
    }
}
