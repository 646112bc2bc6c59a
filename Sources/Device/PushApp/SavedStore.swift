import Foundation

/// Reads and writes the state off the main actor, and caches it.
package actor SavedStore {
    private let place: Place
    private var known: Saved?

    private enum Place {
        case storage(any PushStorage)
        case part(String, of: SavedStore)
    }

    package init(_ storage: any PushStorage) { place = .storage(storage) }

    /// Creates the store of one account's part.
    init(part: String, of whole: SavedStore) { place = .part(part, of: whole) }

    /// The saved state; empty before the first unlock.
    package var value: Saved {
        get async {
            switch place {
            case .storage(let storage): (try? load(storage)) ?? Saved()
            case .part(let id, let whole): await whole.value.part(id)
            }
        }
    }

    /// Whether someone is logged in at another account.
    var hasOthers: Bool {
        get async {
            switch place {
            case .storage: await value.isLoggedIn(besides: nil)
            case .part(let id, let whole): await whole.value.isLoggedIn(besides: id)
            }
        }
    }

    /// Changes the state, and returns whether it was saved. A no-op before the first unlock, so that an unreadable state isn't
    /// overwritten.
    @discardableResult package func change(_ change: @Sendable (inout Saved) -> Void) async -> Bool {
        switch place {
        case .storage(let storage):
            guard var value = try? load(storage) else { return false }
            change(&value)
            guard let data = try? JSONEncoder().encode(value), storage.write(data) else { return false }
            known = value
            return true
        case .part(let id, let whole):
            return await whole.change { saved in
                var part = saved.part(id)
                change(&part)
                saved.replace(id, with: part)
            }
        }
    }

    private func load(_ storage: any PushStorage) throws -> Saved {
        if let known { return known }
        // A missing item may only be hidden until the first unlock, so don't cache its absence.
        guard let data = try storage.read() else { return Saved() }
        let read = try JSONDecoder().decode(Saved.self, from: data)
        known = read
        return read
    }
}
