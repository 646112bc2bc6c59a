internal import Foundation
internal import PushApp
internal import PushCore

/// The app's login and token on a test device.
final class TestStorage: PushStorage {
    private let isLocked: @Sendable () -> Bool
    private let data = Locked<Data?>(nil)

    init(isLocked: @escaping @Sendable () -> Bool) { self.isLocked = isLocked }

    func read() throws -> Data? {
        guard !isLocked() else { throw CocoaError(.fileReadNoPermission) }
        return data.withLock { $0 }
    }

    func write(_ data: Data) -> Bool {
        guard !isLocked() else { return false }
        self.data.withLock { $0 = data }
        return true
    }
}
