internal import Foundation
public import SealedPush

extension Topic {
    /// The bundle ID of the app that this code runs in, also in the app's extension, whose own ID has one more component, as
    /// Xcode's template makes it. A program without a bundle ID, such as on Linux, gets `com.example.app`.
    public static var ofThisApp: Topic {
        of(Bundle.main.bundleIdentifier, isExtension: Bundle.main.bundleURL.pathExtension == "appex")
    }

    static func of(_ identifier: String?, isExtension: Bool) -> Topic {
        let parts = (identifier ?? "").split(separator: ".", omittingEmptySubsequences: false)
        return Topic(parsing: parts.dropLast(isExtension ? 1 : 0).joined(separator: ".")) ?? "com.example.app"
    }
}
