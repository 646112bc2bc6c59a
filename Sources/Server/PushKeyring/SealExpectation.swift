public import Foundation
internal import PushCore
internal import SealedPush

/// What is known of a keyring's seal from elsewhere than its folder, which somebody else may have written.
///
/// Whether a keyring is sealed stands in the folder itself, so whoever may write there could pass off another one that
/// is not sealed. Hence the notes, one for each keyring that was seen sealed, with its salt. The first time is believed,
/// and a change is refused: trust on first use, as with OpenSSH's `known_hosts`. A note is a file of mode 0600, named by
/// the keyring's real path. Where notes can't be written, none is kept. Reading one costs some microseconds. Safe from
/// several threads and processes, as the keyring's own lock is held meanwhile.
///
/// With a ``KeyringUnlocking/given(_:)`` secret nothing more is needed: a keyring that is not sealed is refused then.
public struct SealExpectation: Sendable {
    let isRequired: Bool
    private let notes: URL?

    /// - Parameters:
    ///   - isRequired: whether a keyring that is not sealed is refused.
    ///   - notes: the folder with the notes, made with the first one; nobody else may write there. Nil for none.
    public init(isRequired: Bool = false, notes: URL? = nil) {
        self.isRequired = isRequired
        self.notes = notes
    }

    /// As programs do: with the user's own notes, in `$XDG_STATE_HOME/sealedpush`, or else `~/.local/state/sealedpush`.
    ///
    /// Source: XDG Base Directory Specification, which ignores paths that are not absolute.
    ///
    /// - Parameter isRequired: nil for what `SEALED_PUSH_SEALED` in the environment demands, unless that is empty.
    public static func ofUser(isRequired: Bool? = nil) -> SealExpectation {
        func place(_ variable: String) -> URL? {
            // Not by ProcessInfo, which copies every variable, secrets too.
            guard let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") else { return nil }
            return URL(filePath: path)
        }
        let variable = getenv("SEALED_PUSH_SEALED")
        let state = place("XDG_STATE_HOME") ?? place("HOME")?.appending(path: ".local/state")
        return SealExpectation(
            isRequired: isRequired ?? variable.map { $0.pointee != 0 } ?? false,
            notes: state?.appending(path: "sealedpush"))
    }
}

extension SealExpectation {
    /// How a keyring is expected to be found: its salt, or `none` where it is not to be sealed.
    typealias Mark = String
    static let unsealed: Mark = "none"

    /// Where a keyring's note is, or would be; nil if none is kept, or there is no such keyring.
    func note(of keyring: URL) -> URL? {
        guard let notes, let path = DurableFiles.real(keyring.path(percentEncoded: false)) else { return nil }
        let name = Hex.encode(BLAKE2b.hash(Array(path.utf8), byteCount: 16))
        return notes.appending(path: name + ".txt")
    }

    /// What a note says: one mark, or two while the seal is being changed; none for a damaged note. Nil where there is no
    /// note, or it can't be read.
    static func marks(in note: URL) -> [Mark]? {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) { bytes = try DurableFiles.read(note, limit: 65_536) } catch {
            return error.code == EINVAL ? [] : nil
        }
        guard let file = TextFile(parsing: bytes), file.count == 1 else { return [] }
        return ["seal", "next"].compactMap { file.text($0, in: 0) }
    }

    /// Replaces a note, or takes it away where the keyring is not sealed.
    static func write(_ marks: [Mark], to note: URL, of keyring: URL) throws(DurableFiles.Failure) {
        guard marks != [unsealed] else {
            unlink(note.path(percentEncoded: false))
            return
        }
        var writer = TextFileWriter(capacity: 1_024)
        writer.comment("A keyring that was seen sealed. Delete this note if you have unsealed or replaced it yourself.")
        let path = keyring.path(percentEncoded: false)
        writer.field("keyring", TerminalText.printable(DurableFiles.real(path) ?? path))
        for (name, mark) in zip(["seal", "next"], marks) { writer.field(name, mark) }
        try KeyringFolder.makeFolder(note.deletingLastPathComponent(), mode: 0o700)
        try DurableFiles.replace(note, with: writer.bytes, mode: 0o600)
    }
}
