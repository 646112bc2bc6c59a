import Foundation
internal import PushCore
internal import SealedPush

extension FileLedger {
    /// Begins the ledger of a new installation. For the app, before it makes the device's first key: a ledger that is
    /// found missing later counts as lost (Specification 7.9 and 7.11).
    ///
    /// - Throws: ``FileLedgerError``. Does nothing to a ledger that is there.
    public static func begin(in container: SharedContainer) throws(FileLedgerError) {
        try begin(in: container, environment: .system, at: DeviceEnvironment.system.now())
    }

    static func begin(
        in container: SharedContainer, environment: DeviceEnvironment, at now: Timestamp
    ) throws(FileLedgerError) {
        guard let ledger = FileLedger(container: container, environment: environment) else { throw .noContainer }
        do {
            guard try ledger.floor() == nil else { return }
            try ledger.begin(floor: now.advanced(bySeconds: -1), asksForNewKey: false)
        } catch {
            throw .notWritable
        }
    }

    init?(container: SharedContainer, environment: DeviceEnvironment) {
        guard let root = environment.folder(container) else { return nil }
        self.init(folder: root.appending(path: Self.folderName, directoryHint: .isDirectory))
    }

    /// Whether it is missing, or a copy. One that can't be read at the moment is neither.
    var isMissing: Bool {
        do throws(LedgerError) { return try floor() == nil } catch { return false }
    }

    /// Takes back the request for a new key, durably.
    func newKeyWasMade() {
        unlink(path(Self.rotationMarker))
        try? DurableFiles.sync(folder: folder)
    }

    package static let folderName = "ledger"
}

/// Why a ledger could not be begun.
public enum FileLedgerError: Error, Equatable, Sendable {
    /// The system knows no such app group: check both targets' entitlements.
    case noContainer
    /// The folder can't be written.
    case notWritable
}
