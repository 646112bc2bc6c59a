import Foundation

#if canImport(Security)
import Security
#endif

/// The state that outlives the app's process and is readable in the background from the first unlock on.
nonisolated struct Saved: Codable, Sendable {
    /// The app's own login; nil if no one is logged in.
    var session: String?
    /// The newest push token.
    var token: Data?
    /// The login of the account that this phone left, while its server may still have to be told.
    var leaving: String?
}

/// Stores the state as one item in the keychain group that the app shares with its extension, off the main actor.
actor SavedStore {
    private let item: any SavedItem
    private var known: Saved?

    init(_ item: any SavedItem = KeychainItem()) { self.item = item }

    /// The saved state; empty before the first unlock.
    var value: Saved { (try? load()) ?? Saved() }

    /// Changes the state. A no-op before the first unlock, so that an unreadable state isn't overwritten.
    func change(_ change: @Sendable (inout Saved) -> Void) {
        guard var value = try? load() else { return }
        change(&value)
        if let data = try? JSONEncoder().encode(value), item.write(data) { known = value }
    }

    private func load() throws -> Saved {
        if let known { return known }
        // A missing item may only be hidden until the first unlock, so don't cache its absence.
        guard let data = try item.read() else { return Saved() }
        let read = try JSONDecoder().decode(Saved.self, from: data)
        known = read
        return read
    }
}

nonisolated protocol SavedItem: Sendable {
    /// Returns the item's data, or nil if there is none.
    ///
    /// - Throws: if the item is unreadable, such as before the first unlock after a restart.
    func read() throws -> Data?
    /// Writes the item, and returns whether that succeeded.
    func write(_ data: Data) -> Bool
}

nonisolated struct KeychainItem: SavedItem {
    #if canImport(Security)
    private var query: [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "login", kSecAttrAccount: "pushes",
            kSecUseDataProtectionKeychain: true,
        ]
    }

    func read() throws -> Data? {
        var query = query
        query[kSecReturnData] = true
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard status != errSecItemNotFound else { return nil }
        guard status == errSecSuccess else { throw CocoaError(.fileReadNoPermission) }
        return found as? Data
    }

    func write(_ data: Data) -> Bool {
        let values: [CFString: Any] = [
            kSecValueData: data, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        let status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
        guard status == errSecItemNotFound else { return status == errSecSuccess }
        return SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil) == errSecSuccess
    }
    #else
    func read() -> Data? { nil }
    func write(_ data: Data) -> Bool { false }
    #endif
}
