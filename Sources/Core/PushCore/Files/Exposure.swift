#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The reason why another user can read a secret file, or can change a file or replace it. Root is never such a user.
///
/// This is the one rule for secret files, and for folders whose files the programs trust. It's OpenSSH's for private keys
/// and for `~/.ssh` (StrictModes), extended to links.
package struct Exposure: Equatable, Sendable {
    package enum Kind: Sendable {
        /// It belongs to another user, who can change its mode and contents.
        case owner
        /// Its mode lets others read.
        case readers
        /// Its mode lets others write.
        case writers
    }

    package let kind: Kind
    /// The path of the exposed file, or of a folder or link that leads to it.
    package let path: String
    /// Whether the path leads to the file in question, rather than being its own.
    package let isAbove: Bool
    /// Whether root owns it, so that only root can correct its mode.
    private let isRoots: Bool

    private init(_ kind: Kind, _ path: [UInt8], isAbove: Bool, isRoots: Bool) {
        self.kind = kind
        self.path = TerminalText.printable(String(decoding: path, as: UTF8.self))
        self.isAbove = isAbove
        self.isRoots = isRoots && geteuid() != 0
    }

    /// Returns why an open file isn't secret, or isn't the one that its owner put at this path; nil for a pipe or device.
    ///
    /// The owner must be the user or root. Nobody else may read or write it, except that root may let a group read its file.
    /// Standard input has no path to check, because it was open before the program started.
    ///
    /// - Throws: the system's error if the path can't be followed.
    package static func ofSecret(_ descriptor: Int32, at path: String) throws(DurableFiles.Failure) -> Exposure? {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw DurableFiles.Failure(code: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { return nil }
        let path = Array(path.utf8)
        let mode = facts.st_mode & (facts.st_uid == geteuid() ? 0o077 : 0o027)
        let kind: Kind? =
            if !isTrusted(facts) { .owner } else if mode & 0o022 != 0 { .writers } else if mode != 0 { .readers } else {
                nil
            }
        if let kind { return Exposure(kind, path, isAbove: false, isRoots: facts.st_uid == 0) }
        return try onTheWay(to: path)
    }

    /// Returns why other users can put files into a folder, which makes its contents suspect; nil if they can't, or if the
    /// folder doesn't exist. A sticky folder isn't safe: anyone can be the first to create a file there.
    ///
    /// - Parameter isSharing: whether root may share the folder with its group; see ``DurableFiles/isSharedWithGroup(_:)``.
    /// - Throws: the system's error if the path can't be followed.
    package static func ofFolder(_ path: String, isSharing: Bool = false) throws(DurableFiles.Failure) -> Exposure? {
        let path = Array(path.utf8)
        if let exposure = try onTheWay(to: path) { return exposure }
        guard let facts = try facts(of: path, following: true) else { return nil }
        let isShared = isSharing && facts.st_uid == 0 && DurableFiles.isSharedWithGroup(facts)
        guard facts.st_mode & (isShared ? 0o002 : 0o022) != 0 else { return nil }
        return Exposure(.writers, path, isAbove: true, isRoots: facts.st_uid == 0)
    }

    /// Follows the absolute path from the root. Returns the first folder or link that another user could replace, or whose
    /// entries another user could; nil if there is none, or if the path ends early. The last folder's own entries don't count.
    ///
    /// In a sticky folder, users can't replace each other's files, as in `/tmp`. A group may write to a folder, since some
    /// systems give each user a group, and let it write (umask 002).
    private static func onTheWay(to path: [UInt8]) throws(DurableFiles.Failure) -> Exposure? {
        var steps: [[UInt8]] = []
        func add(_ path: [UInt8]) { steps += path.split(separator: slash).map(Array.init).reversed() }
        add(path)
        if path.first != slash {
            guard let current = DurableFiles.real(".") else { throw DurableFiles.Failure(code: errno) }
            add(current)
        }
        // In a user namespace without root, the folders of root, as of every other user, seem to belong to this one.
        let others: uid_t? = try facts(of: [slash], following: false)?.st_uid == unmapped ? unmapped : nil
        var place: [UInt8] = []
        var linkCount = 0
        while true {
            // Each turn has a folder in `place`; the root's is empty.
            guard let folder = try facts(of: place + [slash], following: false) else { return nil }
            guard isTrusted(folder) || folder.st_uid == others else {
                return Exposure(.owner, place.isEmpty ? [slash] : place, isAbove: true, isRoots: false)
            }
            guard let step = steps.popLast() else { return nil }
            guard folder.st_mode & 0o002 == 0 || folder.st_mode & sticky != 0 else {
                return Exposure(.writers, place.isEmpty ? [slash] : place, isAbove: true, isRoots: folder.st_uid == 0)
            }
            if step == Array(".".utf8) { continue }
            if step == Array("..".utf8) {
                place.removeLast(place.count - (place.lastIndex(of: slash) ?? 0))
                continue
            }
            let next = place + [slash] + step
            guard let facts = try facts(of: next, following: false) else { return nil }
            switch facts.st_mode & S_IFMT {
            case S_IFDIR: place = next
            case S_IFLNK:
                // A link to a descriptor: the file was opened before this program started.
                if next.starts(with: Array("/proc/".utf8)) { return nil }
                guard isTrusted(facts) || facts.st_uid == others else {
                    return Exposure(.owner, next, isAbove: true, isRoots: false)
                }
                linkCount += 1
                guard linkCount <= maximumLinkCount else { throw DurableFiles.Failure(code: ELOOP) }
                let target = try target(of: next)
                if target.first == slash { place = [] }
                add(target)
            default: return nil
            }
        }
    }

    private static func isTrusted(_ facts: stat) -> Bool { facts.st_uid == geteuid() || facts.st_uid == 0 }

    /// Returns nil if nothing exists there.
    private static func facts(of path: [UInt8], following: Bool) throws(DurableFiles.Failure) -> stat? {
        var facts = stat()
        let status = withPath(path) { following ? stat($0, &facts) : lstat($0, &facts) }
        if status == 0 { return facts }
        guard errno == ENOENT || errno == ENOTDIR else { throw DurableFiles.Failure(code: errno) }
        return nil
    }

    private static func target(of link: [UInt8]) throws(DurableFiles.Failure) -> [UInt8] {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = withPath(link) { readlink($0, &target, target.count) }
        guard count >= 0 else { throw DurableFiles.Failure(code: errno) }
        return target[..<count].map { UInt8(bitPattern: $0) }
    }

    /// A link's target isn't always UTF-8.
    private static func withPath<Answer>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Answer) -> Answer {
        (path.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { body($0.baseAddress!) }
    }

    private static let slash = UInt8(ascii: "/")
    /// S_ISVTX: in such a folder, a user can't remove or rename another user's files.
    private static let sticky: mode_t = 0o1000
    /// The number that Linux shows for the users who have none in this user namespace (user_namespaces(7)).
    private static let unmapped: uid_t = 65_534
    /// The system's limit.
    private static let maximumLinkCount = 40
}

extension Exposure: CustomStringConvertible {
    /// A clause for an operator about the file, "it", with the remedy.
    package var description: String {
        let action = kind == .readers ? "read" : "change"
        return switch (kind, isAbove) {
        case (.owner, false):
            geteuid() == 0
                ? "it belongs to another user; run the command as that user, or make root the owner (`chown`)"
                : "it belongs to another user; make this user or root the owner (`chown`)"
        case (.owner, true): "\(path) belongs to another user, who can replace it; use a folder of your own or root's"
        case (.writers, true):
            "other users can write to the folder \(path) and replace it; run `chmod go-w` on that folder, and check that the file is still yours"
        case _ where isRoots:
            "other users can \(action) it; root must run `chmod 640`, or a container mount its secrets with mode 0440 or 0400. Treat it as exposed"
        default: "other users can \(action) it; run `chmod 600`, and treat the secret as exposed"
        }
    }
}
