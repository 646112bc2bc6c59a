import SealedPush

/// Fills `{{name}}` and `{{name|in its place}}` in title, subtitle and body with the app's ``SharedValues``, where the
/// sender has said that the content is a template. Nothing of the values leaves the device.
///
/// A name without a value takes what stands in its place. Where there is nothing either, the title or subtitle that holds it
/// is left out, and a body becomes the stage's own text. Filled in are the characters alone: no placeholder in a value is
/// filled, control characters and what turns the direction of text are dropped, and a text ends after 8,192 bytes. Less than a
/// millisecond. Source: Specification 17.
public struct PlaceholderStage: ServiceStage {
    private let fallback: String

    /// - Parameter fallback: the body where the sender's can't be filled; with something to see, or the program stops.
    public init(fallback: String) {
        precondition(VisibleText.isVisible(fallback), "a fallback is a text that a person can see")
        self.fallback = fallback
    }

    public var pace: StagePace { .quick }

    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard draft.opened.content.isTemplate else { return draft }
        let values = context.ownFolder.map { SharedValues(in: $0).all() } ?? [:]
        var filled = draft
        filled.title = Self.fill(draft.title, values, keepsLines: false) ?? ""
        filled.subtitle = Self.fill(draft.subtitle, values, keepsLines: false) ?? ""
        filled.body = Self.fill(draft.body, values, keepsLines: true) ?? fallback
        if !filled.isVisible { filled.body = fallback }
        return filled
    }

    private static func fill(_ text: String, _ values: [String: String], keepsLines: Bool) -> String? {
        Template(text).filled(maximumByteCount: maximumByteCount) { name in
            let value = values[name].map { clean($0, keepsLines: keepsLines) }
            return value.flatMap { VisibleText.isVisible($0) ? $0 : nil }
        }
    }

    /// Without what could reach beyond the value itself.
    private static func clean(_ value: String, keepsLines: Bool) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            switch scalar.value {
            case 0x0a where keepsLines: text.append(scalar)
            case 0x09, 0x0a, 0x0d, 0x2028, 0x2029: text.append(" ")
            case 0x202a...0x202e, 0x2066...0x2069: continue
            default: if scalar.properties.generalCategory != .control { text.append(scalar) }
            }
        }
        return String(text)
    }

    private static let maximumByteCount = 8_192
}

/// Gives a message without a body one of the app's own: for messages that are a picture, say.
public struct DefaultBodyStage: ServiceStage {
    private let body: String

    /// - Parameter body: the text, translated in the extension's bundle.
    public init(_ body: String) { self.body = body }

    public var pace: StagePace { .quick }

    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        var draft = draft
        if !VisibleText.isVisible(draft.body) { draft.body = body }
        return draft
    }
}
