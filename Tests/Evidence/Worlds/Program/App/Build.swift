import Foundation
import PushService
import SealedPush

/// In place of the example's settings from Xcode.
nonisolated enum Build {
    static let server: URL? = nil
    static let environment = PushEnvironment.production
}

extension ServiceConfiguration {
    nonisolated static var messages: ServiceConfiguration { preconditionFailure("each phone has its own") }
}
