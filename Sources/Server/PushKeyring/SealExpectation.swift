public import Foundation
internal import PushCore
internal import SealedPush

/// The expected state of a keyring's seal, stored outside its folder.
///
/// The folder itself determines whether a keyring is sealed, so anyone who can write to it could substitute an unsealed
/// keyring. To prevent that, a note with the salt is kept for each keyring that was seen sealed. The first seal is trusted,
/// and a change is rejected: trust on first use, like OpenSSH's `known_hosts`. A note is a file of mode 0600, named after
/// the keyring's real path. If notes can't be written, none are kept. Reading one takes microseconds. Safe across threads
/// and processes, because the keyring's own lock is held.
///
/// With a ``KeyringUnlocking/given(_:)`` secret, no note is needed, because an unsealed keyring is then rejected anyway.
public struct SealExpectation: Sendable {
    let isRequired: Bool
    private let notes: URL?

    /// - Parameters:
    ///   - isRequired: Whether to reject a keyring that isn't sealed.
    ///   - notes: The folder for notes, or nil for none. It's created with the first note. No other user may have write access.
    public init(isRequired: Bool = false, notes: URL? = nil) {
        self.isRequired = isRequired
        self.notes = notes
    }

    /// Returns the expectation that programs use, with notes in `$XDG_STATE_HOME/sealedpush` or `~/.local/state/sealedpush`.
    /// Source: XDG Base Directory Specification, which ignores paths that aren't absolute.
    ///
    /// - Parameter isRequired: Whether to reject unsealed keyrings, or nil to do so if `SEALED_PUSH_SEALED` isn't empty.
    public static func ofUser(isRequired: Bool? = nil) -> SealExpectation {
        func place(_ variable: String) -> URL? {
            // Doesn't use ProcessInfo, because it copies every variable, including secrets.
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
    /// The expected state of a keyring: its salt, or `none` if it shouldn't be sealed.
    typealias Mark = String
    static let unsealed: Mark = "none"

    /// Returns the location of a keyring's note, or nil if none is kept or the keyring doesn't exist.
    func note(of keyring: URL) -> URL? {
        guard let notes, let path = DurableFiles.real(keyring.path(percentEncoded: false)) else { return nil }
        let name = Hex.encode(BLAKE2b.hash(path, byteCount: 16))
        return notes.appending(path: name + ".txt")
    }

    /// Returns a note's marks: one, two while the seal is changing, or none if it's damaged. Nil if there's no readable note.
    static func marks(in note: URL) -> [Mark]? {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) { bytes = try DurableFiles.read(note, limit: 65_536) } catch {
            return error.code == EINVAL ? [] : nil
        }
        guard let file = TextFile(parsing: bytes), file.count == 1 else { return [] }
        return ["seal", "next"].compactMap { file.text($0, in: 0) }
    }

    /// Replaces a note, or removes it if the keyring isn't sealed.
    static func write(_ marks: [Mark], to note: URL, of keyring: URL) throws(DurableFiles.Failure) {
        guard marks != [unsealed] else {
            unlink(note.path(percentEncoded: false))
            return
        }
        var writer = TextFileWriter(capacity: 1_024)
        writer.comment("This keyring was sealed. If you unsealed or replaced it yourself, delete this note.")
        let path = keyring.path(percentEncoded: false)
        let shown = DurableFiles.real(path).map { String(decoding: $0, as: UTF8.self) }
        writer.field("keyring", TerminalText.printable(shown ?? path))
        for (name, mark) in zip(["seal", "next"], marks) { writer.field(name, mark) }
        try KeyringFolder.makeFolder(note.deletingLastPathComponent(), mode: 0o700)
        try DurableFiles.replace(note, with: writer.bytes, mode: 0o600)
    }
}
