import SwiftUI

@MainActor let chats = Chats()

@main
struct ChatApp: App {
    var body: some Scene {
        WindowGroup { ChatView() }
    }
}

struct ChatView: View {
    @State private var session = ""

    var body: some View {
        List {
            Text(chats.account ?? "Nobody")
            Text(chats.thread ?? "All conversations")
            SecureField("Session", text: $session)
            Button("Log in") { Task { await chats.logIn(session) } }
            Button("Log out") { Task { await chats.logOut() } }
        }
    }
}
