internal import Foundation
internal import PushCrypto
internal import SealedPush
internal import _PushBase

extension Vault {
    /// Throws where the keyring was seen sealed before, and is not as it was then.
    func requireNoted(_ text: [UInt8]?) throws(KeyringError) {
        guard let seen = expectation.seen, let note = seen.note(of: folder.url), let marks = seen.marks(in: note) else {
            return
        }
        let mark: SeenSeals.Mark
        if let text {
            // A damaged one is refused by whoever needs it.
            guard let seal = KeyringSeal(parsing: text) else { return }
            mark = seal.mark
        } else {
            mark = SeenSeals.unsealed
        }
        guard marks.contains(mark) else {
            throw .sealChanged(folder.url, isSealed: text != nil, note: note)
        }
        // A process was killed while it changed the seal.
        if marks.count > 1 { try? seen.write([mark], to: note, of: folder.url) }
    }

    /// Notes a keyring that was unlocked for the first time.
    func noteSeal(_ text: [UInt8]) {
        guard let seen = expectation.seen, let note = seen.note(of: folder.url), seen.marks(in: note) == nil,
            let seal = KeyringSeal(parsing: text)
        else { return }
        try? seen.write([seal.mark], to: note, of: folder.url)
    }

    /// Stages another `keyring.txt`, or its removal, so that the note follows: while the change is made, both seals count.
    func stage(
        _ seal: (seal: KeyringSeal, text: [UInt8])?, in staged: inout StagedChange
    ) throws(KeyringError) {
        if let seal {
            staged.write(KeyringSeal.path, seal.text, isSecret: false)
        } else {
            staged.remove(KeyringSeal.path)
        }
        guard let seen = expectation.seen, let note = seen.note(of: folder.url) else { return }
        let mark = seal?.seal.mark ?? SeenSeals.unsealed
        let folder = folder.url
        if let marks = seen.marks(in: note), let first = marks.first, first != mark {
            do throws(DurableFiles.Failure) { try seen.write([first, mark], to: note, of: folder) } catch {
                throw .file(note, message: error.message)
            }
        }
        staged.afterCommit = { try? seen.write([mark], to: note, of: folder) }
    }
}

/// When the names in a keyring's folders last changed, as the system has it: nobody can set these times.
struct FolderTimes: Equatable {
    private let times: [FileFacts.ChangeTime?]

    init(of folder: KeyringFolder) {
        times = ([folder.url] + KeyringFolder.subfolders.map(folder.file)).map {
            FileFacts(of: $0, following: true)?.changed
        }
    }
}
