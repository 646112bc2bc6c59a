package import Foundation
internal import PushCore

/// A child process in its own process group.
///
/// It replaces Foundation's `Process`, whose `waitUntilExit` has been seen to wait forever for a child that had exited
/// (Docs/Decisions/0012-spawning-processes.md). Thread-safe.
package final class ChildProcess: Sendable {
    package let identifier: pid_t
    private let ending = Locked<Ending?>(nil)

    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signaled(Int32)
    }

    package struct NotRunnable: Error, CustomStringConvertible {
        package let program: URL
        /// The error number, as in errno(3).
        let code: Int32

        package var description: String {
            "\(program.path(percentEncoded: false)) can't be run: \(String(cString: strerror(code)))"
        }
    }

    /// Starts a program with the given descriptors as its standard input, output, and error. It inherits no others.
    ///
    /// - Parameter environment: Variables to add to the caller's own.
    package init(
        _ program: URL, arguments: [String], input: Int32 = 0, output: Int32 = 1, errors: Int32 = 2,
        environment: [String: String] = [:]
    ) throws(NotRunnable) {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (descriptor, standard) in zip([input, output, errors], Int32(0)...) where descriptor != standard {
            posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
        }
        _ = Self.closeFrom?(&actions, 3)
        // The child doesn't inherit the signals that this process ignores or its threads block.
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &pipeSignal)
        var noSignal = sigset_t()
        sigemptyset(&noSignal)
        posix_spawnattr_setsigmask(&attributes, &noSignal)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let path = program.path(percentEncoded: false)
        let settings = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = settings.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw NotRunnable(program: program, code: code) }
        self.identifier = identifier
    }

    /// Available since glibc 2.34, whose headers hide it from Swift.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
    }

    /// Whether the child has exited. Doesn't wait, and doesn't reap the child, so its process ID can't be reused.
    package var hasEnded: Bool {
        ending.withLock { ending in
            if ending != nil { return true }
            var information = siginfo_t()
            let status = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
            return status == 0 && information.si_signo == SIGCHLD
        }
    }

    @discardableResult package func wait() -> Ending {
        while true {
            if let ending = collect() { return ending }
            usleep(1_000)
        }
    }

    /// Kills the child and everything it started in its group, and reaps it. If the child has exited by itself but wasn't
    /// reaped yet, kills only what it started.
    package func kill() {
        // Until the child is reaped, no other process can have its ID.
        ending.withLock { if $0 == nil { _ = Glibc.kill(-identifier, SIGKILL) } }
        wait()
    }

    private func collect() -> Ending? {
        ending.withLock { ending in
            if ending != nil { return ending }
            var status: Int32 = 0
            guard waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
            // The low seven bits are the signal, or 0; the next eight the exit status (wait(2)).
            ending = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signaled(status & 0x7f)
            return ending
        }
    }
}

/// The simulator's ends of a process's standard input and output. Only
/// ``wait(milliseconds:forWriting:)`` blocks.
///
/// Must be used from a single thread.
final class ExtensionPipes {
    private var input: Int32
    private let output: Int32
    private var unread: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// The longest line accepted. A payload of 4 KiB can't lead to a longer answer.
    private static let maximumLineByteCount = 1 << 20

    init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
        for end in [input, output] { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
    }

    deinit {
        closeInput()
        close(output)
    }

    /// Waits until there is data to read or, if requested, room to write.
    func wait(milliseconds: Int32, forWriting: Bool) {
        var ends = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
        if forWriting, input >= 0 { ends.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
        _ = poll(&ends, nfds_t(ends.count), milliseconds)
    }

    /// Passes on each complete line. Returns false at the end of the output or if a line is too long.
    func read(_ line: ([UInt8]) -> Void) -> Bool {
        while true {
            let count = Glibc.read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            unread += buffer[..<count]
            while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                line(Array(unread[..<end]))
                unread.removeFirst(end + 1)
            }
            guard unread.count <= Self.maximumLineByteCount else { return false }
        }
    }

    /// Writes as much as there is room for, and returns the count. Counts everything as written once the reader has gone.
    func write(_ bytes: [UInt8]) -> Int {
        guard input >= 0 else { return bytes.count }
        let count = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : bytes.count
    }

    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }
}

extension ExtensionProgram {
    func start(on device: SimulatedDevice) throws(ChildProcess.NotRunnable) -> (ChildProcess, ExtensionPipes) {
        // If an extension exits early, the simulator must not die of SIGPIPE.
        signal(SIGPIPE, SIG_IGN)
        try? FileManager.default.createDirectory(at: device.temporaryFolder, withIntermediateDirectories: true)
        guard let input = Self.pipe() else { throw ChildProcess.NotRunnable(program: file, code: errno) }
        // Close the child's ends here, or end-of-file would never arrive.
        defer { close(input.read) }
        guard let output = Self.pipe() else {
            let code = errno
            close(input.write)
            throw ChildProcess.NotRunnable(program: file, code: code)
        }
        defer { close(output.write) }
        let pipes = ExtensionPipes(input: input.write, output: output.read)
        let process = try ChildProcess(
            file, arguments: arguments, input: input.read, output: output.write, environment: device.processEnvironment)
        return (process, pipes)
    }

    /// Returns the two ends of a pipe, or nil if the system has no free descriptors. They are never standard descriptors,
    /// even if the caller has closed those.
    private static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        let high = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        for end in ends { close(end) }
        return high.allSatisfy { $0 >= 3 } ? (high[0], high[1]) : nil
    }
}
