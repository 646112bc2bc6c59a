import Dispatch
import Foundation
import Glibc
import PushCore

/// The abilities that some tests need and not every machine has. Use them with `.enabled(if:)`, so that a run lists the tests
/// that it skips.
public enum Machine {
    /// Whether a program can mount file systems in its own namespace.
    public static let canMount = succeeds(
        "/usr/bin/unshare", "--mount", "--map-root-user", "sh", "-c", "mount -t tmpfs none /mnt")
    /// Whether a program can be process 1 of its own namespace.
    public static let canIsolateProcesses = succeeds("/usr/bin/unshare", isolation + ["true"])
    /// Whether strace(1) is installed, and the system lets it trace processes.
    public static let canTrace = succeeds(
        "/usr/bin/strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=execve", "/bin/true")
    /// Whether programs can run as other users, with setpriv(1).
    public static let hasOtherUsers = geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0
    /// Whether a user without rights can create a user namespace. Requires ``hasOtherUsers``.
    public static let hasUserNamespaces =
        hasOtherUsers
        && succeeds(
            "/usr/bin/setpriv", "--reuid", "1500", "--regid", "1500", "--clear-groups", "/usr/bin/unshare",
            "--map-root-user", "/bin/true")

    /// The options with which unshare(1) makes a program process 1 of a namespace.
    public static let isolation = (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--pid", "--fork", "--kill-child"]

    private static func succeeds(_ path: String, _ arguments: String...) -> Bool { succeeds(path, arguments) }

    private static func succeeds(_ path: String, _ arguments: [String]) -> Bool {
        // On a separate thread, because a condition is evaluated before the trait that lets a test wait for processes.
        let isDone = DispatchSemaphore(value: 0)
        let status = Locked<Int32?>(nil)
        Thread.detachNewThread {
            let result = try? Program(at: path).run(arguments)
            status.withLock { $0 = result?.status }
            isDone.signal()
        }
        isDone.wait()
        return status.withLock { $0 } == 0
    }
}
