package import Foundation
internal import PushService

/// What a person sees who expands a notification. Travels as JSON from the content extension's process.
package struct ShownExpansion: Codable, Equatable, Sendable {
    /// Whether it is the system's own view: no extension of the app's is for this category, or none was able to.
    package var isSystem = true
    /// The height at first, in widths.
    package var initialSizeRatio = 1.0
    /// Whether title and body are left out above.
    package var hidesDefaultContent = false
    package var rows: [Row] = []
    package var actions: [Action] = []
    /// What followed an action: `show`, `dismiss`, `forward`; nil where there was none.
    package var answer: String?
    /// Why it is the system's own view, where the app has one.
    package var note: String?

    package struct Row: Codable, Equatable, Sendable {
        /// `heading`, `text`, `facts`, `picture` or `player`.
        package var kind: String
        /// Of a heading or text.
        package var text: String?
        /// Name and value by turns.
        package var facts: [String]?
        /// Of a picture or player: in the device's own data store.
        package var file: URL?
        package var attachment: String?
    }

    package struct Action: Codable, Equatable, Sendable {
        package var identifier: String
        package var title: String
        package var isDestructive: Bool
        package var needsUnlock: Bool
        package var opensApp: Bool
        /// What the empty field shows, where a person types something first.
        package var placeholder: String?
    }

    /// As the system expands a notification by itself: the pictures large, title and body above.
    init(system shown: ShownNotification, note: String? = nil) {
        self.note = note
        rows = shown.attachments.map { attachment in
            Row(
                kind: attachment.kind == .image ? "picture" : "player", file: attachment.file,
                attachment: attachment.identifier)
        }
    }

    init(_ view: any ExpandedView, rows: [ExpandedRow]) {
        isSystem = false
        // Anything else means the system's default height.
        initialSizeRatio = view.initialSizeRatio > 0 ? min(view.initialSizeRatio, 10) : 1
        hidesDefaultContent = view.hidesDefaultContent
        self.rows = rows.map { Row($0) }
        actions = view.actions.map { Action($0) }
    }

    /// One object for `--json`.
    var jsonObject: [String: Any] {
        [
            "system": isSystem, "initialSizeRatio": initialSizeRatio, "hidesDefaultContent": hidesDefaultContent,
            "rows": rows.map(\.jsonObject), "actions": actions.map(\.jsonObject), "answer": answer ?? NSNull(),
            "note": note ?? NSNull(),
        ]
    }
}

extension ShownExpansion.Row {
    fileprivate init(_ row: ExpandedRow) {
        switch row {
        case .heading(let text): self.init(kind: "heading", text: text)
        case .text(let text): self.init(kind: "text", text: text)
        case .facts(let facts): self.init(kind: "facts", facts: facts.flatMap { [$0.name, $0.value] })
        case .picture(let attachment):
            self.init(kind: "picture", file: attachment.file, attachment: attachment.identifier)
        case .player(let attachment):
            self.init(kind: "player", file: attachment.file, attachment: attachment.identifier)
        }
    }

    fileprivate var jsonObject: [String: Any] {
        var object: [String: Any] = ["kind": kind]
        object["text"] = text
        object["facts"] = facts
        object["file"] = file?.path(percentEncoded: false)
        object["attachment"] = attachment
        return object
    }
}

extension ShownExpansion.Action {
    fileprivate init(_ action: ExpandedAction) {
        self.init(
            identifier: action.identifier, title: action.title, isDestructive: action.isDestructive,
            needsUnlock: action.needsUnlock, opensApp: action.opensApp, placeholder: action.textInput?.placeholder)
    }

    fileprivate var jsonObject: [String: Any] {
        [
            "identifier": identifier, "title": title, "destructive": isDestructive, "needsUnlock": needsUnlock,
            "opensApp": opensApp, "textInput": placeholder ?? NSNull(),
        ]
    }
}
