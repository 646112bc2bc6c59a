internal import Foundation

/// The values of a content, compared and archived as one.
struct ContentFields {
    var attachments: [UNNotificationAttachment] = []
    var badge: NSNumber?
    var body = ""
    var categoryIdentifier = ""
    var launchImageName = ""
    var sound: UNNotificationSound?
    var subtitle = ""
    var threadIdentifier = ""
    var title = ""
    var userInfo: [AnyHashable: Any] = [:]
    var summaryArgument = ""
    var summaryArgumentCount = 0
    var targetContentIdentifier: String?
    var interruptionLevel = UNNotificationInterruptionLevel.active
    var relevanceScore = 0.0
    var filterCriteria: String?
}

extension ContentFields: Hashable {
    static func == (one: ContentFields, other: ContentFields) -> Bool {
        one.texts == other.texts
            && one.attachments == other.attachments
            && one.badge == other.badge
            && one.sound == other.sound
            && one.summaryArgumentCount == other.summaryArgumentCount
            && one.interruptionLevel == other.interruptionLevel
            && one.relevanceScore == other.relevanceScore
            && NSDictionary(dictionary: one.userInfo).isEqual(to: other.userInfo)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(texts)
    }

    private var texts: [String?] {
        Self.textPaths.map { self[keyPath: $0.path] }
            + Self.optionalTextPaths.map { self[keyPath: $0.path] }
    }
}

extension ContentFields {
    init?(coder: NSCoder) {
        for (key, path) in Self.textPaths {
            guard let text = coder.decodeObject(of: NSString.self, forKey: key) else { return nil }
            self[keyPath: path] = String(describing: text)
        }
        for (key, path) in Self.optionalTextPaths {
            self[keyPath: path] = coder.decodeObject(of: NSString.self, forKey: key).map(String.init(describing:))
        }
        guard let number = UInt(exactly: coder.decodeInteger(forKey: "level")),
            let level = UNNotificationInterruptionLevel(rawValue: number),
            let files = coder.decodeObject(of: [NSArray.self, UNNotificationAttachment.self], forKey: "attachments"),
            let attachments = files as? [UNNotificationAttachment],
            let payload = coder.decodeObject(of: Self.payloadClasses, forKey: "userInfo") as? NSDictionary
        else { return nil }
        self.attachments = attachments
        badge = coder.decodeObject(of: NSNumber.self, forKey: "badge")
        sound = coder.decodeObject(of: UNNotificationSound.self, forKey: "sound")
        userInfo = payload as? [AnyHashable: Any] ?? [:]
        summaryArgumentCount = coder.decodeInteger(forKey: "summaryArgumentCount")
        interruptionLevel = level
        relevanceScore = coder.decodeDouble(forKey: "relevanceScore")
    }

    func encode(with coder: NSCoder) {
        for (key, path) in Self.textPaths {
            coder.encode(self[keyPath: path] as NSString, forKey: key)
        }
        for (key, path) in Self.optionalTextPaths {
            coder.encode(self[keyPath: path].map { $0 as NSString }, forKey: key)
        }
        coder.encode(Int(interruptionLevel.rawValue), forKey: "level")
        coder.encode(attachments as NSArray, forKey: "attachments")
        coder.encode(NSDictionary(dictionary: userInfo), forKey: "userInfo")
        coder.encode(badge, forKey: "badge")
        coder.encode(sound, forKey: "sound")
        coder.encode(summaryArgumentCount, forKey: "summaryArgumentCount")
        coder.encode(relevanceScore, forKey: "relevanceScore")
    }

    private static var textPaths: [(key: String, path: WritableKeyPath<ContentFields, String>)] {
        [
            ("title", \.title), ("subtitle", \.subtitle), ("body", \.body),
            ("categoryIdentifier", \.categoryIdentifier), ("threadIdentifier", \.threadIdentifier),
            ("launchImageName", \.launchImageName), ("summaryArgument", \.summaryArgument),
        ]
    }

    private static var optionalTextPaths: [(key: String, path: WritableKeyPath<ContentFields, String?>)] {
        [("targetContentIdentifier", \.targetContentIdentifier), ("filterCriteria", \.filterCriteria)]
    }

    private static var payloadClasses: [AnyClass] {
        [NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSNull.self, NSData.self, NSDate.self]
    }
}
