public import Foundation
public import SealedPush

/// An account on this device, at a server that the user chose: its name, its server, and the senders that may speak for it.
///
/// All of this is pinned when the app adds the account, from a QR code, a link, or the login at the server:
/// ```swift
/// let account = PushAccount(
///     "nina@one.example", server: server, trusting: [try SenderPublicKey(parsing: text)])
/// ```
/// A sender of one account can't write, withdraw, or count for another, even at the same server. To change a pin, remove the
/// account and add it again; or pin an authority, whose sender sets replace the senders. Source: DeviceState 39.
public struct PushAccount: Hashable, Sendable {
    /// The name that the app chose.
    public let name: AccountName
    /// The URL where the server's paths begin, as in ``PushServerClient``.
    public let server: URL
    /// The name of the server's service; nil if it's the topic.
    public let service: ServiceName?
    /// The senders, most likely first, trusted until a sender set signed by one of the authorities is accepted.
    public let senders: [SenderPublicKey]
    /// The keys that sign the account's sender sets.
    public let authorities: [AuthorityPublicKey]
    /// The notification that the user sees if a message of this account doesn't open; nil for the app's own.
    public let safeDefault: SafeDefault?

    /// Creates an account; see each property for its meaning.
    public init(
        _ name: AccountName, server: URL, service: ServiceName? = nil, trusting senders: [SenderPublicKey],
        authorities: [AuthorityPublicKey] = [], safeDefault: SafeDefault? = nil
    ) {
        self.name = name
        self.server = server
        self.service = service
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
    }
}

extension PushAccount {
    /// The most accounts with a name that a device can have.
    public static let maximumCount = 32

    /// The server's host, to which receipts about this account's messages may go.
    var host: String? { server.host()?.lowercased() }

    /// Whether the item's form can hold it, and a message could open.
    var isUsable: Bool {
        let keyCount = senders.count + authorities.count
        return ListForm.keyCounts.contains(keyCount) && server.absoluteString.utf8.count <= 2_048
            && (safeDefault.map { $0.title.utf8.count + $0.body.utf8.count <= 4_096 } ?? true)
    }

    /// The item's secret: JSON with the pins and the account's number.
    func json(_ id: AccountID) -> [UInt8] {
        var members: [String: JSONValue] = [
            "id": .string(id.description), "name": .string(name.description),
            "server": .string(server.absoluteString), "senders": .array(senders.map { .string($0.description) }),
            "authorities": .array(authorities.map { .string($0.description) }),
        ]
        members["service"] = service.map { .string($0.description) }
        members["safeDefault"] = safeDefault.map { shown in
            ["title": .string(shown.title), "body": .string(shown.body), "sound": .bool(shown.playsSound)]
        }
        return JSONValue.object(members).bytes
    }

    /// Returns nil unless the bytes have the form that ``json(_:)`` makes, for this number. A part that isn't valid spoils all of
    /// it: without its authority, for instance, a sender that a set has revoked would be trusted again.
    init?(parsing bytes: UnsafeRawBufferPointer, of id: AccountID) {
        guard let members = JSONReader.object(Array(bytes), maximumByteCount: 65_536),
            members["id"]?.string == id.description,
            let name = members["name"]?.string.flatMap(AccountName.init(parsing:)),
            let server = members["server"]?.string.flatMap(URL.init(string:)),
            let senders: [SenderPublicKey] = Self.keys(members["senders"]),
            let authorities: [AuthorityPublicKey] = Self.keys(members["authorities"])
        else { return nil }
        var service: ServiceName?
        if let value = members["service"] {
            service = value.string.flatMap(ServiceName.init(parsing:))
            guard service != nil else { return nil }
        }
        self.init(
            name, server: server, service: service, trusting: senders, authorities: authorities,
            safeDefault: members["safeDefault"].flatMap(Self.safeDefault))
    }

    private static func keys<Role: TrustedRole>(_ value: JSONValue?) -> [PublicKey<Role>]? {
        guard case .array(let texts)? = value else { return nil }
        let keys = texts.compactMap { text in text.string.flatMap { try? PublicKey<Role>(parsing: $0) } }
        return keys.count == texts.count ? keys : nil
    }

    private static func safeDefault(_ value: JSONValue) -> SafeDefault? {
        let (title, body) = (value["title"]?.string ?? "", value["body"]?.string ?? "")
        guard VisibleText.isVisible(title) || VisibleText.isVisible(body) else { return nil }
        return SafeDefault(title: title, body: body, playsSound: value["sound"]?.bool ?? true)
    }
}
