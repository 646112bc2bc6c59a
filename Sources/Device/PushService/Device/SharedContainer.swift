public import Foundation

/// The folder that the app and its extension share. The ledger and the log are in its subfolder `SealedPush`.
public enum SharedContainer: Sendable {
    /// An app group, such as `group.com.example`. In the simulator, the simulated device's folder.
    case appGroup(String)
    /// A folder that the app chooses.
    case folder(URL)
    /// An account's part of a container, in ``ServiceConfiguration/container`` of an account's configuration.
    indirect case account(AccountID, in: SharedContainer)

    /// The container itself if this is an account's part of it.
    var whole: SharedContainer {
        switch self {
        case .appGroup, .folder: self
        case .account(_, let container): container
        }
    }

    /// The account whose part this is; nil for the whole.
    package var account: AccountID? {
        switch self {
        case .appGroup, .folder: nil
        case .account(let id, _): id
        }
    }

    package static let subfolderName = "SealedPush"
}
