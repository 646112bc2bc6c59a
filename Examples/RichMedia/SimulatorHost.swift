#if os(Linux)
import PushSimulator

/// Runs the extensions in `device-simulator`. Not part of the app.
@main
struct SimulatorHost {
    static func main() { ExtensionHost.run(expandedViews: [StoryView()]) { NotificationService() } }
}
#endif
