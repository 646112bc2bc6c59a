public import Foundation

/// The folder that the app and its extension share. The ledger and the log are in its subfolder `SealedPush`.
public enum SharedContainer: Sendable {
    /// An app group, such as `group.com.example`. In the simulator, the simulated device's folder.
    case appGroup(String)
    /// A folder that the app chooses.
    case folder(URL)

    package static let subfolderName = "SealedPush"
}
