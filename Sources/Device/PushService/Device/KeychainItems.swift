internal import PushCore

#if canImport(Security)
import Foundation
internal import Security

/// Apple's keychain: shared generic passwords, readable after the first unlock, on this device only, never synchronized.
///
/// An item's account is `kSecAttrAccount`, and its attributes are `kSecAttrGeneric`. Source: Apple, "Sharing access to
/// keychain items among a collection of apps" and `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
struct KeychainItems: SecretItems {
    /// The access group, as in both targets' entitlements.
    let accessGroup: String

    func list() throws(SecretItemError) -> [ListedItem] {
        var query = base
        query[kSecMatchLimit] = kSecMatchLimitAll
        query[kSecReturnAttributes] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        try Self.check(status)
        return (result as? [[CFString: Any]] ?? []).compactMap(Self.item)
    }

    func secret(account: String) throws(SecretItemError) -> ItemSecret {
        var query = base
        query[kSecAttrAccount] = account
        query[kSecMatchLimit] = kSecMatchLimitOne
        query[kSecReturnData] = true
        var result: CFTypeRef?
        try Self.check(SecItemCopyMatching(query as CFDictionary, &result))
        guard let data = result as? Data, (1...65_536).contains(data.count) else { throw .notFound }
        var bytes = Array(data)
        defer { wipe(&bytes) }
        return bytes.withUnsafeBytes { ItemSecret(copying: $0) }
    }

    func add(_ item: SecretItem) throws(SecretItemError) {
        var attributes = base
        attributes[kSecAttrAccount] = item.account
        attributes[kSecAttrGeneric] = Data(item.attributes)
        attributes[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        let status = item.secret.withBytes { bytes in
            attributes[kSecValueData] = Data(bytes)
            return SecItemAdd(attributes as CFDictionary, nil)
        }
        try Self.check(status)
    }

    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        var query = base
        query[kSecAttrAccount] = item.account
        // Matches only if no other process has changed the item.
        query[kSecAttrGeneric] = Data(item.attributes)
        let changes: [CFString: Any] = [kSecAttrGeneric: Data(attributes)]
        try Self.check(SecItemUpdate(query as CFDictionary, changes as CFDictionary))
    }

    func remove(account: String) throws(SecretItemError) {
        var query = base
        query[kSecAttrAccount] = account
        try Self.check(SecItemDelete(query as CFDictionary))
    }

    private var base: [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "sealed-push",
            kSecAttrAccessGroup: accessGroup, kSecAttrSynchronizable: false, kSecUseDataProtectionKeychain: true,
        ]
    }

    private static func item(_ found: [CFString: Any]) -> ListedItem? {
        guard let account = found[kSecAttrAccount] as? String, let attributes = found[kSecAttrGeneric] as? Data
        else { return nil }
        return ListedItem(account: account, attributes: Array(attributes))
    }

    private static func check(_ status: OSStatus) throws(SecretItemError) {
        switch status {
        case errSecSuccess: return
        case errSecDuplicateItem: throw .duplicate
        case errSecItemNotFound: throw .notFound
        case errSecInteractionNotAllowed: throw .locked
        default: throw .other(status)
        }
    }
}
#endif
