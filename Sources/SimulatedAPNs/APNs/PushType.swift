/// `apns-push-type`, with what each asks of topic, priority and size. Source: Apple, "Sending notification requests to
/// APNs".
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

    /// What `apns-topic` has behind the bundle ID. `mdm` has a topic of its own, without a suffix.
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

    /// The bundle ID that a topic is of, and the type whose suffix it has.
    static func split(topic: String) -> (bundleID: String, suffix: String) {
        // Only the last parts can be a suffix; most topics have none.
        for suffix in suffixes where topic.hasSuffix(suffix) {
            return (String(topic.dropLast(suffix.utf8.count)), suffix)
        }
        return (topic, "")
    }

    private static let suffixes = allCases.map(\.topicSuffix).filter { !$0.isEmpty }
}
