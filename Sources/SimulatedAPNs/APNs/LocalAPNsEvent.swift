package import PushSimulator
internal import SealedPush

/// What happens at a local APNs, for whoever looks at it.
package enum LocalAPNsEvent: Sendable {
    /// A provider's request: for which device, if the token is one's, and why it was refused; nil where it was not.
    case requested(device: String?, reason: String?)
    case showed(device: String, ShownOnDevice)
}

/// What a person sees of one push, on its way from the device's process to the local APNs' page.
package struct ShownOnDevice: Equatable, Sendable {
    package var identifier: String
    package var outcome: DeliveredPush.Outcome
    /// Why it did not open, or was not shown.
    package var reason: String?
    package var title = ""
    package var subtitle = ""
    package var body = ""

    init(_ push: DeliveredPush, identifier: String) {
        self.identifier = identifier
        outcome = push.outcome
        reason = push.reason ?? push.note
        guard let shown = push.shown else { return }
        (title, subtitle, body) = (Self.cut(shown.title), Self.cut(shown.subtitle), Self.cut(shown.body))
    }

    /// So that a frame takes it, whatever it is made of.
    private static func cut(_ text: String) -> String {
        text.utf8.count <= 20_000 ? text : String(decoding: text.utf8.prefix(20_000), as: UTF8.self)
    }

    init?(parsing bytes: [UInt8]) {
        guard let members = JSONReader.object(bytes, maximumByteCount: DeviceFrame.maximumByteCount),
            let identifier = members["identifier"]?.string,
            let outcome = members["outcome"]?.string.flatMap(DeliveredPush.Outcome.init(rawValue:))
        else { return nil }
        self.identifier = identifier
        self.outcome = outcome
        reason = members["reason"]?.string
        title = members["title"]?.string ?? ""
        subtitle = members["subtitle"]?.string ?? ""
        body = members["body"]?.string ?? ""
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object { members in
            members.string("identifier", identifier)
            members.string("outcome", outcome.rawValue)
            members.string("reason", reason)
            members.string("title", title)
            members.string("subtitle", subtitle)
            members.string("body", body)
        }
        return writer.bytes
    }
}
