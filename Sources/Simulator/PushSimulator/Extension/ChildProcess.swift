package import Foundation
internal import PushCore

/// A child process in a group of its own.
///
/// Why not Foundation's `Process`: its `waitUntilExit` has been seen to wait for ever for a child that had ended
/// (Docs/Decisions/0012-spawning-processes.md). Safe from several threads.
package final class ChildProcess: Sendable {
    package let identifier: pid_t
    private let ending = Locked<Ending?>(nil)

    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signaled(Int32)
    }

    package struct NotRunnable: Error { package let code: Int32 }

    /// Starts a program with the given descriptors as its standard input, output and errors; those of the caller's own
    /// that are marked close-on-exec stay with the caller.
    ///
    /// - Parameters:
    ///   - environment: added to the caller's own.
    ///   - isolated: whether it gets these three descriptors and no other, marked or not.
    package init(
        _ program: URL, arguments: [String], input: Int32 = 0, output: Int32 = 1, errors: Int32 = 2,
        environment: [String: String] = [:], isolated: Bool = false
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
        if isolated { _ = Self.closeFrom?(&actions, 3) }
        // What this process ignores, or its threads have blocked, the child does not have to.
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
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        var settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") }
        let addedCount = settings.count
        defer { for setting in settings[..<addedCount] { free(setting) } }
        var inherited = environ
        while let setting = inherited.pointee {
            let name = String(cString: setting).prefix { $0 != "=" }
            if environment[String(name)] == nil { settings.append(setting) }
            inherited += 1
        }
        settings.append(nil)
        let code = posix_spawn(&identifier, path, &actions, &attributes, &words, settings)
        guard code == 0 else { throw NotRunnable(code: code) }
        self.identifier = identifier
    }

    /// glibc's since 2.34; its headers hide it from Swift.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
    }

    /// Whether it has ended; does not wait, and leaves it to be collected, so that its number stays its own.
    package var hasEnded: Bool {
        ending.withLock { ending in
            if ending != nil { return true }
            var information = siginfo_t()
            let status = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
            return status == 0 && information.si_signo == SIGCHLD
        }
    }

    /// Waits until it has ended, and collects it.
    @discardableResult package func wait() -> Ending {
        while true {
            if let ending = collect() { return ending }
            usleep(1_000)
        }
    }

    /// Ends it at once, and what it has started in its group, and collects it; what it has started also where it has ended by
    /// itself, as long as it was not collected.
    package func kill() {
        // While it has not been collected, nobody else can have its number.
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

/// A pipe whose two ends stay in this process unless they are given to a child.
package struct ChildPipe {
    package let readEnd: Int32
    package let writeEnd: Int32

    /// Nil where the system has no descriptors left.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        // Never one of the three standard ones, even where the caller has closed those.
        let high = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        for end in ends { close(end) }
        guard high.allSatisfy({ $0 >= 3 }) else { return nil }
        readEnd = high[0]
        writeEnd = high[1]
    }
}

/// The ends that the simulator holds of an extension's pipes; nothing here waits but ``wait(milliseconds:forWriting:)``.
///
/// Used by one thread, but for ``wakeUp()``.
final class ExtensionPipes: @unchecked Sendable {
    // Safe: one thread uses all but the wake pipe's end for writing, which is closed under the lock.
    private var input: Int32
    private let output: Int32
    private let wake: ChildPipe
    private let isOpen = Locked(true)
    private var unread: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// No answer is longer: a payload of 4 KiB can't become more than this.
    private static let maximumLineByteCount = 1 << 20

    init(input: Int32, output: Int32, wake: ChildPipe) {
        self.input = input
        self.output = output
        self.wake = wake
        for end in [input, output, wake.readEnd, wake.writeEnd] {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
        }
    }

    /// Ends a wait; from any thread, at any time.
    func wakeUp() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            var byte: UInt8 = 1
            // A full pipe wakes as well as one byte more would.
            _ = Glibc.write(wake.writeEnd, &byte, 1)
        }
    }

    /// Waits until there is something to read, room to write where that is asked for, or somebody wakes it up.
    func wait(milliseconds: Int32, forWriting: Bool) {
        var ends = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        if forWriting, input >= 0 { ends.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
        _ = poll(&ends, nfds_t(ends.count), milliseconds)
        if ends[1].revents != 0 { while Glibc.read(wake.readEnd, &buffer, buffer.count) > 0 {} }
    }

    /// Returns every whole line there is; false at the end, and where a line is too long.
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

    /// Writes what there is room for, and says how much; what nobody reads any more counts as written.
    func write(_ bytes: [UInt8]) -> Int {
        guard input >= 0 else { return bytes.count }
        let count = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : bytes.count
    }

    /// The extension's input ends.
    func closeInput() {
        if input >= 0 { Glibc.close(input) }
        input = -1
    }

    func close() {
        closeInput()
        Glibc.close(output)
        isOpen.withLock { isOpen in
            isOpen = false
            Glibc.close(wake.readEnd)
            Glibc.close(wake.writeEnd)
        }
    }
}
