import Foundation

/// Reads and writes the state off the main actor, and caches it.
package actor SavedStore {
    private let storage: any PushStorage
    private var known: Saved?

    package init(_ storage: any PushStorage) { self.storage = storage }

    /// The saved state; empty before the first unlock.
    package var value: Saved { (try? load()) ?? Saved() }

    /// Changes the state, and returns whether it was saved. A no-op before the first unlock, so that an unreadable state isn't
    /// overwritten.
    @discardableResult package func change(_ change: @Sendable (inout Saved) -> Void) -> Bool {
        guard var value = try? load() else { return false }
        change(&value)
        guard let data = try? JSONEncoder().encode(value), storage.write(data) else { return false }
        known = value
        return true
    }

    private func load() throws -> Saved {
        if let known { return known }
        // A missing item may only be hidden until the first unlock, so don't cache its absence.
        guard let data = try storage.read() else { return Saved() }
        let read = try JSONDecoder().decode(Saved.self, from: data)
        known = read
        return read
    }
}
