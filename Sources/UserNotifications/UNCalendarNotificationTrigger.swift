public import Foundation

/// A trigger at a date and time (Apple, UNCalendarNotificationTrigger).
public final class UNCalendarNotificationTrigger: UNNotificationTrigger {
    /// The parts a date must match.
    public let dateComponents: DateComponents

    private init(components: DateComponents, repeats: Bool) {
        dateComponents = components
        super.init(repeats: repeats)
    }

    /// Makes a trigger for the next date that matches, or for all of them.
    public convenience init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.init(components: dateComponents, repeats: repeats)
    }

    /// The next date at which the trigger fires, or nil when none is left.
    public func nextTriggerDate() -> Date? {
        nextTriggerDate(after: Date())
    }

    /// The next date after `start` at which the trigger fires, or nil when none is left.
    package func nextTriggerDate(after start: Date) -> Date? {
        var calendar = dateComponents.calendar ?? .current
        calendar.timeZone = dateComponents.timeZone ?? calendar.timeZone
        return calendar.nextDate(after: start, matching: dateComponents, matchingPolicy: .nextTime)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNCalendarNotificationTrigger else { return false }
        return super.isEqual(other) && dateComponents == other.dateComponents
    }

    public override var hash: Int { dateComponents.hashValue }

    public required init?(coder: NSCoder) {
        guard let archive = coder.decodeObject(of: NSData.self, forKey: "dateComponents"),
            let components = try? JSONDecoder().decode(DateComponents.self, from: Data(referencing: archive))
        else { return nil }
        dateComponents = components
        super.init(coder: coder)
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode((try? JSONEncoder().encode(dateComponents)).map { $0 as NSData }, forKey: "dateComponents")
    }
}
