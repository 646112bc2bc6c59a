import SwiftUI

@main
struct SealedPushApp: App {
    #if os(macOS)
        @NSApplicationDelegateAdaptor(AppDelegate.self) private var delegate
        var body: some Scene {
            WindowGroup { HomeView() }
        }
    #else
        @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate
        var body: some Scene {
            WindowGroup { HomeView() }
                .backgroundTask(.appRefresh(Pushes.refreshTask)) { await Pushes.shared.refresh() }
        }
    #endif
}

/// Who is logged in, what a tap has asked for, and the log for support: codes and public key IDs only.
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
                Button("Log in") { pushes.logIn(Account(session: session)) }
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
