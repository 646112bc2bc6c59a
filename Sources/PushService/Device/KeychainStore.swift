#if canImport(Security)
    import Foundation
    internal import PushCrypto
    public import SealedPush
    internal import Security

    /// A device's keys in Apple's keychain: readable after the first unlock, on this device only, by app and extension.
    ///
    /// One generic password an identity: its account is the recipient's text, its data the secret text, its creation date
    /// the key's. The extension only reads. Safe from several threads.
    ///
    /// Source: Apple, "Sharing access to keychain items among a collection of apps" and
    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
    public struct KeychainStore: KeyStore {
        private let accessGroup: String

        /// - Parameter accessGroup: with the team's prefix, as in both targets' entitlements.
        public init(accessGroup: String) { self.accessGroup = accessGroup }

        public func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] {
            try all().filter { $0.identity.recipient.keyID == id }
        }

        /// Every key of this device, newest first.
        public func all() throws(KeyStoreError) -> [DeviceKey] {
            var query = base
            query[kSecMatchLimit] = kSecMatchLimitAll
            query[kSecReturnAttributes] = true
            query[kSecReturnData] = true
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            switch status {
            case errSecSuccess: break
            case errSecItemNotFound: return []
            default: throw Self.error(status)
            }
            let items = result as? [[CFString: Any]] ?? []
            return items.compactMap(Self.key).sorted { $0.created > $1.created }
        }

        /// The recipient to hand to the server: of the newest key, made now if there is none. For the app, not for the
        /// extension.
        ///
        /// Before the first key the ledger is begun, so that no message is taken for one of an earlier installation
        /// (Specification 7.11). Should app and another process make one at once, the newest is taken by both.
        public func recipient(container: SharedContainer) throws -> Recipient {
            if let newest = try all().first { return newest.identity.recipient }
            try FileLedger.begin(in: container)
            let identity = Identity()
            var attributes = base
            attributes[kSecAttrAccount] = identity.recipient.description
            attributes[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let status = identity.withSecretText { text in
                attributes[kSecValueData] = Data(text)
                return SecItemAdd(attributes as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.error(status) }
            return try all().first?.identity.recipient ?? identity.recipient
        }

        private var base: [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "sealed-push identity",
                kSecAttrAccessGroup: accessGroup, kSecUseDataProtectionKeychain: true,
            ]
        }

        private static func key(_ item: [CFString: Any]) -> DeviceKey? {
            guard let data = item[kSecValueData] as? Data, let created = item[kSecAttrCreationDate] as? Date,
                let identity = identity(data),
                let moment = Timestamp(secondsSince1970: Int64(created.timeIntervalSince1970))
            else { return nil }
            return DeviceKey(identity, created: moment)
        }

        private static func identity(_ data: Data) -> Identity? {
            var text = Array(data)
            defer { wipe(&text) }
            return try? Identity(parsing: text)
        }

        private static func error(_ status: OSStatus) -> KeyStoreError {
            status == errSecInteractionNotAllowed ? .locked : .unavailable("the keychain answered with \(status)")
        }
    }
#endif
