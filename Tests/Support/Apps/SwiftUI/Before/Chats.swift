import Foundation

/// The app's state: the account, and the conversation on the screen.
@MainActor final class Chats {
    private(set) var account: String?
    private(set) var thread: String?

    func logIn(_ session: String) async {
        account = session
    }

    func logOut() async {
        account = nil
        thread = nil
    }

    func show(_ thread: String?) {
        self.thread = thread
    }
}
