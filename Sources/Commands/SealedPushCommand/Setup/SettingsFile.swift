internal import CommandSupport
internal import Foundation
internal import PushCore

/// The services' settings: lines of `NAME=value`, which systemd reads, too. Changing a value keeps all other lines.
///
/// Source: systemd.exec(5), `EnvironmentFile`. Of its quotes, only those around a whole value are understood.
struct SettingsFile {
    let path: String
    private var lines: [Substring]

    /// Starts a file that doesn't exist yet.
    init(new path: String, text: String) { (self.path, lines) = (path, Self.lines(of: text)) }

    /// Reads a file; returns nil if there is none.
    init?(at path: String) throws(CommandFailure) {
        guard try InputFile.exists(path) else { return nil }
        let bytes = try InputFile.read(path, limit: 65_536, isSetting: true)
        guard let text = String(strictUTF8: bytes) else { throw .input("\(path) isn't valid UTF-8") }
        (self.path, lines) = (path, Self.lines(of: text))
    }

    /// The value of a setting, without quotes around it; empty if there is none. A later line counts.
    subscript(name: Name) -> String {
        get {
            guard let line = place(of: name).map({ lines[$0] }) else { return "" }
            let value = line.dropFirst(name.rawValue.count + 1).trimmingCharacters(in: .whitespaces)
            for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
                return String(value.dropFirst().dropLast())
            }
            return value
        }
        set {
            let line = "\(name.rawValue)=\(newValue)"[...]
            if let place = place(of: name) { lines[place] = line } else { lines.append(line) }
        }
    }

    /// The words of a setting with options.
    ///
    /// - Throws: a failure if it has quotes or backslashes, which only systemd understands.
    func options(_ name: Name) throws(CommandFailure) -> [String] {
        let value = self[name]
        guard !value.contains(where: { "\"'\\".contains($0) }) else {
            throw .input("\(path): \(name.rawValue) must have no quotes or backslashes")
        }
        return value.split(separator: " ").map(String.init)
    }

    var text: String { lines.map { $0 + "\n" }.joined() }

    enum Name: String {
        case sender = "SENDER"
        case topic = "TOPIC"
        case appleKey = "APNS_KEY"
        case outbox = "OUTBOX"
        case serveOptions = "SERVE_OPTIONS"
        case workOptions = "WORK_OPTIONS"
    }

    private func place(of name: Name) -> Int? { lines.lastIndex { $0.hasPrefix("\(name.rawValue)=") } }

    private static func lines(of text: String) -> [Substring] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
