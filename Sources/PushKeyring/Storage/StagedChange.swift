internal import PushCrypto
internal import _PushBase

/// Files that are to be written and removed together, with what the audit log says about it.
struct StagedChange {
    struct File {
        let path: String
        fileprivate(set) var bytes: [UInt8]
        let mode: UInt16
    }

    private(set) var files: [File] = []
    /// Runs once the change is made, before anybody else may read the keyring.
    var afterCommit: (() -> Void)?

    var isEmpty: Bool { files.isEmpty }

    /// Takes the bytes over: they are wiped once they are on disk.
    mutating func write(_ path: String, _ bytes: consuming [UInt8], isSecret: Bool) {
        precondition(!bytes.isEmpty, "an empty file stands for a removal")
        set(File(path: path, bytes: bytes, mode: isSecret ? 0o600 : 0o644))
    }

    mutating func remove(_ path: String) { set(File(path: path, bytes: [], mode: 0o600)) }

    /// What is staged for a path: nil where nothing is, empty where it is to be removed.
    func staged(_ path: String) -> [UInt8]? { files.first { $0.path == path }?.bytes }

    private mutating func set(_ file: File) {
        files.removeAll { $0.path == file.path }
        files.append(file)
    }

    mutating func wipe() {
        for index in files.indices { _PushBase.wipe(&files[index].bytes) }
    }
}
