internal import NIOCore
internal import NIOHPACK
internal import PushCore
internal import PushSender
internal import SealedPush

struct PartialResponse {
    /// An error body is about 100 bytes long. A longer body is dropped, but its status is kept.
    static let maximumBodyByteCount = 4_096

    private(set) var status = 0
    private var uniqueID: String?
    private var announcedByteCount: Int?
    private var body: [UInt8] = []
    /// Includes padding.
    private var flowControlledByteCount = 0

    /// Processes the headers of the final response. Ignores 1xx responses and trailers.
    mutating func take(_ headers: HPACKHeaders, isLast: Bool) throws(ProtocolViolation) {
        if status != 0 {
            guard isLast else { throw ProtocolViolation(.protocolError, "headers between data") }
        } else {
            try begin(headers)
        }
        if isLast { try end() }
    }

    private mutating func begin(_ headers: HPACKHeaders) throws(ProtocolViolation) {
        var newStatus = 0
        var newUniqueID: String?
        var newByteCount: Int?
        for header in headers {
            switch header.name {
            case ":status": newStatus = header.value.utf8.count == 3 ? Int(header.value) ?? 0 : 0
            case "apns-unique-id": newUniqueID = ErrorBody.bounded(header.value)
            case "content-length":
                guard let count = Int(header.value), count >= 0, count == newByteCount ?? count else {
                    throw ProtocolViolation(.protocolError, "a malformed content length")
                }
                newByteCount = count
            default: break
            }
        }
        guard newStatus >= 200 else { return }
        status = newStatus
        uniqueID = newUniqueID
        announcedByteCount = newByteCount
    }

    /// Returns false if the body is longer than any valid one, so that the rest need not be read.
    mutating func take(
        _ bytes: ByteBuffer, flowControlledByteCount byteCount: Int, isLast: Bool
    ) throws(ProtocolViolation) -> Bool {
        guard status != 0 else { throw ProtocolViolation(.protocolError, "data before headers") }
        flowControlledByteCount += byteCount
        guard flowControlledByteCount <= Self.maximumBodyByteCount else {
            body = []
            return false
        }
        body.append(contentsOf: bytes.readableBytesView)
        if isLast { try end() }
        return true
    }

    private func end() throws(ProtocolViolation) {
        try demand(
            announcedByteCount == nil || announcedByteCount == body.count, .protocolError,
            "a body that doesn't match its content length")
    }

    var isBegun: Bool { status != 0 }

    /// Whether this is a refusal, even if its body is incomplete.
    var isRefusal: Bool { status != 0 && status != 200 }

    /// The response, or nil until there's a status.
    var answer: APNsAnswer? {
        guard status != 0 else { return nil }
        if status == 200 { return .accepted(uniqueID: uniqueID) }
        let error = ErrorBody(body)
        return .refused(APNsRefusal(status: status, reason: error.reason, timestamp: error.timestamp))
    }
}

/// The body of a refusal or GOAWAY frame: `{"reason": "...", "timestamp": ...}`. Empty if truncated, nested, or not JSON.
struct ErrorBody {
    let reason: APNsReason?
    /// Sent in milliseconds.
    let timestamp: Timestamp?

    init(_ bytes: [UInt8]) {
        let limit = PartialResponse.maximumBodyByteCount
        guard !bytes.isEmpty, let members = JSONReader.object(bytes, maximumByteCount: limit) else {
            reason = nil
            timestamp = nil
            return
        }
        if case .string(let text) = members["reason"], !text.isEmpty {
            reason = APNsReason(rawValue: Self.bounded(text))
        } else {
            reason = nil
        }
        timestamp =
            switch members["timestamp"] {
            case .integer(let milliseconds) where milliseconds >= 0: Timestamp(secondsSince1970: milliseconds / 1_000)
            default: nil
            }
    }

    /// Returns at most 64 characters and 256 bytes, all of them printable.
    static func bounded(_ text: String) -> String {
        TerminalText.printable(String(text.prefix(64))).prefix(byteCount: 256)
    }
}
