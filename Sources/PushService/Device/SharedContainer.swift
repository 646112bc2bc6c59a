public import Foundation

/// The folder that app and extension share: the ledger and the log lie in its subfolder `SealedPush`.
public enum SharedContainer: Sendable {
    /// An app group (`group.com.example`). In the simulator: the simulated device's folder.
    case appGroup(String)
    /// A folder of the app's own choice.
    case folder(URL)

    package static let subfolderName = "SealedPush"
}
