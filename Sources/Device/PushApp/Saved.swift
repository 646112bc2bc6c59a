package import Foundation

/// The state that outlives the app's process.
package struct Saved: Codable, Sendable {
    /// The app's own login; nil if no one is logged in.
    package var session: String?
    /// The newest push token.
    package var token: Data?
    /// The login of the account that this phone left, while its server may still have to be told.
    package var leaving: String?
    /// The same of accounts with names, by their numbers.
    package private(set) var accounts: [String: Login]?

    package struct Login: Codable, Sendable {
        package var session: String?
        package var leaving: String?
    }

    package init() {}

    /// An account's part, with the phone's token.
    func part(_ id: String) -> Saved {
        var part = Saved()
        (part.token, part.session, part.leaving) = (token, accounts?[id]?.session, accounts?[id]?.leaving)
        return part
    }

    mutating func replace(_ id: String, with part: Saved) {
        let isEmpty = part.session == nil && part.leaving == nil
        var accounts = accounts ?? [:]
        accounts[id] = isEmpty ? nil : Login(session: part.session, leaving: part.leaving)
        self.accounts = accounts.isEmpty ? nil : accounts
    }

    /// Whether someone is logged in at another account than this one; nil is the app's own.
    func isLoggedIn(besides id: String?) -> Bool {
        if id != nil, session != nil { return true }
        return accounts?.contains { $0.key != id && $0.value.session != nil } ?? false
    }
}
