import Foundation
import Observation
import PushService
import SealedPush
import UserNotifications

#if !os(macOS)
    import BackgroundTasks
#endif

/// What the app has of its own server: put yours in its place.
nonisolated struct Account: Sendable {
    /// Yours keeps it in the keychain, to be read from the first unlock on: the background task needs it, too.
    let session: String

    /// A push token for this account: your server gets it from `POST /v1/logins` (Docs/ServerGuide.md, 6).
    func pushToken() async throws -> String {
        var request = URLRequest(url: try url("push-token"))
        request.httpMethod = "POST"
        request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.userAuthenticationRequired) }
        return String(decoding: data, as: UTF8.self)
    }

    func pushServer() throws -> PushServerClient {
        PushServerClient(url: try url("")) { "Bearer \(try await pushToken())" }
    }

    private func url(_ path: String) throws -> URL {
        guard let url = URL(string: "\(Build.server)/\(path)") else { throw URLError(.badURL) }
        return url
    }
}

/// All that the app does about its pushes, and what its views show of it.
@MainActor @Observable final class Pushes {
    static let shared = Pushes()
    /// As in `Info.plist`, under `BGTaskSchedulerPermittedIdentifiers`.
    nonisolated static let refreshTask = "com.example.push-keys"

    private(set) var state = "Nobody is logged in."
    private(set) var log: [String] = []
    /// The conversation that a tap has asked for.
    private(set) var thread: String?

    private var account: Account?
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var openedThreads = OpenedThreads()
    /// Asks the system for the token; the delegate hands in what comes.
    var register: () -> Void = {}

    // MARK: The account

    /// Ask where a person sees what for. The system asks once; later calls return what was chosen.
    func askForPermission() async {
        let options: UNAuthorizationOptions = [.alert, .badge, .sound]
        let isAllowed = try? await UNUserNotificationCenter.current().requestAuthorization(options: options)
        state = isAllowed == true ? "Notifications are allowed." : "Notifications are off: see the system's settings."
    }

    func logIn(_ account: Account) {
        self.account = account
        register()
    }

    /// While the login still counts: otherwise the phone stays the account's.
    func logOut() async {
        guard let account else { return }
        do {
            try await account.pushServer().unregister(.messages)
            self.account = nil
            state = "Nobody is logged in."
        } catch { state = "Still logged in: \(error)" }
    }

    // MARK: Token and keys

    /// At each launch, whatever was answered to the question for permission: the token can change.
    func took(token: Data) async {
        if let account, let server = try? account.pushServer() {
            let update = await server.update(.messages, token: token, environment: Build.environment)
            // Nothing is lost, and the next call does what was left.
            state = update.problems.first?.description ?? "Enrolled as \(update.device ?? "this device")."
            if update.maintenance?.isOverdue == true { state += " No message has come for 45 days." }
        }
        finishWaiting()
    }

    func tookNoToken(_ error: any Error) {
        state = "No token: \(error.localizedDescription)"
        finishWaiting()
    }

    /// Once a day, in the background.
    func refresh() async {
        planRefresh()
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            register()
        }
    }

    func planRefresh() {
        #if !os(macOS)
            let request = BGAppRefreshTaskRequest(identifier: Self.refreshTask)
            request.earliestBeginDate = Date(timeIntervalSinceNow: 86_400)
            // Fails where a person has switched background refresh off: then launches have to do.
            try? BGTaskScheduler.shared.submit(request)
        #endif
    }

    private func finishWaiting() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    // MARK: Notifications

    func becameActive() async {
        await openWhatWasLocked()
        let entries = ServiceLog(container: ServiceConfiguration.messages.container)?.entries() ?? []
        log = entries.reversed().map { entry in
            let keyIDs = "\(entry.recipientKeyID ?? "-") \(entry.senderKeyID ?? "-")"
            return "\(entry.time.secondsSince1970) \(entry.reason?.rawValue ?? "opened") \(keyIDs)"
        }
    }

    /// Pushes that came before the first unlock show the safe default, and bring their envelope: they are opened now.
    func openWhatWasLocked() async {
        let center = UNUserNotificationCenter.current()
        let delivered = await center.deliveredNotifications()
        openedThreads.keep(only: delivered.map { $0.request.identifier })
        for notification in delivered {
            let request = notification.request
            guard let sealed = SealedNotification(userInfo: request.content.userInfo), let envelope = sealed.envelope,
                let opened = try? ServiceConfiguration.messages.open(
                    envelope: envelope, requestIdentifier: request.identifier)
            else { continue }
            openedThreads.add(opened.content.data?.thread, under: request.identifier)
            try? await center.add(
                UNNotificationRequest(identifier: request.identifier, content: opened.content.shown, trigger: nil))
        }
    }

    /// - Parameters:
    ///   - sealed: nil for what the extension has not made.
    ///   - isRemote: whether the push itself was tapped: then it is another provider's, where `sealed` is nil.
    func tapped(_ sealed: SealedNotification?, _ identifier: String, isRemote: Bool) {
        if let sealed {
            thread = sealed.reason == nil ? sealed.data?.thread : nil
        } else if !isRemote {
            thread = openedThreads[identifier]
        }
    }
}

/// The conversations of what was opened late: its notification can't carry them (Docs/AppGuide.md, 8).
struct OpenedThreads {
    private var threads: [String: String]
    private static let folder = URL.applicationSupportDirectory
    private static let file = folder.appending(path: "opened-threads.json")

    init() {
        threads = (try? JSONDecoder().decode([String: String].self, from: Data(contentsOf: Self.file))) ?? [:]
    }

    subscript(identifier: String) -> String? { threads[identifier] }

    mutating func add(_ thread: String?, under identifier: String) {
        threads[identifier] = thread
        save()
    }

    mutating func keep(only identifiers: [String]) {
        let kept = threads.filter { identifiers.contains($0.key) }
        guard kept.count < threads.count else { return }
        threads = kept
        save()
    }

    private func save() {
        try? FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        try? JSONEncoder().encode(threads).write(to: Self.file, options: .atomic)
    }
}

extension JSONValue {
    /// What this app's server puts into `data`; yours to check, as it is the content of a message.
    fileprivate var thread: String? {
        guard case .string(let thread)? = self["thread"] else { return nil }
        return thread
    }
}

extension Content {
    fileprivate var shown: UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = alert.title ?? ""
        content.subtitle = alert.subtitle ?? ""
        content.body = alert.body ?? ""
        content.badge = badge.map { NSNumber(value: $0) }
        content.threadIdentifier = threadID ?? ""
        content.categoryIdentifier = category ?? ""
        return content
    }
}
