internal import PushCore
import SealedPush

/// Fills `{{name}}` and `{{name|fallback}}` in the title, subtitle, and body with the app's ``SharedValues``, if the sender
/// marked the content as a template. The values never leave the device.
///
/// A name without a value becomes the fallback after `|`. Without one, the title or subtitle is left out, and a body
/// becomes the stage's own text. Placeholders in a value are not filled. Control characters and those that change the
/// direction of text are dropped. A text is cut after 8,192 bytes. Takes less than a millisecond. Source: ContentParts 17.
public struct PlaceholderStage: ServiceStage {
    private let fallback: String

    /// Creates a stage. `fallback` is the body if the sender's can't be filled; the program stops unless it's visible.
    public init(fallback: String) {
        precondition(VisibleText.isVisible(fallback), "`fallback` must contain visible text")
        self.fallback = fallback
    }

    /// Quick, because filling in text needs no network.
    public var pace: StagePace { .quick }

    /// Returns the draft with its placeholders filled in.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard draft.opened.content.isTemplate else { return draft }
        let values = context.ownFolder.map { SharedValues(in: $0).all() } ?? [:]
        var filled = draft
        filled.title = Self.fill(draft.title, values, keepsLines: false) ?? ""
        filled.subtitle = Self.fill(draft.subtitle, values, keepsLines: false) ?? ""
        filled.body = Self.fill(draft.body, values, keepsLines: true) ?? fallback
        if !filled.alert.isVisible { filled.body = fallback }
        return filled
    }

    private static func fill(_ text: String, _ values: [String: String], keepsLines: Bool) -> String? {
        TextTemplate(text).filled(maximumByteCount: TextTemplate.maximumByteCount) { name in
            let value = values[name].map { clean($0, keepsLines: keepsLines) }
            return value.flatMap { VisibleText.isVisible($0) ? $0 : nil }
        }
    }

    /// Removes characters that could have an effect beyond the value itself.
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
}
