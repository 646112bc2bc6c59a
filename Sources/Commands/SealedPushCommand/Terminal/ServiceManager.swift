internal import Foundation

/// Notifies the service manager that started this program, if there is one. Source: systemd, sd_notify(3).
enum ServiceManager {
    /// Reports that the program is ready. From then on, if the manager has a watchdog, reports that tasks still run.
    static func ready() {
        notify("READY=1")
        guard let microseconds = variable("WATCHDOG_USEC").flatMap(Int64.init), microseconds > 0,
            variable("WATCHDOG_PID").map({ $0 == String(getpid()) }) ?? true
        else { return }
        Task.detached {
            while true {
                notify("WATCHDOG=1")
                try await Task.sleep(for: .microseconds(microseconds / 3))
            }
        }
    }

    /// Sends a state. Failures have no effect: a manager that hears nothing acts by its own time limits.
    static func notify(_ state: String) {
        #if os(Linux)
        guard let path = variable("NOTIFY_SOCKET"), let first = path.utf8.first else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8)
            // A name in the abstract namespace, which starts with a zero byte.
            if first == UInt8(ascii: "@") { room[0] = 0 }
        }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + path.utf8.count
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
        #endif
    }

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}
