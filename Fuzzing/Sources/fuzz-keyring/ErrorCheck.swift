import Foundation
import FuzzSupport
import PushKeyring

/// An error holds names and paths of the keyring, and the system's words; nothing that stands in a file.
func checkError(_ error: KeyringError) {
    demand(!error.description.isEmpty, "an error without words")
    switch error {
    case .exists(let name), .notFound(let name), .wrongKind(let name, _), .noSecret(let name), .notUsable(let name, _),
        .unconfirmed(let name), .nothingToConfirm(let name), .unverified(let name), .enrolled(let name):
        demand(names.contains(name.description), "an error about a name that nobody asked for")
    case .record, .challenge, .wrongSecret, .needsSecret, .backup: break
    case .damaged(let file), .altered(let file), .notSealed(let file), .sealMissing(let file): checkPath(file)
    case .sealChanged: fatalError("no seal was seen before")
    case .file(let file, let message):
        checkPath(file)
        demand(messages.contains(message), "an error with words of its own: \(message)")
    case .busy: fatalError("nobody else changes the keyring")
    case .outOfMemory: fatalError("no passphrase is asked for")
    }
}

private func checkPath(_ file: URL) {
    let path = file.path(percentEncoded: false)
    demand(path.hasPrefix(GoodKeyring.folder.path), "an error about \(path)")
    let rest = path.dropFirst(GoodKeyring.folder.path.count).drop { $0 == "/" }
    demand(paths.contains(String(rest)), "an error about \(path)")
}

private let names: Set<String> = [
    "phone", "watch", "newsroom", "root", "friend", "pal", "other", "nobody", "fresh", "renamed",
]
private let paths = Set(LaidFile.paths + ["", "private/watch.txt", "lock", "private/other.txt"])
private let messages = Set((1...133).map { String(cString: strerror($0)) }).union([
    "this is no regular file", "it is missing, and the secrets here are sealed: restore it from a backup",
    "it would have more than 262144 bytes",
])
