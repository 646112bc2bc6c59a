import Foundation
internal import PushCore
public import PushService
public import UserNotifications

/// The process that hosts an app's notification service extension, as iOS's extension host does.
///
/// To run in the simulator, an app's own extension needs a main program of three lines (Docs/TestOnLinux.md, 1):
/// ```swift
/// import PushSimulator
///
/// @main struct Host { static func main() { ExtensionHost.run { NotificationService() } } }
/// ```
public enum ExtensionHost {
    /// Serves the simulator on standard input and output until the input ends. The extension's own output goes to standard
    /// error. Never returns.
    ///
    /// - Parameter expandedViews: The app's content extension views, for `device-simulator deliver … --expanded`.
    public static func run(
        expandedViews: [any ExpandedView] = [], _ makeExtension: @escaping () -> UNNotificationServiceExtension
    ) -> Never {
        serve(expandedViews) { _ in makeExtension() }
    }

    /// Runs the simulator's own extension, a `SealedNotificationService` configured by the simulator's options.
    package static func runStandard() -> Never {
        serve([]) { setting in
            guard let configuration = setting.standard?.configuration(container: setting.device.container) else {
                try? FileHandle.standardError.write(
                    contentsOf: Data("device-simulator: invalid extension configuration\n".utf8))
                exit(64)
            }
            return StandardService(configuration)
        }
    }

    private static func serve(
        _ views: [any ExpandedView], _ makeExtension: @escaping (ExtensionSetting) -> UNNotificationServiceExtension
    ) -> Never {
        // Standard output is reserved for the reports.
        let reports = ReportWriter(dup(1))
        dup2(2, 1)
        // Only the reading thread calls this closure; the main thread belongs to the main actor.
        nonisolated(unsafe) let make = makeExtension
        Thread.detachNewThread { read(views, make, reports) }
        dispatchMain()
    }

    private static func read(
        _ views: [any ExpandedView], _ makeExtension: (ExtensionSetting) -> UNNotificationServiceExtension,
        _ reports: ReportWriter
    ) -> Never {
        let list = PhoneList(reports)
        UNUserNotificationCenter.current().elsewhere = { await list.notifications() }
        var setting: ExtensionSetting?
        var hosted: HostedExtension?
        while let line = readLine() {
            guard let command = try? JSONDecoder().decode(ExtensionCommand.self, from: Data(line.utf8)) else {
                exit(65)
            }
            switch command {
            case .begin(let given): setting = given
            case .list(let entries): list.answer(entries)
            case .deliver(let number, let identifier, let payload):
                guard let setting else { exit(65) }
                let current = hosted ?? HostedExtension(makeExtension(setting), in: setting, reports)
                hosted = current
                current.deliver(number, identifier, payload)
            case .expire: hosted?.expire()
            case .expand(let request, let number):
                reports.write(.expanded(number: number, view: request.expanded(by: views)))
            }
        }
        hosted?.finishTidying()
        exit(0)
    }
}

/// An extension instance that handles all requests of its process. Each call runs on its own thread, so that one that
/// hangs doesn't delay the others.
///
/// Source: element-hq/element-x-ios, `NotificationServiceExtension.swift`: `didReceive` may be called for a second
/// request during the first, on another thread, and on the same instance or another. The same one is the harder case.
private final class HostedExtension: @unchecked Sendable {
    // An extension class isn't Sendable, but iOS calls it from any thread anyway, and so does this.
    private let service: UNNotificationServiceExtension
    private let reports: ReportWriter

    init(_ service: UNNotificationServiceExtension, in setting: ExtensionSetting, _ reports: ReportWriter) {
        self.service = service
        self.reports = reports
        if let sealed = service as? SealedNotificationService { sealed.environment = setting.environment }
    }

    func deliver(_ number: Int, _ identifier: String, _ payload: Data) {
        let payload = (try? PushFile(parsing: payload))?.payload ?? [:]
        let notification = UNNotificationRequest(
            identifier: identifier, content: WireNotification(payload).content, trigger: UNPushNotificationTrigger())
        let calls = Locked((count: 0, hasReturned: false))
        // Nothing else uses the request after this point.
        nonisolated(unsafe) let handedOver = notification
        Thread.detachNewThread { [self] in
            service.didReceive(handedOver) { [self] content in
                let call = calls.withLock { calls in
                    calls.count += 1
                    return calls
                }
                let shown = ShownNotification(content, UNUserNotificationCenter.current().takeChanges())
                reports.write(
                    .answer(
                        number: number, content: shown, callNumber: call.count,
                        memoryByteCount: ProcessMemory.current))
                if call.hasReturned, call.count == 1 { settle(number) }
            }
            let call = calls.withLock { calls in
                calls.hasReturned = true
                return calls
            }
            if call.count > 0 { settle(number) }
        }
    }

    /// Reports the request as settled once all cleanup is done.
    private func settle(_ number: Int) {
        guard let tidying = (service as? SealedNotificationService)?.tidying else {
            reports.write(.settled(number: number))
            return
        }
        tidying.notify(queue: .global(qos: .userInitiated)) { [reports] in reports.write(.settled(number: number)) }
    }

    /// Waits a moment for unfinished cleanup, as iOS usually does before it suspends a process.
    func finishTidying() {
        _ = (service as? SealedNotificationService)?.tidying.wait(timeout: .now() + .milliseconds(400))
    }

    /// Calls the extension on another thread, as documented for Apple's `serviceExtensionTimeWillExpire()`.
    func expire() { Thread.detachNewThread { [self] in service.serviceExtensionTimeWillExpire() } }
}

/// Asks the simulator for the phone's notifications, as an extension asks the system.
private final class PhoneList: Sendable {
    private let reports: ReportWriter
    private let questions = Locked<[CheckedContinuation<[ExpansionRequest], Never>]>([])

    init(_ reports: ReportWriter) { self.reports = reports }

    nonisolated(nonsending) func notifications() async -> [UNNotification] {
        let entries = await withCheckedContinuation { continuation in
            questions.withLock { $0.append(continuation) }
            reports.write(.asksForList)
        }
        return entries.map(\.notification)
    }

    func answer(_ entries: [ExpansionRequest]) {
        let asking = questions.withLock { questions in
            defer { questions = [] }
            return questions
        }
        for each in asking { each.resume(returning: entries) }
    }
}

/// Writes one report per line. Thread-safe.
private final class ReportWriter: Sendable {
    private let descriptor: Locked<Int32>

    init(_ descriptor: Int32) { self.descriptor = Locked(descriptor) }

    func write(_ report: ExtensionReport) {
        guard let line = try? JSONEncoder().encode(report) else { return }
        descriptor.withLock { try? DurableFiles.writeAll(Array(line) + [UInt8(ascii: "\n")], to: $0) }
    }
}

/// The simulator's own extension in this process. It runs the service module's own opening, including the ledger.
/// It's for tests with many devices: there is no memory limit, and a crash takes down every device.
final class InProcessExtension: @unchecked Sendable {
    // An extension class isn't Sendable, but iOS calls it from any thread anyway, and so does this.
    private let service: SealedNotificationService
    private let center: PhoneCenter

    init(_ configuration: ServiceConfiguration, _ center: PhoneCenter) {
        service = StandardService(configuration)
        service.environment = configuration.environment
        self.center = center
    }

    /// Waits until the handler is called or the time is up.
    func run(_ push: PushFile, identifier: String, timeLimit: Duration) -> ExtensionResult {
        let start = ContinuousClock.now
        let ticket = ExtensionTicket()
        let request = UNNotificationRequest(
            identifier: identifier, content: WireNotification(push.payload).content,
            trigger: UNPushNotificationTrigger())
        service.didReceive(request) { [center] content in
            let shown = ShownNotification(content, center.value.takeChanges())
            ticket.complete(ExtensionResult(ending: .returned(shown), elapsed: ContinuousClock.now - start))
        }
        if let result = ticket.wait(for: timeLimit) { return result }
        service.serviceExtensionTimeWillExpire()
        return ticket.wait(for: ExtensionRules.grace)
            ?? ExtensionResult(ending: .timedOut, elapsed: ContinuousClock.now - start)
    }
}

/// The extension of an app that doesn't customize it.
private final class StandardService: SealedNotificationService {
    private let fixed: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) { fixed = configuration }

    override var configuration: ServiceConfiguration { fixed }
}
