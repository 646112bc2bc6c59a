/// A stage's error, with a code for the log.
public protocol StageError: Error {
    /// The code: 1 to 32 characters from `a` to `z`, digits, and `-`, with nothing from the content.
    var code: String { get }
}
