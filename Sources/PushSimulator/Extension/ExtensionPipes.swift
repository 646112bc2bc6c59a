internal import _PushBase

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
