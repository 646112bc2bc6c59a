import PushApp
import UIKit

@MainActor let chats = Chats()

@main
class AppDelegate: PushAppDelegate {
    override var sealedPushes: SealedPushes { pushes }
    var window: UIWindow?

    override func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        let window = UIWindow(frame: UIScreen.main.bounds)
        window.rootViewController = ChatViewController(nibName: nil, bundle: nil)
        window.makeKeyAndVisible()
        self.window = window
        return super.application(application, didFinishLaunchingWithOptions: launchOptions)
    }
}
