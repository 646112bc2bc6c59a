/// The reason why a file contains no valid tokens.
package enum TokenError: Error, Equatable, CustomStringConvertible {
    case count
    case form
    /// The line isn't a token's; lines count from 1.
    case line(Int)
    /// The line repeats the token or the name of an earlier one.
    case repeated(line: Int)
    case tooMany

    package var description: String {
        switch self {
        case .count: "expected one token, or two while callers switch from one to the other, each on a separate line"
        case .form: "a token must have 32 to 256 visible ASCII characters, such as the output of `openssl rand -hex 32`"
        case .line(let number):
            "line \(number) must be the SHA-256 of a token in 64 hexadecimal digits, its name of up to 64 visible ASCII characters without spaces, and its user"
        case .repeated(let number): "line \(number) repeats the token or the name of an earlier line"
        case .tooMany: "expected at most \(NotifyTokens.maximumCount) tokens"
        }
    }
}
