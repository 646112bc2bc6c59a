package import Dispatch
public import Foundation
internal import PushCore
public import SealedPush
public import UserNotifications

/// What the service module tells the app about a notification, read from its user info.
///
/// For the app, in `userNotificationCenter(_:didReceive:)` and wherever else it gets a `UNNotification`. Never for what
/// `application(_:didReceiveRemoteNotification:)` is given: that is the wire's own payload, and a carrier can write into it
/// what it likes. Source: Specification 6.7.
public struct SealedNotification: Hashable, Sendable {
    /// Nil where it opened; else the code of what went wrong, for the app's own log.
    public let reason: String?
    /// The message's ID, where it opened.
    public let id: String?
    /// The sender's public key, where it opened and the sender is known.
    public let sender: String?
    /// The app's own data, where it opened and there is some.
    public let data: JSONValue?
    /// Keys of the content that this version does not know.
    public let other: [String: JSONValue]
    /// The envelope's text, where the device was locked: see ``ServiceConfiguration/open(envelope:requestIdentifier:)``.
    public let envelope: String?
    /// Where the attachments came from, by their identifiers.
    public let attachmentURLs: [String: URL]

    /// Nil unless this user info was made by the service module: then it holds one key and nothing else.
    ///
    /// A push that never woke the extension still has its `aps`, and whoever carried it could have put anything beside
    /// that. Such a push is not believed.
    public init?(userInfo: [AnyHashable: Any]) {
        guard userInfo.count == 1, let members = userInfo[Self.key] as? [String: Any],
            let outcome = members["outcome"] as? String
        else { return nil }
        let reason = members["reason"] as? String
        guard (outcome == "opened") == (reason == nil) else { return nil }
        self.reason = reason
        id = members["id"] as? String
        sender = members["sender"] as? String
        data = (members["data"] as? String).flatMap(Self.value)
        other = (members["other"] as? String).flatMap(Self.value)?.members ?? [:]
        envelope = members["envelope"] as? String
        attachmentURLs = (members["attachments"] as? [String: String] ?? [:]).compactMapValues(URL.init(string:))
    }

    static let key = "sealed-push"

    /// JSON as text: user info takes property lists only, and those have no null.
    static func text(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func value(_ text: String) -> JSONValue? {
        // The reader takes objects only; data may be any value.
        let wrapped = Array("{\"value\":".utf8) + Array(text.utf8) + Array("}".utf8)
        return JSONReader.object(wrapped, maximumByteCount: 65_536)?["value"]
    }
}

extension JSONValue {
    fileprivate var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

/// The principal class of an app's notification service extension: subclass it and say what is yours in
/// ``configuration``.
///
/// It opens each push, puts the content in place of the alert, and shows the safe default whenever that fails. iOS may
/// run several requests at once in one process and on one instance: all state is kept per request. Opening takes about
/// a millisecond, and a few more for the ledger's syncs; below 6 MB of memory of its own. The stages have 25 seconds
/// from the call; what is ready by then is shown.
///
/// Not promised: anything where iOS does not run the extension at all (alerts switched off, a push without
/// `mutable-content`), or where the process crashes: then iOS shows the text of the wire.
///
/// Source: Apple, "Modifying content in newly delivered notifications"; Specification 6.
open class SealedNotificationService: UNNotificationServiceExtension {
    /// What is the app's own; read once for each push. Must be overridden.
    open var configuration: ServiceConfiguration {
        preconditionFailure("override `configuration` in your subclass of SealedNotificationService")
    }

    /// The device; the simulator puts in its own.
    package var environment = DeviceEnvironment.system
    /// Open as long as something is tidied up, after the handler was called.
    package let tidying = DispatchGroup()
    private let outstanding = Locked<[ObjectIdentifier: ServiceRun]>([:])

    /// Starts opening and returns; the handler is called once, with the content or with the safe default.
    open override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        tidying.enter()
        let start = ContinuousClock.now
        let configuration = configuration
        let opening = PushOpening(configuration, environment: environment)
        let run = ServiceRun(request, configuration, environment, opening, at: start, handler: contentHandler) {
            [outstanding, tidying] run in
            outstanding.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(run)) }
            tidying.leave()
        }
        outstanding.withLock { $0[ObjectIdentifier(run)] = run }
        StageExecutor.queue().async { run.run() }
    }

    /// Shows for every request what there is, at once.
    open override func serviceExtensionTimeWillExpire() {
        for run in outstanding.withLock({ Array($0.values) }) { run.expire() }
    }
}
