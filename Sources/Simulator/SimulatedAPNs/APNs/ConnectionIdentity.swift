/// A connection's memory of its provider tokens. The first push binds it to a team, and its tokens must not change too
/// often.
struct ConnectionIdentity {
    private var first: AcceptedProviderKey?
    private var current: (text: String, token: ProviderTokens.Verified)?

    /// Returns the key that signed the token.
    mutating func check(
        _ authorization: String?, tokens: ProviderTokens, at now: Int64
    ) throws(LocalAPNsRefusal) -> AcceptedProviderKey {
        guard let authorization else { throw LocalAPNsRefusal(.missingProviderToken) }
        if let current, current.text == authorization {
            try checkAge(current.token, at: now)
            return current.token.key
        }
        let token = try tokens.verify(authorization)
        try checkAge(token, at: now)
        guard first.map({ $0.teamID == token.key.teamID }) ?? true else {
            throw LocalAPNsRefusal(.invalidProviderToken)
        }
        if let current, token.issued > current.token.issued {
            guard token.issued - current.token.issued >= Self.updateInterval else {
                throw LocalAPNsRefusal(.tooManyProviderTokenUpdates)
            }
        }
        if first == nil { first = token.key }
        // A valid older token may be used in addition to the newest, but isn't remembered.
        if current.map({ token.issued >= $0.token.issued }) ?? true { current = (authorization, token) }
        return token.key
    }

    private func checkAge(_ token: ProviderTokens.Verified, at now: Int64) throws(LocalAPNsRefusal) {
        // Compare without subtracting: the two times may be so far apart that their difference would overflow.
        guard token.issued >= now - Self.maximumAge else { throw LocalAPNsRefusal(.expiredProviderToken) }
        guard token.issued <= now + Self.futureTolerance else { throw LocalAPNsRefusal(.invalidProviderToken) }
    }

    /// In seconds. Apple: a token is valid for an hour, and must not be renewed more often than every 20 minutes.
    private static let (maximumAge, updateInterval): (Int64, Int64) = (3_600, 1_200)
    /// The tolerance for clock differences, in seconds; Apple publishes no number.
    private static let futureTolerance: Int64 = 300
}
