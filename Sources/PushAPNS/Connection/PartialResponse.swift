internal import NIOCore
internal import NIOHPACK
internal import PushSender
internal import SealedPush

/// What has arrived of an answer.
struct PartialResponse {
    /// An error body is about 100 bytes; a longer one is not kept, its status is.
    static let maximumBodyByteCount = 4_096

    private(set) var status = 0
    private var uniqueID: String?
    private var body: [UInt8] = []
    private var isTooLong = false

    /// Headers of the final answer; 1xx and trailers change nothing.
    mutating func take(_ headers: HPACKHeaders) {
        guard status == 0 else { return }
        var newStatus = 0
        var newUniqueID: String?
        for header in headers {
            switch header.name {
            case ":status": newStatus = Int(header.value) ?? 0
            case "apns-unique-id": newUniqueID = ErrorBody.bounded(header.value)
            default: break
            }
        }
        guard newStatus >= 200 else { return }
        status = newStatus
        uniqueID = newUniqueID
    }

    /// False where the body is longer than any that counts: the rest need not be read.
    mutating func take(_ data: IOData) -> Bool {
        guard case .byteBuffer(let buffer) = data, !isTooLong else { return !isTooLong }
        if body.count + buffer.readableBytes > Self.maximumBodyByteCount {
            isTooLong = true
            body = []
            return false
        }
        body.append(contentsOf: buffer.readableBytesView)
        return true
    }

    /// Whether it refuses, however much of its body is missing.
    var isRefusal: Bool { status != 0 && status != 200 }

    /// Nil before there was a status.
    var answer: PushAnswer? {
        guard status != 0 else { return nil }
        if status == 200 { return .accepted(uniqueID: uniqueID) }
        let error = ErrorBody(body)
        return .refused(PushRefusal(status: status, reason: error.reason, timestamp: error.timestamp))
    }
}
