internal import SealedPush

/// A push type, `apns-push-type`, and its requirements for topic, priority, and size. Source: Apple, "Sending
/// notification requests to APNs".
package enum PushType: String, Codable, Hashable, Sendable, CaseIterable {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    /// The suffix of `apns-topic` after the bundle ID. `mdm` has its own topic, without a suffix.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    var payloadByteLimit: Int { self == .voip ? Self.maximumPayloadByteCount : 4_096 }

    static let maximumPayloadByteCount = 5_120

    /// Splits a topic into its bundle ID and suffix.
    static func split(topic: String) -> (bundleID: String, suffix: String) {
        for suffix in suffixes where topic.hasSuffix(suffix) {
            return (String(topic.dropLast(suffix.utf8.count)), suffix)
        }
        return (topic, "")
    }

    private static let suffixes = allCases.map(\.topicSuffix).filter { !$0.isEmpty }

    /// Whether the type fits the payload. Apple: it "must accurately reflect the contents of your notification's payload".
    func fits(_ aps: [String: JSONValue]) -> Bool {
        let isVisible = ["alert", "badge", "sound"].contains { aps[$0] != nil }
        switch self {
        case .alert: return isVisible
        case .background: return aps["content-available"] != nil && !isVisible
        case .complication, .controls, .fileprovider, .liveactivity, .location, .mdm, .pushtotalk, .voip, .widgets:
            return true
        }
    }
}
