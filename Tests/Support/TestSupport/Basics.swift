public import Foundation
internal import PushCore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Values that several threads collect.
public final class Collected<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])

    public init() {}

    public func add(_ value: Value) { values.withLock { $0.append(value) } }

    public var all: [Value] { values.withLock { $0 } }
}

/// Makes this process die at once if it traps, without a backtrace that takes seconds; for exit tests.
package func dieQuietly() {
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT] { signal(number, SIG_DFL) }
}

/// Returns the CPU time that this thread spends in `body`, however busy the machine is.
public func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = ownProcessorTime()
    try body()
    return ownProcessorTime() - start
}

private func ownProcessorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}

/// Text of every kind: all scripts, emoji sequences, right-to-left text, escapes, controls, and combining marks.
public struct RandomText {
    private static let pieces: [String] = [
        "a", "Z", "9", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7f}", "é", "e\u{301}", "ß", "ñ", "Ж", "λ", "ק",
        "שלום",
        "مرحبا", "\u{202e}", "नमस्ते", "ไทย", "한", "漢字", "、", "👍", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{2028}", "\u{feff}",
        "\u{10ffff}", "z\u{335}\u{336}\u{337}", "%", "%@", "%%", "<", "&", "\u{0}",
    ]

    public static func make(pieceCount: Int, using random: inout SeededGenerator) -> String {
        (0..<pieceCount).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}

/// Repeatable random numbers: the seed is printed, and `SEED` in the environment sets it.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// Creates the generator of a test, whose name is part of the printed line.
    public init(for test: String = #function) {
        let given = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("\(test): SEED=\(seed)")
        self.init(seed: seed)
    }

    /// SplitMix64.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// The extent of slow tests: a sample, or everything with `Scripts/test --thorough`, which sets `THOROUGH=1`.
public enum Thoroughness {
    public static let isThorough = ProcessInfo.processInfo.environment["THOROUGH"] == "1"

    /// Returns the length of a series.
    public static func count(_ plain: Int, thorough: Int) -> Int { isThorough ? thorough : plain }

    /// Returns the distance between the steps of a walk: one if all of them are taken.
    public static func stride(_ plain: Int) -> Int { isThorough ? 1 : plain }

    /// Returns the walk's first and last element and enough random ones between them to make `plain`, in order; or the whole
    /// walk if thorough.
    public static func sample<Element>(
        _ plain: Int, of walk: [Element], using random: inout SeededGenerator
    ) -> [Element] {
        guard !isThorough, plain < walk.count, plain >= 2 else { return walk }
        let between = walk.indices.dropFirst().dropLast().shuffled(using: &random).prefix(plain - 2)
        return ([0] + between.sorted() + [walk.count - 1]).map { walk[$0] }
    }

    /// Returns the same with its own seed, which is printed.
    public static func sample<Element>(_ plain: Int, of walk: [Element]) -> [Element] {
        var random = SeededGenerator()
        return sample(plain, of: walk, using: &random)
    }
}

/// A folder that is removed after the test.
public final class TemporaryFolder: Sendable {
    public let url: URL

    /// - Parameter inMemory: whether to use memory, if the system offers it: for tests that write and sync a lot.
    public init(inMemory: Bool = false) throws {
        let isThere = inMemory && FileManager.default.isWritableFile(atPath: "/dev/shm")
        let place = URL(filePath: isThere ? "/dev/shm" : NSTemporaryDirectory())
        url = place.appending(path: "sealed-push-\(UUID().uuidString)")
        // Accessible only to its owner, whatever the umask: such folders contain files that must be safe from other users.
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    public var path: String { url.path(percentEncoded: false) }

    public func appending(_ name: String) -> URL { url.appending(path: name) }

    /// Writes a file that only its owner can read, and returns its path.
    @discardableResult public func write(_ text: String, to name: String) throws -> String {
        let file = appending(name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return file.path(percentEncoded: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// The project's own files.
public enum Checkout {
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns all files with this suffix below a folder of the checkout, sorted. Excludes build products, even if the
    /// checkout itself is inside another package's build folder.
    public static func files(in path: String, ending suffix: String) throws -> [URL] {
        let root = folder.appending(path: path)
        guard let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else { return [] }
        return walker.compactMap { $0 as? URL }.filter { file in
            let below = file.pathComponents.dropFirst(folder.pathComponents.count)
            return file.lastPathComponent.hasSuffix(suffix) && !below.contains(".build")
        }.sorted { $0.path < $1.path }
    }

    /// Returns every file below a folder, whatever its name.
    public static func allFiles(in folder: URL) throws -> [URL] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        guard let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys) else {
            return []
        }
        return try walker.compactMap { $0 as? URL }.filter {
            try $0.resourceValues(forKeys: Set(keys)).isRegularFile == true
        }
    }

    public static func text(_ file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }
}
