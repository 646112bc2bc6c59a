package import Foundation

/// The state that outlives the app's process.
package struct Saved: Codable, Sendable {
    /// The app's own login; nil if no one is logged in.
    package var session: String?
    /// The newest push token.
    package var token: Data?
    /// The login of the account that this phone left, while its server may still have to be told.
    package var leaving: String?

    package init() {}
}
