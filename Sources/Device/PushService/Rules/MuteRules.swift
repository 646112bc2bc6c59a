package import Foundation
public import SealedPush

/// The app's rules for messages that must not interrupt: by thread, by person, by server, and by the hours of the day. The app
/// saves them, such as when a conversation is muted, and ``MuteStage`` reads them for each push.
///
/// ```swift
/// var rules = try MuteRules(savedIn: .appGroup("group.com.example"))
/// rules.threads["lunch"] = .always
/// try rules.save(in: .appGroup("group.com.example"))
/// ```
/// A rule for a thread, a person, or a server that has ended has no effect; saving drops it. Source: DeviceState 38.
public struct MuteRules: Hashable, Sendable {
    /// The muted threads, by `Content.threadID`.
    public var threads: [String: Mute] = [:]
    /// The muted people, by `Content.Person.id`.
    public var people: [String: Mute] = [:]
    /// The muted servers, by their public keys.
    public var senders: [SenderPublicKey: Mute] = [:]
    /// The quiet hours of each day.
    public var hours: [Hours] = []

    /// Creates rules that mute nothing.
    public init() {}

    /// How long something is muted.
    public struct Mute: Hashable, Sendable {
        /// The time from which it's no longer muted; nil if that time is unknown.
        public var end: Timestamp?

        /// Mutes until the app changes the rules.
        public static let always = Mute(end: nil)

        /// Mutes until a time.
        public static func until(_ end: Timestamp) -> Mute { Mute(end: end) }

        func lasts(at now: Timestamp) -> Bool { end.map { now < $0 } ?? true }
    }

    /// A part of each day, by the phone's own time zone. It passes midnight if it ends before it starts.
    public struct Hours: Hashable, Sendable {
        /// The first minute, counted from midnight.
        public let start: Int
        /// The first minute after it.
        public let end: Int

        /// Creates hours from two different minutes of the day, from 0 to 1,439.
        public init(from start: Int, to end: Int) {
            precondition(Self.areValid(start, end), "quiet hours need two different minutes from 0 to 1439")
            (self.start, self.end) = (start, end)
        }

        static func areValid(_ start: Int, _ end: Int) -> Bool {
            (0..<1_440).contains(start) && (0..<1_440).contains(end) && start != end
        }

        func contain(_ minute: Int) -> Bool {
            start < end ? (start..<end).contains(minute) : minute >= start || minute < end
        }
    }
}

extension MuteRules {
    /// Reads the saved rules. If none were saved, nothing is muted.
    public init(savedIn container: SharedContainer) throws(RulesError) {
        guard let file = RulesFile(Self.name, in: container) else { throw .unreadable }
        try self.init(file)
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) throws(RulesError) { try self.init(RulesFile(Self.name, in: root)) }

    /// Saves the rules, in place of all earlier ones. Durable on return; takes a few milliseconds.
    public func save(in container: SharedContainer) throws(RulesError) {
        guard let file = RulesFile(Self.name, in: container) else { throw .notWritten }
        try save(file, at: .now())
    }

    package func save(in root: URL, at now: Timestamp) throws(RulesError) {
        try save(RulesFile(Self.name, in: root), at: now)
    }

    /// Whether a rule for the thread, the person, or the server mutes a message.
    func mute(_ message: NotificationDraft, at now: Timestamp) -> Bool {
        let mutes = [
            message.threadID.flatMap { threads[$0] }, message.person.flatMap { people[$0.id] },
            message.opened.sender.flatMap { senders[$0] },
        ]
        return mutes.contains { $0?.lasts(at: now) ?? false }
    }

    /// Whether a time is within quiet hours.
    func areQuiet(at now: Timestamp, in zone: TimeZone) -> Bool {
        let local = now.secondsSince1970 + Int64(zone.secondsFromGMT(for: now.date))
        let minute = Int(((local % 86_400) + 86_400) % 86_400 / 60)
        return hours.contains { $0.contain(minute) }
    }

    private static let name = "mute"
}

// The form of the file. DeviceState 38.3.
extension MuteRules {
    private init(_ file: RulesFile) throws(RulesError) {
        self.init()
        guard var members = try file.members() else { return }
        func mutes(_ value: JSONValue?) -> [String: Mute]? {
            guard case .object(let values)? = value else { return nil }
            let mutes = values.compactMapValues(Mute.init(json:))
            return mutes.count == values.count ? mutes : nil
        }
        guard let threads = mutes(members.removeValue(forKey: "threads")),
            let people = mutes(members.removeValue(forKey: "people")),
            let senders = mutes(members.removeValue(forKey: "senders")),
            case .array(let hours)? = members.removeValue(forKey: "hours"), members.isEmpty
        else { throw .unreadable }
        (self.threads, self.people) = (threads, people)
        for (text, mute) in senders {
            guard let sender = try? SenderPublicKey(parsing: text) else { throw .unreadable }
            self.senders[sender] = mute
        }
        self.hours = hours.compactMap(Hours.init(json:))
        guard self.hours.count == hours.count else { throw .unreadable }
    }

    private func save(_ file: RulesFile, at now: Timestamp) throws(RulesError) {
        func json(_ mutes: [String: Mute]) -> JSONValue {
            .object(mutes.filter { $0.value.lasts(at: now) }.mapValues(\.json))
        }
        let senders = Dictionary(senders.map { ($0.key.description, $0.value) }) { first, _ in first }
        try file.replace(with: [
            "threads": json(threads), "people": json(people), "senders": json(senders),
            "hours": .array(hours.map(\.json)),
        ])
    }
}

extension MuteRules.Mute {
    /// A time, or null.
    fileprivate init?(json: JSONValue) {
        switch json {
        case .null: self = .always
        case .integer(let seconds):
            guard let end = Timestamp(secondsSince1970: seconds) else { return nil }
            self = .until(end)
        default: return nil
        }
    }

    fileprivate var json: JSONValue { end.map { .integer($0.secondsSince1970) } ?? .null }
}

extension MuteRules.Hours {
    /// Two minutes.
    fileprivate init?(json: JSONValue) {
        guard case .array(let minutes) = json, minutes.count == 2, case .integer(let start) = minutes[0],
            case .integer(let end) = minutes[1], let start = Int(exactly: start), let end = Int(exactly: end),
            Self.areValid(start, end)
        else { return nil }
        self.init(from: start, to: end)
    }

    fileprivate var json: JSONValue { [.integer(Int64(start)), .integer(Int64(end))] }
}
