public import Foundation

/// A place for the login and the token of ``SealedPushes``: by default, an item in the app's keychain.
///
/// It must be readable in the background from the first unlock on, outlive the app's process, and keep secrets. Called one
/// call at a time, off the main actor.
public protocol PushStorage: Sendable {
    /// Returns the data, or nil if there are none.
    ///
    /// - Throws: if the data can't be read now, such as before the first unlock after a restart.
    func read() throws -> Data?

    /// Replaces the data, and returns whether that succeeded.
    func write(_ data: Data) -> Bool
}
