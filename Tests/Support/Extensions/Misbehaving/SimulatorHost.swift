import PushSimulator

@main
struct SimulatorHost {
    static func main() { ExtensionHost.run { NotificationService() } }
}
