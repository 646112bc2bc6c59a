/// When a stage runs.
public enum StagePace: Sendable {
    /// Before all others, one after the other, each within half of the time. For fetching the content itself.
    case first
    /// Next, one after the other, each within two seconds. For work that doesn't wait for a network.
    case quick
    /// Last, all at once, for as long as there is time. For networking and heavy work.
    case slow
}
