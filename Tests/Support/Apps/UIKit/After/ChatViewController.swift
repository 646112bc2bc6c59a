import UIKit

class ChatViewController: UIViewController {
    private let label = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        label.text = chats.thread ?? "All conversations"
        view.addSubview(label)
    }
}
