#if os(Linux)
import PushSimulator

/// Runs the extension in `device-simulator`. Not part of the app.
@main
struct SimulatorHost {
    static func main() { ExtensionHost.run { NotificationService() } }
}
#endif
