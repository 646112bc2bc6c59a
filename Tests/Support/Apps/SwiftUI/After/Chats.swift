import Foundation
import PushApp
import PushService

@MainActor let pushes = SealedPushes(.messages, server: URL(string: "https://push.example.com")) { session in
    "Bearer \(session)"
}

/// The app's state: the account, and the conversation on the screen.
@MainActor final class Chats {
    private(set) var account: String?
    private(set) var thread: String?

    init() {
        pushes.onTap = { [weak self] message, _ in self?.show(try? message.decode([String: String].self)["thread"]) }
    }

    func logIn(_ session: String) async {
        account = session
        await pushes.askForPermission()
        await pushes.logIn(session)
    }

    func logOut() async {
        account = nil
        thread = nil
        await pushes.logOut()
    }

    func show(_ thread: String?) {
        self.thread = thread
    }
}
