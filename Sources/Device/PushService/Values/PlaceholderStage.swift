package import Foundation
internal import PushCore
import SealedPush

/// Fills `{{name}}` and `{{name|fallback}}` in the title, subtitle, and body with the app's ``SharedValues``, if the sender
/// marked the content as a template. The values never leave the device.
///
/// A name without a value becomes the fallback after `|`. Without one, the title or subtitle is left out, and a body
/// becomes the stage's own text. Placeholders in a value are not filled. Control characters and those that change the
/// direction of text are dropped. A text is cut after 8,192 bytes. Takes less than a millisecond. Source: Specification 17.
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
        TextTemplate(text).filled(maximumByteCount: maximumByteCount) { name in
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

    private static let maximumByteCount = 8_192
}

/// Gives a message without a body one of the app's own, such as for messages that are just a picture.
public struct DefaultBodyStage: ServiceStage {
    private let body: String

    /// Creates a stage with the text to use, translated in the extension's bundle.
    public init(_ body: String) { self.body = body }

    /// Quick, because the text is at hand.
    public var pace: StagePace { .quick }

    /// Returns the draft, with the stage's text if it has no visible body.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        var draft = draft
        if !VisibleText.isVisible(draft.body) { draft.body = body }
        return draft
    }
}

/// A text with placeholders, `{{name}}` or `{{name|fallback}}`. It's parsed once and filled once, so that no value is read
/// as a placeholder. Source: Specification 17.2.
struct TextTemplate: Hashable, Sendable {
    private let parts: [Part]

    private enum Part: Hashable, Sendable {
        case text(Substring)
        case placeholder(name: Substring, fallback: Substring?)
    }

    /// Parses any text, and keeps whatever isn't a placeholder. One pass, in time proportional to the text's length.
    init(_ text: String) {
        var parts: [Part] = []
        var (kept, opening) = (text.startIndex, nil as String.Index?)
        let bytes = text.utf8
        var index = text.startIndex
        while index < text.endIndex {
            let next = bytes.index(after: index)
            let isDouble = next < text.endIndex && bytes[next] == bytes[index]
            if isDouble, bytes[index] == UInt8(ascii: "{") { opening = index }
            guard isDouble, bytes[index] == UInt8(ascii: "}"), let start = opening else {
                index = next
                continue
            }
            let end = bytes.index(after: next)
            // The last opening before the end counts, as in `{{{name}}`.
            if let placeholder = Self.placeholder(text[bytes.index(start, offsetBy: 2)..<index]) {
                parts += [.text(text[kept..<start]), placeholder]
                kept = end
            }
            (index, opening) = (end, nil)
        }
        self.parts = parts + [.text(text[kept...])]
    }

    /// Returns nil if a placeholder has neither a value nor a fallback.
    func filled(maximumByteCount: Int, _ value: (String) -> String?) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .placeholder(let name, let fallback):
                guard let piece = value(String(name)) ?? fallback.map(String.init) else { return nil }
                text += piece
            }
            guard text.utf8.count <= maximumByteCount else { return Self.cut(text, to: maximumByteCount) }
        }
        return text
    }

    /// Cuts a text at a grapheme boundary, with an ellipsis.
    static func cut(_ text: String, to byteCount: Int) -> String {
        guard text.utf8.count > byteCount else { return text }
        var kept = ""
        var count = "…".utf8.count
        for character in text {
            count += character.utf8.count
            guard count <= byteCount else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    private static func placeholder(_ inner: Substring) -> Part? {
        let name = inner[..<(inner.utf8.firstIndex(of: UInt8(ascii: "|")) ?? inner.endIndex)]
        guard isName(name) else { return nil }
        let fallback = name.endIndex == inner.endIndex ? nil : inner[inner.utf8.index(after: name.endIndex)...]
        return .placeholder(name: name, fallback: fallback)
    }

    /// Whether a name is 1 to 64 characters from `A` to `Z`, `a` to `z`, digits, `.`, `-`, and `_`.
    static func isName(_ name: some StringProtocol) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(\.isOfFileName)
    }
}

/// Named texts that the app leaves in the shared container for its extension. With them, a message can show what its
/// server doesn't know, such as the quote of the day or the user's name for a contact.
///
/// They never leave the device. They are one JSON file, replaced as a whole, so an extension sees either the old or the new
/// values. It can be read from the first unlock after a restart, even while the screen is locked, so don't store what that
/// screen must not show. At most 64 values, each with at most 4,096 bytes of UTF-8, and 65,536 bytes of JSON in all. Names
/// have 1 to 64 letters (A to Z), digits, dots, hyphens, and underscores. Thread-safe; the last writer wins.
public struct SharedValues: Sendable {
    private let root: URL

    /// Opens this app's values; nil if the system doesn't know the app group.
    public init?(container: SharedContainer) {
        guard let root = DeviceEnvironment.system.folder(container) else { return nil }
        self.init(in: root)
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Replaces all values with these. Durable on return; takes a few milliseconds.
    public func replaceAll(with values: [String: String]) throws(SharedValuesError) {
        guard values.count <= Self.maximumCount else { throw .tooMany }
        for (name, value) in values {
            guard TextTemplate.isName(name) else { throw .badName }
            guard value.utf8.count <= Self.maximumValueByteCount else { throw .tooLong(name: name) }
        }
        let bytes = JSONValue.object(values.mapValues(JSONValue.string)).bytes
        guard bytes.count <= Self.maximumFileByteCount else { throw .tooMuch }
        let temporary = folder.appending(path: "tmp.\(UUID().uuidString)")
        do {
            try FileProtection.fromFirstUnlock.ensureFolder(Self.folderName, in: root)
            DurableFiles.removeUnfinished(in: folder, untouchedFor: 60)
            try DurableFiles.write(bytes, to: temporary, mode: 0o600)
            try DurableFiles.rename(temporary, to: file)
            try DurableFiles.sync(folder: folder)
        } catch { throw .notWritten }
    }

    /// Returns the values; empty if there are none or they can't be read. Cuts overlong values, regardless of their writer.
    public func all() -> [String: String] {
        guard let bytes = try? DurableFiles.read(file, limit: Self.maximumFileByteCount + 1),
            let members = JSONReader.object(bytes, maximumByteCount: Self.maximumFileByteCount)
        else { return [:] }
        return members.compactMapValues { $0.string.map { TextTemplate.cut($0, to: Self.maximumValueByteCount) } }
    }

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }
    private var file: URL { folder.appending(path: "values.json") }

    private static let folderName = "values"
    private static let maximumCount = 64
    private static let maximumValueByteCount = 4_096
    private static let maximumFileByteCount = 65_536
}

/// Why values weren't written; the previous ones remain.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SharedValuesError: Error, Equatable, Sendable {
    /// There are more than 64 values.
    case tooMany
    /// A name isn't one that a placeholder can have.
    case badName
    /// A value is larger than 4,096 bytes.
    case tooLong(name: String)
    /// The values take more than 65,536 bytes of JSON in all.
    case tooMuch
    /// The disk is full, or the container doesn't exist.
    case notWritten
}
