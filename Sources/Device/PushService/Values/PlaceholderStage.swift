package import Foundation
internal import PushCore
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

/// A text with placeholders, `{{name}}` or `{{name|in its place}}`: parsed once, and filled once, so that nothing that is
/// filled in is read as a placeholder. Source: Specification 17.2.
struct Template: Hashable, Sendable {
    private let parts: [Part]

    private enum Part: Hashable, Sendable {
        case text(Substring)
        case placeholder(name: Substring, fallback: Substring?)
    }

    /// Any text; what is no placeholder stays as it is. One pass: costs time in proportion to its length.
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

    /// Nil where a placeholder has neither a value nor something in its place.
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

    /// At a grapheme's boundary, with an ellipsis.
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

    /// 1 to 64 of `A` to `Z`, `a` to `z`, digits, `.`, `-` and `_`.
    static func isName(_ name: some StringProtocol) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(\.isOfFileName)
    }
}

/// Texts that the app leaves in the shared container for its extension, by name: what a message shows and its server does
/// not know, such as the quote of the day or how the person calls a contact.
///
/// They never leave the device. One JSON file, replaced as a whole, so that an extension sees the values before or after a
/// change. It can be read from the first unlock after a restart on, also while the screen is locked: for nothing that a locked
/// screen must not show. At most 64 values, each with 4,096 bytes of UTF-8 at most, and 65,536 bytes of JSON in all. Names have 1 to 64 letters (A to Z), digits,
/// dots, hyphens and underscores. Safe from many threads; of two that write at once, one's values are there.
public struct SharedValues: Sendable {
    private let root: URL

    /// Nil where the system knows no such app group.
    public init?(container: SharedContainer) {
        guard let root = DeviceEnvironment.system.folder(container) else { return nil }
        self.init(in: root)
    }

    /// - Parameter root: the folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Puts these values in place of all that were there. Durable on return; some milliseconds.
    public func replaceAll(with values: [String: String]) throws(SharedValuesError) {
        guard values.count <= Self.maximumCount else { throw .tooMany }
        for (name, value) in values {
            guard Template.isName(name) else { throw .badName }
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

    /// What is there; empty where there is nothing, or nothing that reads. Whatever has written the file, no value is longer
    /// than it may be.
    public func all() -> [String: String] {
        guard let bytes = try? DurableFiles.read(file, limit: Self.maximumFileByteCount + 1),
            let members = JSONReader.object(bytes, maximumByteCount: Self.maximumFileByteCount)
        else { return [:] }
        return members.compactMapValues { $0.string.map { Template.cut($0, to: Self.maximumValueByteCount) } }
    }

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }
    private var file: URL { folder.appending(path: "values.json") }

    private static let folderName = "values"
    private static let maximumCount = 64
    private static let maximumValueByteCount = 4_096
    private static let maximumFileByteCount = 65_536
}

/// Why values were not written; those that were there still are.
public enum SharedValuesError: Error, Equatable, Sendable {
    /// More than 64.
    case tooMany
    /// A name that no placeholder can have.
    case badName
    /// More than 4,096 bytes.
    case tooLong(name: String)
    /// More than 65,536 bytes of JSON in all.
    case tooMuch
    /// The disk is full, or the container is not there.
    case notWritten
}
