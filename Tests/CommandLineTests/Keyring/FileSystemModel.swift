import Foundation
import TestSupport

/// A folder as a disk keeps it: what programs see, and what a loss of power would leave of that.
///
/// The calls of a traced process are played back on it, one by one. A file's bytes last once it was synced, a folder's
/// names once the folder was; a file system may keep more than that, and in between, so two extremes are looked at.
final class FileSystemModel {
    private final class Node {
        var bytes: [UInt8]
        var lastingBytes: [UInt8]
        /// Nil for a file.
        var names: [String: Node]?
        var lastingNames: [String: Node] = [:]

        init(bytes: [UInt8] = []) {
            self.bytes = bytes
            lastingBytes = []
        }

        init(names: [String: Node]) {
            bytes = []
            lastingBytes = []
            self.names = names
        }
    }

    /// Which of the disk's states is meant.
    enum View: CaseIterable {
        /// What other processes see; what a killed process leaves.
        case seen
        /// Names in the order in which they changed, as a journal keeps them, and only bytes that were synced.
        case ordered
        /// Only what was synced.
        case synced
    }

    private let place: String
    private let root: Node
    private var opened: [Int: Node] = [:]

    /// Takes in a folder as it lies on the disk for good.
    init(of folder: URL) throws {
        place = folder.path + "/"
        root = try Self.node(of: folder)
    }

    private static func node(of folder: URL) throws -> Node {
        var names: [String: Node] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: name)
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            if isFolder.boolValue {
                names[name] = try node(of: file)
            } else {
                let node = Node(bytes: [UInt8](try Data(contentsOf: file)))
                node.lastingBytes = node.bytes
                names[name] = node
            }
        }
        let node = Node(names: names)
        node.lastingNames = names
        return node
    }

    /// Plays a call back; false where it concerns other files.
    func play(_ call: SystemCallTrace.Call) throws -> Bool {
        guard call.result >= 0 else { return false }
        let paths = call.paths.compactMap(inner)
        switch call.name {
        case "open", "openat":
            guard let path = paths.last else { return false }
            let isNew = find(path) == nil
            if isNew { try set(path, Node()) }
            opened[call.result] = find(path)
            return isNew
        case "close":
            if let descriptor = call.descriptor { opened[descriptor] = nil }
            return false
        case "write":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            // Every file here is written from its start, or appended to.
            node.bytes += call.texts.last?.prefix(call.result) ?? []
        case "ftruncate":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            node.bytes.removeLast(node.bytes.count - (Int(call.words.split(separator: ",").last!.trimmed) ?? 0))
        case "fsync":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            node.lastingBytes = node.bytes
            node.lastingNames = node.names ?? [:]
        case "flock": return false
        default: return try playNames(call, paths)
        }
        return true
    }

    private func playNames(_ call: SystemCallTrace.Call, _ paths: [String]) throws -> Bool {
        switch call.name {
        case _ where paths.isEmpty: return false
        case "mkdir": try set(paths[0], Node(names: [:]))
        case "unlink", "rmdir": try set(paths[0], nil)
        case "rename", "link":
            guard paths.count == 2, let node = find(paths[0]) else { throw Unknown(call: call.description) }
            try set(paths[1], node)
            if call.name == "rename" { try set(paths[0], nil) }
        default: throw Unknown(call: call.description)
        }
        return true
    }

    /// A call that this model does not know.
    struct Unknown: Error { let call: String }

    /// Writes one of the states into an empty folder.
    func write(_ view: View, to folder: URL) throws { try write(root, view, to: folder) }

    private func write(_ node: Node, _ view: View, to folder: URL) throws {
        for (name, node) in view == .synced ? node.lastingNames : node.names ?? [:] {
            let file = folder.appending(path: name)
            if node.names == nil {
                try Data(view == .seen ? node.bytes : node.lastingBytes).write(to: file)
            } else {
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
                try write(node, view, to: file)
            }
        }
    }

    private func inner(_ path: String) -> String? {
        if path + "/" == place { return "" }
        return path.hasPrefix(place) ? String(path.dropFirst(place.count)) : nil
    }

    private func find(_ path: String) -> Node? {
        path.split(separator: "/").reduce(Optional(root)) { $0?.names?[String($1)] }
    }

    private func set(_ path: String, _ node: Node?) throws {
        let words = path.split(separator: "/").map(String.init)
        guard let name = words.last, let folder = find(words.dropLast().joined(separator: "/")), folder.names != nil
        else { throw Unknown(call: path) }
        folder.names?[name] = node
    }
}

extension Substring { fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) } }
