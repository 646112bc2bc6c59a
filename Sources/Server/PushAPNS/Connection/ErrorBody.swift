internal import PushCore
internal import SealedPush

/// What APNs says about a refusal or at the end of a connection: `{"reason": "...", "timestamp": ...}`.
///
/// Anything else, cut, nested or no JSON at all, is an empty one.
struct ErrorBody {
    let reason: String?
    /// Sent in milliseconds.
    let timestamp: Timestamp?

    init(_ bytes: [UInt8]) {
        let limit = PartialResponse.maximumBodyByteCount
        guard !bytes.isEmpty,
            let members = JSONReader.object(bytes, maximumByteCount: limit)
        else {
            reason = nil
            timestamp = nil
            return
        }
        if case .string(let text) = members["reason"], !text.isEmpty {
            reason = Self.bounded(text)
        } else {
            reason = nil
        }
        timestamp =
            switch members["timestamp"] {
            case .integer(let milliseconds) where milliseconds >= 0:
                Timestamp(secondsSince1970: milliseconds / 1_000)
            default: nil
            }
    }

    /// At most 64 characters and 256 bytes that only print.
    static func bounded(_ text: String) -> String {
        var short = TerminalText.printable(String(text.prefix(64)))
        while short.utf8.count > 256 { short.removeLast() }
        return short
    }
}
