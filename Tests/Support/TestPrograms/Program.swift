public import Foundation
package import PushSimulator
public import TestSupport

/// Runs a built program and returns its output.
public struct Program: Sendable {
    public let executable: URL
    private let folder: URL?

    /// Keeps the notes about the tests' keyrings out of the user's own state folder.
    package static let withoutNotes = ["XDG_STATE_HOME": "/dev/null"]

    /// A program of this package, from the folder of the tests' own program.
    public init(_ name: String, in folder: URL? = nil) {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        executable = tests.deletingLastPathComponent().appending(path: name)
        self.folder = folder
    }

    public init(at path: String, in folder: URL? = nil) {
        executable = URL(filePath: path)
        self.folder = folder
    }

    /// Thrown if a test waits for a process on a thread that all tasks share, which other tests need.
    public struct BlocksSharedThread: Error, CustomStringConvertible {
        public let description = "A test that waits for a process needs the trait .blocking."
    }

    /// Thrown if a program was killed because it hadn't ended after half an hour.
    public struct Hangs: Error { public let words: [String] }

    public struct Result: Sendable {
        public let status: Int32
        public let output: String
        public let errors: String

        /// The lines of the output as JSON objects; other lines are left out.
        public var objects: [[String: Any]] {
            output.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
        }

        public var trimmed: String { output.trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    /// Runs the program to its end, with `input` as standard input.
    public func run(_ arguments: String..., input: String = "") throws -> Result { try run(arguments, input: input) }

    /// - Parameter environment: Variables that are added to the tests' own, which keep no notes about keyrings.
    public func run(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Result {
        let scratch = try TemporaryFolder()
        let inputPath = try scratch.write(input, to: "input")
        let outputPath = try scratch.write("", to: "output")
        let errorsPath = try scratch.write("", to: "errors")
        let process = try start(
            arguments, input: FileHandle(forReadingFrom: URL(filePath: inputPath)),
            output: FileHandle(forWritingTo: URL(filePath: outputPath)),
            errors: FileHandle(forWritingTo: URL(filePath: errorsPath)), environment: environment)
        // The last resort against a test that hangs.
        let end = ContinuousClock.now + .seconds(1_800)
        var pause: UInt32 = 1_000
        while !process.hasEnded {
            guard ContinuousClock.now < end else {
                process.kill()
                throw Hangs(words: [executable.lastPathComponent] + arguments)
            }
            usleep(pause)
            pause = min(pause + pause / 8, 20_000)
        }
        let ending = process.wait()
        return Result(
            status: ending.status,
            output: String(decoding: try Data(contentsOf: URL(filePath: outputPath)), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: URL(filePath: errorsPath)), as: UTF8.self))
    }

    /// Starts the program without waiting for it. By default, its output is discarded. It doesn't inherit the tests' sockets,
    /// which it would keep open.
    package func start(
        _ arguments: [String], input: FileHandle = .nullDevice, output: FileHandle = .nullDevice,
        errors: FileHandle = .nullDevice, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        // A test that starts a process also waits for it.
        let isOnSharedThread = withUnsafeCurrentTask { $0 != nil && $0?.unownedTaskExecutor == nil }
        guard !isOnSharedThread || Thread.isMainThread else { throw BlocksSharedThread() }
        // env(1) changes the folder for the child alone.
        let words = folder.map { ["--chdir=\($0.path)", executable.path] + arguments } ?? arguments
        return try ChildProcess(
            folder == nil ? executable : URL(filePath: "/usr/bin/env"), arguments: words, input: input.fileDescriptor,
            output: output.fileDescriptor, errors: errors.fileDescriptor,
            environment: Self.withoutNotes.merging(environment) { $1 })
    }
}

extension ChildProcess.Ending {
    /// The exit status, or the signal's number below zero.
    package var status: Int32 {
        switch self {
        case .exited(let status): status
        case .signaled(let signal): -signal
        }
    }
}

extension TemporaryFolder {
    /// Creates a program from a shell script, and its folder, and returns its path.
    ///
    /// Another process writes the file. A child that a test starts at that moment would inherit this process's descriptor,
    /// and a file that is open for writing can't be run (execve(2), `ETXTBSY`).
    @discardableResult public func program(_ script: String, at path: String) throws -> String {
        let file = appending(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let script = script.hasPrefix("#!") ? script : "#!/bin/sh\n\(script)\n"
        let written = try Program(at: "/bin/sh").run("-c", "cat >\"$0\" && chmod 755 \"$0\"", file.path, input: script)
        guard written.status == 0 else { throw CocoaError(.fileWriteUnknown) }
        return file.path
    }
}
