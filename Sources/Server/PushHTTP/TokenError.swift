/// The reason why a file contains no valid tokens.
package enum TokenError: Error, CustomStringConvertible {
    case count
    case form

    package var description: String {
        switch self {
        case .count: "expected one token, or two while callers switch from one to the other, each on a separate line"
        case .form: "a token must have 32 to 256 visible ASCII characters, such as the output of `openssl rand -hex 32`"
        }
    }
}
