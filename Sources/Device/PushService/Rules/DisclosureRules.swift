package import Foundation
public import SealedPush

/// The app's rules for how much its notifications show, by person, by account, and for all messages. The app saves them,
/// such as from its settings, and the extension reads them for each push.
///
/// A message is shown at the strictest of four levels: its sender's (`Content.disclosure`), the level for all messages, and
/// the levels of its person and of its account. Notifications that are already shown don't change. Source: ContentParts 26.
///
/// ```swift
/// var rules = try DisclosureRules(savedIn: .appGroup("group.com.example"))
/// rules.people["user-17"] = .generic
/// try rules.save(in: .appGroup("group.com.example"))
/// ```
/// If the file is damaged or can't be read, the extension shows each message at the strictest level, and the log says
/// `DisclosureRules unreadable`. Save the rules again to repair it.
public struct DisclosureRules: Hashable, Sendable {
    /// The level of all messages.
    public var level: Content.Disclosure
    /// The levels of people, by `Content.Person.id`.
    public var people: [String: Content.Disclosure]
    /// The levels of accounts with names.
    public var accounts: [AccountName: Content.Disclosure]

    /// Creates rules. By default, everything is shown.
    public init(
        level: Content.Disclosure = .full, people: [String: Content.Disclosure] = [:],
        accounts: [AccountName: Content.Disclosure] = [:]
    ) {
        self.level = level
        self.people = people
        self.accounts = accounts
    }

    /// Reads the saved rules. If none were saved, everything is shown.
    public init(savedIn container: SharedContainer) throws(RulesError) {
        guard let file = RulesFile(Self.name, in: container.whole) else { throw .unreadable }
        try self.init(file)
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) throws(RulesError) { try self.init(RulesFile(Self.name, in: root)) }

    private init(_ file: RulesFile) throws(RulesError) {
        self.init()
        guard var members = try file.members() else { return }
        guard let level = members.removeValue(forKey: "level").flatMap(Self.level),
            case .object(let people)? = members.removeValue(forKey: "people"),
            case .object(let accounts)? = members.removeValue(forKey: "accounts"), members.isEmpty
        else { throw .unreadable }
        self.level = level
        self.people = people.compactMapValues(Self.level)
        for (name, value) in accounts {
            if let name = AccountName(parsing: name), let level = Self.level(value) { self.accounts[name] = level }
        }
        // A level that can't be read may be a strict one.
        guard self.people.count == people.count, self.accounts.count == accounts.count else { throw .unreadable }
    }

    /// Saves the rules, in place of all earlier ones. Durable on return; takes a few milliseconds.
    public func save(in container: SharedContainer) throws(RulesError) {
        guard let file = RulesFile(Self.name, in: container.whole) else { throw .notWritten }
        try save(file)
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package func save(in root: URL) throws(RulesError) { try save(RulesFile(Self.name, in: root)) }

    private func save(_ file: RulesFile) throws(RulesError) {
        let people = people.mapValues { JSONValue.string($0.rawValue) }
        var accounts: [String: JSONValue] = [:]
        for (name, level) in self.accounts { accounts[name.description] = .string(level.rawValue) }
        try file.replace(
            with: ["level": .string(level.rawValue), "people": .object(people), "accounts": .object(accounts)])
    }

    /// Returns the strictest of the levels that apply to a message of this person in this account.
    func level(of person: Content.Person?, in account: AccountName?) -> Content.Disclosure {
        max(level, person.flatMap { people[$0.id] } ?? .full, account.flatMap { accounts[$0] } ?? .full)
    }

    private static func level(_ value: JSONValue) -> Content.Disclosure? {
        value.string.flatMap(Content.Disclosure.init(rawValue:))
    }

    private static let name = "disclosure"
}
