package import Foundation
package import UserNotifications

/// A notification in the list. On Apple's systems, only the system can create a `UNNotification`.
package struct DeliveredNotification {
    package let request: UNNotificationRequest
    package let date: Date

    package init(request: UNNotificationRequest, date: Date) { (self.request, self.date) = (request, date) }
}
