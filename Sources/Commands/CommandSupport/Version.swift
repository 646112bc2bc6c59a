/// The version of both programs, and the commit that they were built from.
package enum Version {
    /// The version, as in CHANGELOG.md and in both clients. This is the only place that sets it.
    package static let number = "0.1.0"

    /// The first 12 digits of the commit, or `unknown` in a program built in a checkout. `git archive`, which
    /// Scripts/package uses, replaces the text between the dollar signs.
    package static let commit = hash.hasPrefix("$") ? "unknown" : String(hash.prefix(12))
    private static let hash = "$Format:%H$"

    /// The version and the commit: `0.1.0 (0123456789ab)`.
    package static let text = "\(number) (\(commit))"
}
