#if canImport(UIKit)
import PushService
import UIKit
import UserNotifications
import UserNotificationsUI

/// The content extension's view controller, which shows the rows of `StoryView`.
final class NotificationViewController: UIViewController, @MainActor UNNotificationContentExtension {
    private let stack = UIStackView()

    override func viewDidLoad() {
        super.viewDidLoad()
        stack.axis = .vertical
        stack.spacing = 8
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        NSLayoutConstraint.activate([
            stack.topAnchor.constraint(equalTo: view.topAnchor, constant: 12),
            stack.leadingAnchor.constraint(equalTo: view.leadingAnchor, constant: 16),
            stack.trailingAnchor.constraint(equalTo: view.trailingAnchor, constant: -16),
            stack.bottomAnchor.constraint(lessThanOrEqualTo: view.bottomAnchor, constant: -12),
        ])
    }

    func didReceive(_ notification: UNNotification) {
        guard let expanded = ExpandedNotification(notification) else { return }
        for shown in stack.arrangedSubviews { shown.removeFromSuperview() }
        for row in StoryView().rows(for: expanded) { stack.addArrangedSubview(view(of: row)) }
    }

    private func view(of row: ExpandedRow) -> UIView {
        switch row {
        case .text(let text):
            let label = UILabel()
            label.text = text
            label.font = .preferredFont(forTextStyle: .body)
            label.numberOfLines = 0
            return label
        // To play sound and movies, see Apple's `mediaPlayPauseButtonType`.
        case .media(let attachment):
            return UIImageView(image: attachment.withFile { UIImage(contentsOfFile: $0.path) })
        }
    }
}
#endif
