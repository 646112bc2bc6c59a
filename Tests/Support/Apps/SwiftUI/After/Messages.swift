import Foundation
import PushService

extension ServiceConfiguration {
    nonisolated static let messages = ServiceConfiguration(
        group: "group.com.example",
        trusting: ["pushsender1..."],
        safeDefault: String(localized: "You have a new message!")
    )
}
