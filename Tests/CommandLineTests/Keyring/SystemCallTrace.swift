import Foundation
import TestPrograms
import TestSupport
import Testing

/// The system calls with which a program changes files, in order, as recorded by strace(1).
struct SystemCallTrace {
    let calls: [Call]
    let status: Int32

    struct Call: CustomStringConvertible {
        let name: String
        /// Its number among all calls of this name, starting from 1.
        let number: Int
        /// The decoded strings among the arguments: paths and written bytes.
        let texts: [[UInt8]]
        /// The arguments as recorded, without strings.
        let words: String
        let result: Int

        var paths: [String] { texts.map { String(decoding: $0, as: UTF8.self) } }
        /// The access rights, if they are the last argument; the programs' umask leaves an owner's rights alone.
        var mode: Int? { words.split(separator: ",").last.flatMap { Int($0.trimmed, radix: 8) } }
        /// The first argument, if it's a number.
        var descriptor: Int? { Int(words.prefix { $0.isNumber }) }
        var description: String { "\(name) #\(number)" }
    }

    /// Runs `sealedpush` to completion.
    init(_ arguments: [String]) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let log = folder.appending("trace")
        let result = try Program(at: "/usr/bin/strace").run(
            [
                "-f", "--seccomp-bpf", "-qq", "-xx", "-s", "1000000", "-e",
                "trace=\(Self.names.joined(separator: ","))", "-o", log.path,
            ] + Self.noLeakCheck + [Program("sealedpush").executable.path] + arguments)
        status = result.status
        var counts: [String: Int] = [:]
        calls = try Checkout.text(log).split(separator: "\n").compactMap { Call($0, counts: &counts) }
    }

    /// Turns off the address sanitizer's leak check, which would trace the process itself and fail.
    static let noLeakCheck = ["-E", "ASAN_OPTIONS=detect_leaks=0"]

    static let names = [
        "mkdir", "open", "openat", "write", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink",
        "unlinkat",
        "rmdir", "link", "linkat", "ftruncate", "flock", "close", "pwrite64", "writev", "truncate", "symlink", "chmod",
        "fchmod", "mkdirat", "creat", "copy_file_range", "sendfile",
    ]
}

extension SystemCallTrace.Call {
    /// Parses a line such as `1234  rename("\x2f…", "\x2f…") = 0`. Returns nil if the line isn't a call.
    fileprivate init?(_ line: Substring, counts: inout [String: Int]) {
        let rest = line.drop { $0.isNumber || $0 == " " }
        guard let open = rest.firstIndex(of: "("), let equals = rest.range(of: ") ", options: .backwards) else {
            return nil
        }
        name = String(rest[..<open])
        guard SystemCallTrace.names.contains(name) else { return nil }
        var texts: [[UInt8]] = []
        var words = ""
        for (index, part) in rest[rest.index(after: open)..<equals.lowerBound].split(
            separator: "\"", omittingEmptySubsequences: false
        ).enumerated() {
            if index % 2 == 0 { words += part } else { texts.append(Self.bytes(part)) }
        }
        self.texts = texts
        self.words = words
        let after = rest[equals.upperBound...].drop { $0 == " " || $0 == "=" }
        result = Int(after.prefix { $0 == "-" || $0.isNumber }) ?? -1
        counts[name, default: 0] += 1
        number = counts[name] ?? 1
    }

    /// Decodes text such as `\x2f\x74`.
    private static func bytes(_ text: Substring) -> [UInt8] {
        text.split(separator: "\\x").compactMap { UInt8($0, radix: 16) }
    }
}

/// A model of a folder on disk: the state that programs see, and the state that a power loss would leave.
///
/// The calls of a traced process are replayed on it one by one. A file's bytes are durable once it's synced, and a folder's
/// names once the folder is synced. A file system may keep more than that, so two extremes are modeled.
final class FileSystemModel {
    private final class Node {
        var bytes: [UInt8]
        var lastingBytes: [UInt8]
        /// The access rights.
        var mode: Int
        /// The folder's entries; nil for a file.
        var names: [String: Node]?
        var lastingNames: [String: Node] = [:]

        init(bytes: [UInt8] = [], mode: Int) {
            self.bytes = bytes
            lastingBytes = []
            self.mode = mode
        }

        init(names: [String: Node], mode: Int) {
            bytes = []
            lastingBytes = []
            self.names = names
            self.mode = mode
        }
    }

    /// A state of the disk.
    enum View: CaseIterable {
        /// The state that other processes see, and that a killed process leaves.
        case seen
        /// Names in the order in which they changed, as a journal keeps them, but only synced bytes.
        case ordered
        /// Only synced names and bytes.
        case synced
    }

    private let place: String
    private let root: Node
    private var opened: [Int: Node] = [:]

    /// Creates a model of a folder, all of whose contents count as synced.
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
                let node = Node(bytes: [UInt8](try Data(contentsOf: file)), mode: try mode(of: file))
                node.lastingBytes = node.bytes
                names[name] = node
            }
        }
        let node = Node(names: names, mode: try mode(of: folder))
        node.lastingNames = names
        return node
    }

    private static func mode(of file: URL) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int)
    }

    /// Replays a call. Returns false if it doesn't change the folder.
    func play(_ call: SystemCallTrace.Call) throws -> Bool {
        guard call.result >= 0 else { return false }
        let paths = call.paths.compactMap(inner)
        switch call.name {
        case "open", "openat":
            guard let path = paths.last else { return false }
            let isNew = find(path) == nil
            if isNew { try set(path, Node(mode: try #require(call.mode))) }
            opened[call.result] = find(path)
            return isNew
        case "close":
            if let descriptor = call.descriptor { opened[descriptor] = nil }
            return false
        case "write":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            // Every file here is written from its start or appended to.
            node.bytes += call.texts.last?.prefix(call.result) ?? []
        case "ftruncate":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            node.bytes.removeLast(node.bytes.count - (Int(call.words.split(separator: ",").last!.trimmed) ?? 0))
        case "fsync":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            node.lastingBytes = node.bytes
            node.lastingNames = node.names ?? [:]
        case "fchmod":
            guard let node = call.descriptor.flatMap({ opened[$0] }) else { return false }
            node.mode = try #require(call.mode)
        case "flock": return false
        default: return try playNames(call, paths)
        }
        return true
    }

    private func playNames(_ call: SystemCallTrace.Call, _ paths: [String]) throws -> Bool {
        switch call.name {
        case _ where paths.isEmpty: return false
        case "mkdir": try set(paths[0], Node(names: [:], mode: try #require(call.mode)))
        case "unlink", "rmdir": try set(paths[0], nil)
        case "rename", "link":
            guard paths.count == 2, let node = find(paths[0]) else { throw Unknown(call: call.description) }
            try set(paths[1], node)
            if call.name == "rename" { try set(paths[0], nil) }
        default: throw Unknown(call: call.description)
        }
        return true
    }

    /// A call that this model doesn't support.
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
            try FileManager.default.setAttributes([.posixPermissions: node.mode], ofItemAtPath: file.path)
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
