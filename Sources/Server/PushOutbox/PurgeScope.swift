/// The pushes to delete.
public enum PurgeScope: Hashable, Sendable {
    /// Only expired data: expired pushes, and anything older than 30 days. A clock that is ahead makes every push look expired, so
    /// a courier does this by itself, once an accepted push has shown that its clock is right.
    case expired
    /// Only expired data other than pushes.
    case records
    /// Dead letters, either with one reason or all of them. All doesn't include `expired`, the reason of pushes that only
    /// looked expired while the clock was uncertain.
    case deadLetters(reason: String?)
    /// Every push sealed with one key, waiting or a dead letter, for use after that key was stolen. Nothing else is
    /// deleted, not even expired pushes. A push in transit can't be recalled.
    case sealed(by: SealedBy)
    /// Everything, including waiting pushes. A push in transit can't be recalled.
    case everything
}
