import Foundation
import SealedPush

#if canImport(Security)
import Security
#endif

/// One item in the app's own keychain group, which its extension can't read. Other systems have none.
struct KeychainStorage: PushStorage {
    let topic: Topic

    #if canImport(Security)
    private var query: [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "sealed-push-login",
            kSecAttrAccount: topic.description, kSecUseDataProtectionKeychain: true,
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
