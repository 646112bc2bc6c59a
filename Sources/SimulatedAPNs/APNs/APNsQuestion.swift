/// What Apple leaves unknown: each is a switch, strict unless it is made lenient.
package enum APNsQuestion: String, Hashable, Sendable, CaseIterable, Codable {
    /// Strict: an `apns-id` in capitals is `BadMessageId`. Lenient: taken, and echoed in small letters.
    case idCase = "id-case"
    /// Strict: no `apns-push-type` is `InvalidPushType`. Lenient: it is an alert.
    case missingPushType = "missing-push-type"
    /// Strict: a payload that does not fit its push type is `InvalidPushType`: an alert without alert, badge and sound; a
    /// background push with one of them, or without `content-available`.
    case pushTypeOfPayload = "push-type-of-payload"
    /// Strict: a topic without its push type's suffix, or with another's, is `BadTopic`. Lenient: taken where it is the
    /// device's with any suffix.
    case topicSuffix = "topic-suffix"
    /// Strict: a background push without `apns-priority` is `BadPriority`, since the default is 10. Lenient: it is 5.
    case backgroundPriority = "background-priority"
    /// Strict: an empty `apns-collapse-id` is `BadCollapseId`. Lenient: it is none.
    case emptyCollapseID = "empty-collapse-id"
    /// Strict: a body that is no JSON object with an object `aps` is `BadRequestPayload`. Lenient: it is taken, and no
    /// device shows anything.
    case payload
    /// Strict: a provider token from more than five minutes ahead is `InvalidProviderToken`. Lenient: it is as good as any.
    case futureToken = "future-token"
    /// Strict: a provider token made less than 20 minutes after the connection's current one is
    /// `TooManyProviderTokenUpdates`. Lenient: the first change on a connection is free.
    case firstTokenUpdate = "first-token-update"
    /// Strict: the documented `BadEnvironmentKeyIdInToken`. Lenient: the `BadEnvironmentKeyInToken` that was seen.
    case environmentReason = "environment-reason"
    /// Strict: a key of the same team that is not the connection's first is `UnrelatedKeyIdInToken`, unless both are for
    /// the whole team or registered as related. Lenient: any key of the team.
    case relatedKeys = "related-keys"
    /// Strict: a client that does not offer `h2` by ALPN is closed. Lenient: one that offers nothing is taken to speak
    /// HTTP/2. (The Python package aioapns offers nothing, and is used with Apple's servers.)
    case missingALPN = "missing-alpn"
    /// Strict: what a device had been sent but not acknowledged when it went away is sent again, all of it. Lenient: only
    /// the newest, as one that was stored.
    case unacknowledged
}
