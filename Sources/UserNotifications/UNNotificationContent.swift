public import Foundation

/// What a notification shows; it never changes (Apple, UNNotificationContent).
///
/// Two contents with the same values are equal, whether one of them is mutable or not.
public class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    /// Written by the mutable subclass only.
    var fields: ContentFields

    /// Makes empty content, with which an extension that may filter suppresses a notification.
    public override init() {
        fields = ContentFields()
        super.init()
    }

    init(fields: ContentFields) {
        self.fields = fields
        super.init()
    }

    /// The files shown with the notification.
    public var attachments: [UNNotificationAttachment] { fields.attachments }
    /// The number on the app's icon: nil leaves it, 0 removes it.
    public var badge: NSNumber? { fields.badge }
    /// The main text, "" when absent.
    public var body: String { fields.body }
    /// The identifier of the notification's category, "" when absent.
    public var categoryIdentifier: String { fields.categoryIdentifier }
    /// The launch image's name, "" when absent.
    public var launchImageName: String { fields.launchImageName }
    /// The sound, nil for none.
    public var sound: UNNotificationSound? { fields.sound }
    /// The second line, "" when absent.
    public var subtitle: String { fields.subtitle }
    /// The conversation that groups notifications, "" when absent.
    public var threadIdentifier: String { fields.threadIdentifier }
    /// The first line, "" when absent.
    public var title: String { fields.title }
    /// The whole payload of a remote notification, with "aps".
    public var userInfo: [AnyHashable: Any] { fields.userInfo }
    /// Ignored since iOS 15.
    @available(iOS, deprecated: 15.0, message: "summaryArgument is ignored")
    public var summaryArgument: String { fields.summaryArgument }
    /// Ignored since iOS 15.
    @available(iOS, deprecated: 15.0, message: "summaryArgumentCount is ignored")
    public var summaryArgumentCount: Int { fields.summaryArgumentCount }
    /// The window that opens for the notification.
    public var targetContentIdentifier: String? { fields.targetContentIdentifier }
    /// How far the notification may interrupt.
    public var interruptionLevel: UNNotificationInterruptionLevel { fields.interruptionLevel }
    /// The rank in a summary, 0 to 1.
    public var relevanceScore: Double { fields.relevanceScore }
    /// The value a Focus filters by.
    public var filterCriteria: String? { fields.filterCriteria }

    /// Returns an immutable content, also for a mutable receiver.
    public func copy(with zone: NSZone? = nil) -> Any { snapshot() }

    /// Returns a `UNMutableNotificationContent` of its own.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(fields: fields) }

    func snapshot() -> UNNotificationContent { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return fields == other.fields
    }

    public override var hash: Int { fields.hashValue }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let fields = ContentFields(coder: coder) else { return nil }
        self.fields = fields
        super.init()
    }

    public func encode(with coder: NSCoder) {
        fields.encode(with: coder)
    }
}
