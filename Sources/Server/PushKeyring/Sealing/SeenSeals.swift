public import Foundation
internal import PushCore
internal import SealedPush

/// Which keyrings a person has seen sealed, and with which salts: a note for each, outside its folder.
///
/// Whether a keyring is sealed stands in the folder itself, so whoever may write there could pass off another one, that is
/// not sealed. The first time is believed, and a change is refused: trust on first use, as with OpenSSH's `known_hosts`.
/// A note is a file of mode 0600, named by the keyring's real path. Where notes can't be written, none is kept. Reading one
/// costs some microseconds. Safe from several threads and processes, as the keyring's own lock is held meanwhile.
public struct SeenSeals: Sendable {
    private let folder: URL

    /// - Parameter folder: made with the first note; nobody else may write there.
    public init(folder: URL) { self.folder = folder }

    /// `$XDG_STATE_HOME/sealedpush`, else `~/.local/state/sealedpush`; nil where neither place is known.
    ///
    /// Source: XDG Base Directory Specification, which ignores paths that are not absolute.
    public static func ofUser() -> SeenSeals? {
        func place(_ variable: String) -> URL? {
            // Not by ProcessInfo, which copies every variable, secrets too.
            guard let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") else { return nil }
            return URL(filePath: path)
        }
        let state = place("XDG_STATE_HOME") ?? place("HOME")?.appending(path: ".local/state")
        return state.map { SeenSeals(folder: $0.appending(path: "sealedpush")) }
    }
}

extension SeenSeals {
    /// How a keyring is expected to be found: its salt, or `none` where it is not to be sealed.
    typealias Mark = String
    static let unsealed: Mark = "none"

    /// Where a keyring's note is, or would be; nil where there is no such keyring.
    func note(of keyring: URL) -> URL? {
        guard let path = Self.realPath(of: keyring) else { return nil }
        let name = Hex.encode(BLAKE2b.hash(Array(path.utf8), byteCount: 16))
        return folder.appending(path: name + ".txt")
    }

    /// What a note says: one mark, or two while the seal is being changed; none for a damaged note. Nil where there is no
    /// note, or it can't be read.
    func marks(in note: URL) -> [Mark]? {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) { bytes = try DurableFiles.read(note, limit: 65_536) } catch {
            return error.code == EINVAL ? [] : nil
        }
        guard let file = TextFile(parsing: bytes), file.count == 1 else { return [] }
        return ["seal", "next"].compactMap { file.text($0, in: 0) }
    }

    /// Replaces a note, or takes it away where the keyring is not sealed.
    func write(_ marks: [Mark], to note: URL, of keyring: URL) throws(DurableFiles.Failure) {
        guard marks != [Self.unsealed] else {
            unlink(note.path(percentEncoded: false))
            return
        }
        var writer = TextFileWriter(capacity: 1_024)
        writer.comment("A keyring that was seen sealed. Delete this note if you have unsealed or replaced it yourself.")
        let path = Self.realPath(of: keyring) ?? keyring.path(percentEncoded: false)
        writer.field("keyring", TerminalText.printable(path))
        for (name, mark) in zip(["seal", "next"], marks) { writer.field(name, mark) }
        try KeyringFolder.makeFolder(folder, mode: 0o700)
        try DurableFiles.replace(note, with: writer.bytes, mode: 0o600)
    }

    /// Without links and dots; nil where there is nothing.
    private static func realPath(of file: URL) -> String? {
        guard let path = realpath(file.path(percentEncoded: false), nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}

/// What is known of a keyring's seal from elsewhere than its folder, which somebody else may have written.
///
/// With a ``KeyringUnlocking/given(_:)`` secret nothing more is needed: a keyring that is not sealed is refused then.
public struct SealExpectation: Sendable {
    /// Whether a keyring that is not sealed is refused.
    public var isRequired: Bool
    /// Where it is noted that a keyring was seen sealed; nil for nowhere.
    public var seen: SeenSeals?

    public init(isRequired: Bool = false, seen: SeenSeals? = nil) {
        self.isRequired = isRequired
        self.seen = seen
    }

    /// As programs do: the user's own notes, and `SEALED_PUSH_SEALED` in the environment, which demands a seal unless it is
    /// empty.
    public static func ofUser(isRequired: Bool = false) -> SealExpectation {
        let variable = getenv("SEALED_PUSH_SEALED")
        return SealExpectation(
            isRequired: isRequired || variable.map { $0.pointee != 0 } ?? false, seen: SeenSeals.ofUser())
    }
}
