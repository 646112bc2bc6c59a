internal import Dispatch
package import Foundation
internal import PushCore
internal import PushService
internal import SealedPush
internal import UserNotifications

/// Delivers pushes to one simulated device as iOS does: decides whether to wake the extension, runs it, and shows the
/// result.
package struct PushDelivery: Sendable {
    private let device: SimulatedDevice
    private let host: Host
    private let attachments: AttachmentStore
    private let rules: ExtensionRules
    /// The app's own configuration; nil if it isn't known.
    private let app: ServiceConfiguration?
    private let center: PhoneCenter

    private enum Host {
        case process(ExtensionProgram, ExtensionSession)
        case thisProcess(InProcessExtension)
    }

    /// - Parameter standard: The configuration of the simulator's own extension; an app's extension has its own.
    package init(
        device: SimulatedDevice, program: ExtensionProgram, standard: StandardConfiguration?,
        rules: ExtensionRules = ExtensionRules()
    ) {
        self.device = device
        self.rules = rules
        center = PhoneCenter()
        app = standard?.configuration(on: device, center)
        host = .process(program, ExtensionSession(program, on: device, standard, rules: rules, center))
        attachments = AttachmentStore(
            container: device.container, temporary: device.temporaryFolder, bundle: program.bundle)
    }

    /// Runs the simulator's own extension in this process, for many devices at once. There is no memory limit.
    ///
    /// Returns nil if the configuration isn't valid.
    package init?(inThisProcess standard: StandardConfiguration, device: SimulatedDevice) {
        center = PhoneCenter()
        guard let configuration = standard.configuration(on: device, center) else { return nil }
        self.device = device
        app = configuration
        rules = ExtensionRules()
        host = .thisProcess(InProcessExtension(configuration, center))
        attachments = AttachmentStore(container: device.container, temporary: device.temporaryFolder, bundle: nil)
    }

    /// Creates the container of a new device, as an app does on its first launch. Its ledger has a floor just before its
    /// first key. An existing container is left unchanged.
    package static func prepareContainer(_ container: URL, keyCreated: Int64) throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: container.path(percentEncoded: false), isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw CocoaError(.fileWriteFileExists) }
            return
        }
        // Created elsewhere and then renamed, so that a process killed here can't leave a device without its ledger.
        let unfinished = container.deletingLastPathComponent()
            .appending(path: ".\(container.lastPathComponent).\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: unfinished) }
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: true)
        let ledger = FileLedger(inContainer: unfinished)
        try ledger.begin(floor: Timestamp(clamping: keyCreated - 1), asksForNewKey: false)
        // Fails if another process was faster; that process's container works just as well.
        _ = rename(unfinished.path(percentEncoded: false), container.path(percentEncoded: false))
    }

    /// Whether the device's ledger was missing, so that its app should create a new key.
    package var asksForNewKey: Bool { FileLedger(inContainer: device.container).asksForNewKey }

    /// Delivers one push.
    ///
    /// - Parameters:
    ///   - identifier: The request's identifier: the push's collapse ID, if it has one.
    ///   - pushType: The value of `apns-push-type`.
    package func deliver(
        _ push: PushFile, identifier: String, pushType: String = "alert"
    ) throws(ChildProcess.NotRunnable) -> DeliveredPush {
        var delivered = try shown(push, identifier: identifier, pushType: pushType)
        var gone = delivered.removed
        center.value.forget(gone)
        if var shown = delivered.shown {
            shown.attachments = []
            delivered.isReplacement = center.value.forget([identifier])
            gone += center.value.deliver(
                ExpansionRequest(identifier: identifier, shown: shown, arrived: Date()).notification)
        }
        for identifier in gone { attachments.remove(identifier) }
        return delivered
    }

    private func shown(
        _ push: PushFile, identifier: String, pushType: String
    ) throws(ChildProcess.NotRunnable) -> DeliveredPush {
        if let field = push.backgroundField { return opened(byAppFrom: field) }
        if let unchanged = push.shownUnchanged(pushType: pushType) {
            if unchanged.shown != nil { attachments.remove(identifier) }
            return unchanged
        }
        let log = ServiceLog(folder: device.container.appending(path: SharedContainer.subfolderName))
        let logged = log.byteCount
        let result =
            switch host {
            case .process(_, let session): try session.run(identifier: identifier, payload: push.json)
            case .thisProcess(let inside): inside.run(push, identifier: identifier, timeLimit: rules.timeLimit)
            }
        var delivered = delivered(result.ending, of: push, identifier: identifier)
        delivered.elapsed = result.elapsed
        delivered.peakMemoryByteCount = result.peakMemoryByteCount
        delivered.remarks += result.remarks
        delivered.remarks += log.entries(from: logged).compactMap { entry in
            entry.stage.map { "part of the message is missing: \($0), \(entry.failure ?? "failed")" }
        }
        return delivered
    }

    /// Has the app open a background push, and returns the result.
    private func opened(byAppFrom field: String) -> DeliveredPush {
        let done = DispatchSemaphore(value: 0)
        let problem = Locked<String?>("the app's own configuration isn't known")
        Task { [app] in
            defer { done.signal() }
            guard let app else { return }
            do throws(OpenError) {
                let isWithdrawal = try await app.withdraw(envelope: field) != nil
                problem.withLock { $0 = isWithdrawal ? nil : "not a withdrawal" }
            } catch { problem.withLock { $0 = "the app couldn't open it: \(error)" } }
        }
        done.wait()
        let changes = center.value.takeChanges()
        let note = "the app opened a withdrawal\(changes.removed.isEmpty ? ", which removed nothing" : "")"
        return DeliveredPush(
            notShownBecause: problem.withLock { $0 } ?? note,
            silent: ShownNotification(UNNotificationContent(), changes))
    }

    private func delivered(_ ending: ExtensionResult.Ending, of push: PushFile, identifier: String) -> DeliveredPush {
        let note: String
        var removed: [String] = []
        switch ending {
        case .returned(var content) where content.hasText:
            let files = attachments.take(content.attachments, for: identifier)
            content.attachments = files.kept
            return DeliveredPush(showing: content, remarks: files.remarks)
        // Apple, `com.apple.developer.usernotifications.filtering`.
        case .returned(let content) where rules.hasFilteringEntitlement && content.isEmpty:
            return DeliveredPush(notShownBecause: "the extension filtered it out", silent: content)
        // Apple, `didReceive(_:withContentHandler:)`: without alert text, the changes are ignored.
        case .returned(let content):
            let nothing = "; showing nothing requires the filtering entitlement"
            note = "the extension returned no alert text\(content.isEmpty ? nothing : "")"
            removed = content.removed ?? []
        case .expanded: note = "the extension returned no notification"
        case .ended(let ending): note = "the extension exited without an answer (\(ending))"
        case .timedOut: note = "the extension didn't finish in time"
        case .overMemory: note = "the extension used more than \(rules.memoryLimit >> 20) MB"
        case .killed(let reason): note = "the extension was killed: \(reason)"
        }
        // Observed by element-hq/element-x-ios: with the entitlement, nothing is shown if the process exits.
        if case .ended = ending, rules.hasFilteringEntitlement { return DeliveredPush(notShownBecause: note) }
        attachments.remove(identifier)
        var delivered = DeliveredPush(outcome: .original, shown: push.original, note: note)
        delivered.removed = removed
        return delivered
    }

    /// Ends the extension's process after it has cleaned up. Returns the mistakes that it made after its answers.
    package func end() -> [String] { if case .process(_, let session) = host { session.end() } else { [] } }

    /// Expands a notification that is shown. Returns nil if the extension doesn't run in its own process.
    package func expand(
        _ shown: ShownNotification, identifier: String, at time: Date
    ) throws(ChildProcess.NotRunnable) -> ShownExpansion? {
        guard case .process(let program, _) = host else { return nil }
        return try ExpansionRequest(identifier: identifier, shown: shown, arrived: time).run(program, on: device)
    }
}

extension FileLedger {
    fileprivate init(inContainer container: URL) {
        self.init(
            folder: container.appending(path: SharedContainer.subfolderName).appending(path: FileLedger.folderName))
    }
}
