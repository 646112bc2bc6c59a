package import Foundation

/// The view of an expanded notification. Sent as JSON from the content extension's process.
package struct ShownExpansion: Codable, Equatable, Sendable {
    /// Whether this is the system's own view, because the app has none for the category or its view failed.
    package var isSystem = true
    package var rows: [Row]
    /// The reason for using the system's own view even though the app has one.
    package var note: String?

    /// A line of text, or an attachment's file in the device's own data store.
    package struct Row: Codable, Equatable, Sendable {
        package var text: String?
        package var file: URL?
    }

    var jsonObject: [String: Any] {
        let rows = rows.map { ["text": $0.text, "file": $0.file?.path(percentEncoded: false)].compactMapValues { $0 } }
        return ["system": isSystem, "rows": rows, "note": note ?? NSNull()]
    }
}
