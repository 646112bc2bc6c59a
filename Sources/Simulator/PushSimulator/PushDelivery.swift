package import Foundation
internal import PushCore
internal import PushService
internal import SealedPush

/// Delivers pushes to one simulated device as iOS does: decides whether the extension wakes, runs it, shows what comes of
/// it.
package struct PushDelivery: Sendable {
    private let device: SimulatedDevice
    private let program: ExtensionProgram
    private let session: ExtensionSession
    private let attachments: AttachmentStore
    private let rules: ExtensionRules

    /// - Parameter standard: what the simulator's own extension is configured with; an app's has its own configuration.
    package init(
        device: SimulatedDevice, program: ExtensionProgram, standard: StandardConfiguration?,
        rules: ExtensionRules = ExtensionRules()
    ) {
        self.device = device
        self.program = program
        self.rules = rules
        session = ExtensionSession(
            program, setting: ExtensionSetting(device: device, standard: standard, memoryLimit: rules.memoryLimit),
            rules: rules)
        attachments = AttachmentStore(of: device, bundle: program.bundle)
    }

    /// Makes the container of a new device, as an app does when it is first started: with a ledger whose floor lies just
    /// before its first key. A container that exists is left as it is.
    package static func prepareContainer(_ container: URL, keyCreated: Int64) throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: container.path(percentEncoded: false), isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw CocoaError(.fileWriteFileExists) }
            return
        }
        // Made aside and put in place whole: a process that is killed here leaves no device that has lost its ledger.
        let unfinished = container.deletingLastPathComponent()
            .appending(path: ".\(container.lastPathComponent).\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: unfinished) }
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: true)
        let ledger = FileLedger(inContainer: unfinished)
        try ledger.begin(floor: Timestamp(clamping: keyCreated - 1), asksForNewKey: false)
        // Fails where another process was faster: then its container is as good.
        _ = rename(unfinished.path(percentEncoded: false), container.path(percentEncoded: false))
    }

    /// Whether the device's ledger was found missing, so that its app should make a new key.
    package var asksForNewKey: Bool { FileLedger(inContainer: device.container).asksForNewKey }

    /// Delivers one push.
    ///
    /// - Parameters:
    ///   - identifier: what the request is called: the collapse ID, where a push has one.
    ///   - pushType: what `apns-push-type` says.
    package func deliver(
        _ push: PushFile, identifier: String, pushType: String = "alert"
    ) throws(ExtensionProcessError) -> DeliveredPush {
        if let unchanged = push.shownUnchanged(pushType: pushType) {
            if unchanged.shown != nil { attachments.remove(identifier) }
            return unchanged
        }
        let original = ShownNotification(WireNotification(push.payload).content)
        let log = ServiceLog(folder: device.container.appending(path: SharedContainer.subfolderName))
        let logged = log.byteCount
        let result = try session.run(identifier: identifier, payload: push.json)
        var delivered = delivered(result.ending, original: original, identifier: identifier)
        delivered.elapsed = result.elapsed
        delivered.peakMemoryByteCount = result.peakMemoryByteCount
        delivered.remarks += result.remarks
        delivered.remarks += log.entries(from: logged).compactMap { entry in
            entry.stage.map { "a part of the message is missing: \($0), \(entry.failure ?? "failed")" }
        }
        return delivered
    }

    /// Ends the extension's process, once it has tidied up. Returns what it did wrong after its answers.
    package func end() -> [String] { session.end() }

    /// What a person sees who expands a notification that is shown.
    package func expand(
        _ shown: ShownNotification, identifier: String, at time: Date
    ) throws(ExtensionProcessError) -> ShownExpansion {
        try program.expand(ExpansionRequest(identifier: identifier, shown: shown, arrived: time), on: device)
    }

    /// Removes the files of a notification that is no longer on the screen.
    package func forget(_ identifier: String) { attachments.remove(identifier) }

    private func delivered(
        _ ending: ExtensionResult.Ending, original: ShownNotification, identifier: String
    ) -> DeliveredPush {
        let note: String
        switch ending {
        case .returned(let content) where content.hasText:
            return DeliveredPush(showing: content, attachments: attachments, identifier: identifier)
        // Apple, `com.apple.developer.usernotifications.filtering`.
        case .returned(let content) where rules.hasFilteringEntitlement && content.isEmpty:
            return DeliveredPush(notShownBecause: "the extension has filtered it out")
        // Apple, `didReceive(_:withContentHandler:)`: without alert text the changes are ignored.
        case .returned: note = "the extension returned no alert text"
        case .ended(let ending): note = "the extension ended without an answer (\(ending))"
        case .timedOut: note = "the extension did not finish in time"
        case .overMemory: note = "the extension used more than \(rules.memoryLimit >> 20) MB"
        case .killed(let reason): note = "the extension was killed: \(reason)"
        }
        // Seen by element-hq/element-x-ios: with the entitlement, a process that ends shows nothing.
        if case .ended = ending, rules.hasFilteringEntitlement { return DeliveredPush(notShownBecause: note) }
        attachments.remove(identifier)
        return DeliveredPush(outcome: .original, shown: original, note: note)
    }
}

extension FileLedger {
    fileprivate init(inContainer container: URL) {
        self.init(
            folder: container.appending(path: SharedContainer.subfolderName).appending(path: FileLedger.folderName))
    }
}
