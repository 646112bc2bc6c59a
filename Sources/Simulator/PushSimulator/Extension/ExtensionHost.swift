import Dispatch
import Foundation
internal import PushCore
public import PushService
internal import SealedPush
public import UserNotifications

/// The process that hosts an app's notification service extension, as iOS's extension host does.
///
/// An app's own extension runs in the simulator once it has a main program of three lines (Docs/TestOnLinux.md, 1):
/// ```swift
/// import PushSimulator
///
/// @main struct Host { static func main() { ExtensionHost.run { NotificationService() } } }
/// ```
public enum ExtensionHost {
    /// Serves the simulator on standard input and output until input ends; what the extension prints goes to standard
    /// error. Never returns.
    ///
    /// - Parameter expandedViews: what the app's content extension shows, for `device-simulator deliver … --expanded`.
    public static func run(
        expandedViews: [any ExpandedView] = [], _ makeExtension: @escaping () -> UNNotificationServiceExtension
    ) -> Never {
        serve(expandedViews) { _ in makeExtension() }
    }

    /// The simulator's own extension: `SealedNotificationService`, configured by the simulator's flags.
    package static func runStandard() -> Never {
        serve([]) { setting in
            guard let configuration = setting.standard?.configuration(container: setting.device.container) else {
                try? FileHandle.standardError.write(
                    contentsOf: Data("device-simulator: no usable configuration\n".utf8))
                exit(64)
            }
            return StandardService(configuration)
        }
    }

    private static func serve(
        _ views: [any ExpandedView], _ makeExtension: @escaping (ExtensionSetting) -> UNNotificationServiceExtension
    ) -> Never {
        // The answers have standard output for themselves.
        let reports = ReportWriter(dup(1))
        dup2(2, 1)
        // One thread reads, and calls what it is given here alone; the main thread is the main actor's.
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

/// One instance of an extension, for all requests of its process; each call comes on a thread of its own, so that one
/// that hangs keeps no other from its time.
///
/// Source: element-hq/element-x-ios, `NotificationServiceExtension.swift`: `didReceive` may be called for a second
/// request while the first is under way, on another thread, on the same instance or not. The same is the harder case.
private final class HostedExtension: @unchecked Sendable {
    // An extension class is not Sendable, and iOS calls it from any thread all the same: so does this.
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
        // Nothing else touches it after it was handed over.
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

    /// Says so once nothing is left to be tidied up.
    private func settle(_ number: Int) {
        guard let tidying = (service as? SealedNotificationService)?.tidying else {
            reports.write(.settled(number: number))
            return
        }
        tidying.notify(queue: .global(qos: .userInitiated)) { [reports] in reports.write(.settled(number: number)) }
    }

    /// Gives what is still tidied up a moment, as iOS mostly does before it suspends a process.
    func finishTidying() {
        _ = (service as? SealedNotificationService)?.tidying.wait(timeout: .now() + .milliseconds(400))
    }

    /// On another thread: Apple, `serviceExtensionTimeWillExpire()`.
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

/// Writes one report a line, from any thread.
private final class ReportWriter: Sendable {
    private let descriptor: Locked<Int32>

    init(_ descriptor: Int32) { self.descriptor = Locked(descriptor) }

    func write(_ report: ExtensionReport) {
        guard let line = try? JSONEncoder().encode(report) else { return }
        descriptor.withLock { try? DurableFiles.writeAll(Array(line) + [UInt8(ascii: "\n")], to: $0) }
    }
}

extension ExtensionSetting {
    fileprivate var environment: DeviceEnvironment {
        let memoryLimit = memoryLimit
        return device.environment(
            budget: WorkBudget {
                guard ProcessMemory.isMeaningful else { return nil }
                return memoryLimit.map { max(0, $0 - ProcessMemory.current) }
            })
    }
}

/// The simulator's own extension in this very process: the service module's own opening, ledger included, without a
/// process for each device. For tests with many devices; no memory limit, and a crash would be everyone's.
final class InProcessExtension: @unchecked Sendable {
    // An extension class is not Sendable, and iOS calls it from any thread all the same: so does this.
    private let service: SealedNotificationService
    private let center: PhoneCenter

    init(_ configuration: ServiceConfiguration, _ center: PhoneCenter) {
        service = StandardService(configuration)
        service.environment = configuration.environment
        self.center = center
    }

    /// Waits until the handler was called, or time is up.
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

/// The extension of an app that has nothing of its own to add.
private final class StandardService: SealedNotificationService {
    private let fixed: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) { fixed = configuration }

    override var configuration: ServiceConfiguration { fixed }
}

/// The list of one phone's notifications.
final class PhoneCenter: Sendable {
    // Safe: all of a center's state is behind its lock.
    nonisolated(unsafe) let value = UNUserNotificationCenter()
}

extension StandardConfiguration {
    /// With what app and extension find on this phone.
    func configuration(on device: SimulatedDevice, _ center: PhoneCenter) -> ServiceConfiguration? {
        var configuration = configuration(container: device.container)
        configuration?.environment = device.environment()
        configuration?.environment.center = { center.value }
        return configuration
    }

    func configuration(container: URL) -> ServiceConfiguration? {
        guard let topic = Topic(parsing: topic) else { return nil }
        let trusted = senders.compactMap { try? SenderPublicKey(parsing: $0) }
        let pinned = authorities.compactMap { try? AuthorityPublicKey(parsing: $0) }
        guard trusted.count == senders.count, pinned.count == authorities.count, VisibleText.isVisible(safeDefault)
        else { return nil }
        return ServiceConfiguration(
            topic: topic, keys: .keychain(accessGroup: "simulated"), trusting: trusted,
            authorities: pinned, safeDefault: SafeDefault(body: safeDefault), container: .folder(container),
            allowsAnonymous: allowsAnonymous, keyPolicy: isHybrid ? .hybrid : .classical,
            stages: [OverflowStage(), MediaStage(), ReceiptStage(hosts: [])])
    }
}

/// What the simulator tells an extension's process: one JSON object a line, on its standard input.
enum ExtensionCommand: Codable {
    /// First of all: where it is.
    case begin(ExtensionSetting)
    case deliver(number: Int, identifier: String, payload: Data)
    /// The system's time is up.
    case expire
    /// The notifications on the phone, as an answer to ``ExtensionReport/asksForList``.
    case list([ExpansionRequest])
    /// Of a content extension's process, the only request.
    case expand(ExpansionRequest, number: Int)
}

struct ExtensionSetting: Codable, Sendable {
    var device: SimulatedDevice
    /// What the simulator's own extension is configured with; an app's has its own configuration.
    var standard: StandardConfiguration?
    /// Of the process, in bytes; nil where it is not told.
    var memoryLimit: Int?
}

/// What an extension's process tells the simulator: one JSON object a line, on what was its standard output.
enum ExtensionReport: Codable {
    /// What the content handler was called with, the process's own memory at that moment, and which call it was: a
    /// second one is the extension's mistake.
    case answer(number: Int, content: ShownNotification, callNumber: Int, memoryByteCount: Int)
    /// The handler was called, `didReceive` has returned, and nothing is left to be tidied up.
    case settled(number: Int)
    case expanded(number: Int, view: ShownExpansion)
    case asksForList
}

/// The configuration of the extension that the simulator brings along.
package struct StandardConfiguration: Codable, Sendable {
    package var topic: String
    package var senders: [String]
    package var authorities: [String]
    package var safeDefault: String
    package var allowsAnonymous: Bool
    /// Whether the app makes hybrid keys.
    package var isHybrid = false

    package init(
        topic: String, senders: [String], authorities: [String] = [], safeDefault: String, allowsAnonymous: Bool
    ) {
        self.topic = topic
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
        self.allowsAnonymous = allowsAnonymous
    }
}
