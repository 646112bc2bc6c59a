public import Foundation

/// The icon of an action (Apple, UNNotificationActionIcon).
public final class UNNotificationActionIcon: NSObject, NSCopying {
    // NSSecureCoding is left out: nothing archives an icon.

    /// The image's name.
    package let imageName: String
    /// Whether the image is one of the system's symbols rather than the app's.
    package let isSystemImage: Bool

    private init(_ imageName: String, isSystemImage: Bool) {
        self.imageName = imageName
        self.isSystemImage = isSystemImage
    }

    /// Makes an icon of an image in the app's bundle.
    public convenience init(templateImageName: String) {
        self.init(templateImageName, isSystemImage: false)
    }

    /// Makes an icon of a system symbol.
    public convenience init(systemImageName: String) {
        self.init(systemImageName, isSystemImage: true)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationActionIcon else { return false }
        return imageName == other.imageName && isSystemImage == other.isSystemImage
    }

    public override var hash: Int { imageName.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}
