internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// What tells the user who started the server from the machine's other users, all of whom reach a port of 127.0.0.1.
enum ControlToken {
    /// 32 random bytes, in hexadecimal.
    static func make() -> String { Hex.encode(SecureRandom.bytes(count: 32)) }

    /// The header line of a request.
    static func header(_ token: String) -> String { "Authorization: \(value(token))" }

    /// Whether a request brings the token; without the header it does not.
    static func isRight(_ authorization: String?, _ token: String) -> Bool {
        ConstantTime.areEqual(Array((authorization ?? "").utf8), Array(value(token).utf8))
    }

    private static func value(_ token: String) -> String { "Bearer \(token)" }
}
