/// What the ledger says about a message that may be shown.
package enum LedgerAnswer: Sendable {
    case first
    /// Seen before under the same request identifier; it silently replaces itself on the screen.
    case repeated
}
