import Foundation
import TestPrograms
import TestSupport

/// The calls by which a program changes files, in order, as strace(1) sees them.
struct SystemCallTrace {
    let calls: [Call]
    let status: Int32

    struct Call: CustomStringConvertible {
        let name: String
        /// Its place among all calls of this name, from 1.
        let number: Int
        /// Decoded texts among the arguments: paths, and bytes that are written.
        let texts: [[UInt8]]
        /// The arguments as they stand, without texts.
        let words: String
        let result: Int

        var paths: [String] { texts.map { String(decoding: $0, as: UTF8.self) } }
        /// The first argument, where it is a number.
        var descriptor: Int? { Int(words.prefix { $0.isNumber }) }
        var description: String { "\(name) #\(number)" }
    }

    /// Whether a process may be traced here: strace is there, and the system lets it.
    static let isPossible: Bool = {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"),
            let result = try? Program(at: "/usr/bin/strace").run([
                "-f", "--seccomp-bpf", "-qq", "-e", "trace=execve", "/bin/true",
            ])
        else { return false }
        return result.status == 0
    }()

    /// Runs `sealedpush` to its end.
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

    /// The address sanitizer's search for leaks would trace the process itself, and fail.
    static let noLeakCheck = ["-E", "ASAN_OPTIONS=detect_leaks=0"]

    static let names = [
        "mkdir", "open", "openat", "write", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink",
        "unlinkat",
        "rmdir", "link", "linkat", "ftruncate", "flock", "close", "pwrite64", "writev", "truncate", "symlink", "chmod",
        "fchmod", "mkdirat", "creat", "copy_file_range", "sendfile",
    ]
}

extension SystemCallTrace.Call {
    /// `1234  rename("\x2f…", "\x2f…") = 0`; nil for what is no call.
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

    /// `\x2f\x74`
    private static func bytes(_ text: Substring) -> [UInt8] {
        text.split(separator: "\\x").compactMap { UInt8($0, radix: 16) }
    }
}
