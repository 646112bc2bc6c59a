import Dispatch
import Foundation
import Glibc
import UserNotifications

/// An extension that follows the command in the alert's body, and so does everything that an extension must not do.
final class NotificationService: UNNotificationServiceExtension, @unchecked Sendable {
    private let lock = NSLock()
    /// The handlers to call when time is up.
    private var lateHandlers: [@Sendable () -> Void] = []
    private var callCount = 0
    private var presentCount = 0

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        print("a line on standard output, where the simulator expects answers")
        nonisolated(unsafe) let handler = contentHandler
        let answer: @Sendable (String) -> Void = { body in
            let content = UNMutableNotificationContent()
            content.body = body
            handler(content)
        }
        lock.withLock { callCount += 1 }
        let words = request.content.body.split(separator: " ").map(String.init)
        let number = words.dropFirst().first.flatMap { Int($0) } ?? 0
        switch words.first {
        case "crash": crash()
        case "crash-later":
            usleep(UInt32(number) * 1_000)
            crash()
        case "crash-after":
            answer("from the extension")
            crash()
        case "exit": exit(Int32(number))
        case "hang": while true { sleep(1) }
        case "hang-after":
            answer("from the extension")
            while true { sleep(1) }
        case "close":
            for descriptor in 3..<Int32(64) { close(descriptor) }
            while true { sleep(1) }
        case "never": break
        case "empty": contentHandler(UNNotificationContent())
        case "sound":
            let content = UNMutableNotificationContent()
            content.sound = .default
            contentHandler(content)
        case "twice":
            answer("from the extension")
            contentHandler(UNNotificationContent())
        case "late": lock.withLock { lateHandlers.append { answer("at the last moment") } }
        case "late-blocked":
            lock.withLock { lateHandlers.append { answer("at the last moment") } }
            while true { sleep(1) }
        case "threads":
            let threads = DispatchGroup()
            for number in 0..<number {
                threads.enter()
                Thread.detachNewThread {
                    answer("from thread \(number)")
                    threads.leave()
                }
            }
            threads.wait()
        case "sleep":
            usleep(UInt32(number) * 1_000)
            answer("from the extension")
        case "process": answer("\(getpid()) \(lock.withLock { callCount })")
        case "echo": answer(request.content.body)
        case "meet":
            // Answers once this many calls are here at the same time.
            lock.withLock { presentCount += 1 }
            while lock.withLock({ presentCount }) < number { usleep(500) }
            answer("\(getpid())")
        case "leak":
            _ = open("/dev/null", O_RDONLY)
            Hunger.keep(kibibytes: 16)
            answer("from the extension")
        case "leave":
            try? Data("left".utf8).write(to: .temporaryDirectory.appending(path: "left.txt"))
            answer("from the extension")
        case "hog":
            Hunger.act(words.dropFirst().first ?? "", mebibytes: Int(words.last ?? "") ?? 0)
            answer("from the extension")
        case "attach":
            let content = UNMutableNotificationContent()
            content.body = "from the extension"
            content.attachments = Attaching(request).attachments(words.dropFirst().joined(separator: " "))
            contentHandler(content)
        default: answer("from the extension")
        }
    }

    /// Crashes immediately: the runtime's handler would take a second to print a backtrace.
    private func crash() {
        signal(SIGABRT, SIG_DFL)
        abort()
    }

    override func serviceExtensionTimeWillExpire() {
        let handlers = lock.withLock {
            defer { lateHandlers = [] }
            return lateHandlers
        }
        for handler in handlers { handler() }
    }
}
