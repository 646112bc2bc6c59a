import SwiftUI

@main
struct SealedPushApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate

    var body: some Scene {
        WindowGroup { HomeView() }
            .backgroundTask(.appRefresh(Pushes.refreshTask)) { await Pushes.shared.refresh() }
    }
}

/// Shows the login state, the conversation that was tapped, and the log, which contains only codes and public key IDs.
struct HomeView: View {
    @Environment(\.scenePhase) private var phase
    @State private var session = ""
    private let pushes = Pushes.shared

    var body: some View {
        List {
            Section("Pushes") {
                Text(pushes.state)
                if let thread = pushes.thread { Text("Conversation: \(thread)") }
                Button("Allow notifications") { Task { await pushes.askForPermission() } }
                SecureField("Session", text: $session)
                Button("Log in") { Task { await pushes.logIn(Account(session: session)) } }
                Button("Send me a test") { Task { await pushes.sendTest() } }
                Button("Log out") { Task { await pushes.logOut() } }
            }
            Section("Log") {
                ForEach(pushes.log, id: \.self) { Text($0) }
            }
        }
        .task(id: phase) {
            if phase == .active { await pushes.becameActive() }
        }
    }
}
