import PushApp
import PushService
import SwiftUI

@main
struct SealedPushApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate

    var body: some Scene {
        WindowGroup { HomeView() }
    }
}

/// Shows the login state, the conversation that was tapped, and the log, which contains only codes and public key IDs.
struct HomeView: View {
    @State private var session = ""
    @State private var thread: String?
    @State private var test = ""

    var body: some View {
        List {
            Section("Pushes") {
                Text(pushes.status.description)
                if let thread { Text("Conversation: \(thread)") }
                Button("Allow notifications") { Task { await pushes.askForPermission() } }
                SecureField("Session", text: $session)
                Button("Log in") { Task { await pushes.logIn(session) } }
                Button("Send me a test") { Task { await sendTest() } }
                Text(test)
                Button("Log out") { Task { await pushes.logOut() } }
            }
            Section("Log") {
                ForEach(pushes.log, id: \.self) { entry in
                    Text(entry.time.date.formatted() + " " + entry.description)
                }
            }
        }
        .onAppear {
            pushes.onTap = { message, _ in thread = try? message.decode(MessageData.self).thread }
        }
    }

    private func sendTest() async {
        do {
            try await pushes.sendTest()
            test = "A test is on its way."
        } catch { test = "The test wasn't sent: \(error)" }
    }
}
