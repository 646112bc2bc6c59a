public import Foundation
public import SealedPush

/// The service module's information about a notification, read from its user info.
///
/// For the app, in `userNotificationCenter(_:didReceive:)` and wherever else it gets a `UNNotification`. Never for the payload
/// in `application(_:didReceiveRemoteNotification:)`: a carrier can write anything into it. Source: DeviceState 31.2.
public struct SealedNotification: Hashable, Sendable {
    /// Why the message didn't open, for the app's own log; nil if it opened.
    public let reason: OpenError?
    /// The account whose message this is; nil for the app's own. If the message didn't open, the one account whose key it matches,
    /// which doesn't prove that it was for this account; nil if it matches none or several.
    public let account: AccountName?
    /// The account's number.
    package let accountID: AccountID?
    /// The message's ID, if it opened.
    public let id: MessageID?
    /// The time at which the message was sent, if it opened.
    public let sent: Timestamp?
    /// The time at which the message expires, if it opened and has one; see ``ServiceConfiguration/removeExpired()``.
    public let expires: Timestamp?
    /// The sender's public key, if it opened and the sender is known.
    public let sender: SenderPublicKey?
    /// The app's own data, if it opened and has any; ``decode(_:)`` converts it to a value. Missing if the notification
    /// doesn't show its message: ``ServiceConfiguration/complete(_:)`` adds it.
    public private(set) var data: JSONValue?
    /// The content's keys that this version doesn't know.
    public private(set) var other: [String: JSONValue]
    /// How much of the message the notification shows.
    public let disclosure: Content.Disclosure
    /// The envelope's text, if the device was locked (``ServiceConfiguration/reopened(_:)``), or if the notification doesn't
    /// show all (``ServiceConfiguration/complete(_:)``).
    public let envelope: String?
    /// The URLs from which the attachments were fetched, by identifier.
    public let attachmentURLs: [String: URL]

    /// Reads user info; nil unless the service module made it, with its one key and no other. A push that never woke
    /// the extension still contains its `aps` and anything that a carrier added, so it isn't trusted.
    ///
    /// For tests and content extensions. An app calls ``ServiceConfiguration/sealed(_:)``, which doesn't depend on what the
    /// system adds to user info.
    public init?(userInfo: [AnyHashable: Any]) { self.init(userInfo: userInfo, NotificationSeal(in: nil)) }

    /// Reads user info that has the proof of this device, whatever else it contains, or that has no other key.
    init?(userInfo: [AnyHashable: Any], _ seal: NotificationSeal) {
        guard let members = userInfo[Self.key] as? [String: Any], userInfo.count == 1 || seal.isValid(members),
            let outcome = members["outcome"] as? String
        else { return nil }
        let code = members["reason"] as? String
        let reason = code.flatMap(OpenError.init(rawValue:))
        guard (outcome == "opened") == (code == nil), (code == nil) == (reason == nil) else { return nil }
        self.reason = reason
        account = (members["account"] as? String).flatMap(AccountName.init(parsing:))
        accountID = (members["account-number"] as? String).flatMap { AccountID(parsing: $0) }
        id = (members["id"] as? String).flatMap(MessageID.init(parsing:))
        sent = (members["sent"] as? Int).flatMap { Timestamp(secondsSince1970: Int64($0)) }
        expires = (members["expires"] as? Int).flatMap { Timestamp(secondsSince1970: Int64($0)) }
        sender = (members["sender"] as? String).flatMap { try? SenderPublicKey(parsing: $0) }
        data = (members["data"] as? String).flatMap(Self.value)
        other = (members["other"] as? String).flatMap(Self.value)?.members ?? [:]
        envelope = members["envelope"] as? String
        let level = members["disclosure"] as? String
        disclosure = level.map { Content.Disclosure(rawValue: $0) ?? .generic } ?? .full
        attachmentURLs = (members["attachments"] as? [String: String] ?? [:]).compactMapValues(URL.init(string:))
    }

    /// Returns the same with the app's data from the message's content.
    func with(_ content: Content) -> SealedNotification {
        var completed = self
        (completed.data, completed.other) = (content.data, content.other)
        return completed
    }

    /// Decodes ``data`` as JSON; missing data counts as null.
    ///
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data((data ?? .null).bytes))
    }

    static let key = "sealed-push"

    /// Returns JSON as text, because user info accepts only property lists, which have no null.
    static func text(_ value: JSONValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

    private static func value(_ text: String) -> JSONValue? {
        JSONReader.value(Array(text.utf8), maximumByteCount: 65_536)
    }
}

extension Timestamp {
    /// This time as Foundation's type.
    public var date: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }
}

extension JSONValue {
    var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}
