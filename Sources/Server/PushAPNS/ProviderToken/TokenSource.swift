internal import Crypto
internal import JWTKit
internal import NIOCore
internal import PushCore
internal import SealedPush

/// The provider token that all connections share, and the rules for renewing it. Confined to the event loop. A token is
/// renewed after 50 minutes, not used after 58 minutes, and never renewed within 20 minutes of the previous one. Apple
/// rejects older tokens and more frequent renewals. Source: Apple, "Establishing a token-based connection to APNs".
final class TokenSource {
    private let clock: TransportClock
    private let startSigning: (Timestamp) -> Void
    private var token: ProviderToken?
    private var signing: Moment?
    private var lastIssued: Moment?
    private var signingFailed: Moment?
    private var isExpired = false
    /// APNs rejected a new token, because the clock was wrong when it was signed.
    private var isStopped = false

    init(clock: TransportClock, startSigning: @escaping (Timestamp) -> Void) {
        self.clock = clock
        self.startSigning = startSigning
    }

    enum Current {
        case ready(ProviderToken)
        /// The token is being signed, or can't be signed yet.
        case waiting(Wait)
        /// The clock was found to be wrong.
        case wrongClock
    }

    enum Wait: String {
        case signing = "the provider token is being signed"
        case failed = "the provider token could not be signed"
        /// After `TooManyProviderTokenUpdates`.
        case notYet = "the provider token has expired, and APNs doesn't allow a new one yet"
    }

    /// Returns the token to send with, and starts a renewal if one is due.
    func current(now: NIODeadline) -> Current {
        let now = Moment(uptime: now, wall: clock.wall())
        if isStopped { liftStop(now) }
        if isStopped { return .wrongClock }
        guard let token, !isExpired, now.age(since: token.issued) < Self.usableSeconds else {
            return .waiting(renew(now))
        }
        // After the clock was set back, the token would be from the future.
        if now.age(since: token.issued) >= Self.renewalSeconds || now.drift(since: token.issued) < -Self.driftSeconds {
            _ = renew(now)
        }
        return .ready(token)
    }

    /// Starts signing if allowed, and returns the reason to wait.
    private func renew(_ now: Moment) -> Wait {
        guard signing == nil else { return .signing }
        if let lastIssued, now.age(since: lastIssued) < Self.shortestSeconds { return .notYet }
        if let signingFailed, now.age(since: signingFailed) < Self.signingPauseSeconds { return .failed }
        signing = now
        startSigning(now.wall)
        return .signing
    }

    /// Ends a stop after 20 minutes, or at once if the clock was set since the token was signed.
    private func liftStop(_ now: Moment) {
        guard let token else { return }
        if abs(now.drift(since: token.issued)) > Self.driftSeconds {
            lastIssued = nil
        } else if now.age(since: token.issued) < Self.shortestSeconds {
            return
        }
        isStopped = false
        isExpired = true
    }

    enum Signed {
        case failed
        case renewed
        /// Signed within 20 minutes of the previous token, by the monotonic clock. For new connections only.
        case early
    }

    func signed(_ text: String?) -> Signed {
        guard let issued = signing.take() else { return .failed }
        guard let text else {
            signingFailed = issued
            return .failed
        }
        let isEarly = token.map { issued.uptimeSeconds(since: $0.issued) < Self.shortestSeconds } ?? false
        signingFailed = nil
        lastIssued = issued
        isExpired = false
        token = ProviderToken(authorization: "bearer " + text, generation: (token?.generation ?? 0) + 1, issued: issued)
        return isEarly ? .early : .renewed
    }

    enum Expiry {
        case renewed
        /// Whether this is the first refusal of the token.
        case wrongClock(isNew: Bool)
    }

    /// Handles APNs' response that the token of `generation` has expired.
    func expired(generation: Int, now: NIODeadline) -> Expiry {
        guard let token, token.generation == generation, !isExpired else { return .renewed }
        if isStopped { return .wrongClock(isNew: false) }
        let now = Moment(uptime: now, wall: clock.wall())
        let isOld = now.age(since: token.issued) >= Self.shortestSeconds
        let isClockSet = abs(now.drift(since: token.issued)) > Self.driftSeconds
        if isClockSet { lastIssued = nil }
        isStopped = !isOld && !isClockSet
        isExpired = !isStopped
        return isStopped ? .wrongClock(isNew: true) : .renewed
    }

    /// Handles APNs' response that there are too many tokens: keeps the current one for another 20 minutes.
    func tooManyUpdates(now: NIODeadline) { lastIssued = Moment(uptime: now, wall: clock.wall()) }

    private static let renewalSeconds: Int64 = 50 * 60
    /// Two minutes for transit, and for clock differences.
    private static let usableSeconds: Int64 = 58 * 60
    private static let shortestSeconds: Int64 = 20 * 60
    private static let driftSeconds: Int64 = 60
    private static let signingPauseSeconds: Int64 = 1
}

struct ProviderToken {
    let authorization: String
    let generation: Int
    let issued: Moment
}

/// The key from Apple's developer account that signs provider tokens: a .p8 file, its key ID, and the team ID.
///
/// It never prints the key or keeps its PEM text, doesn't put the text into a `String`, and wipes decoded bytes. The key
/// itself is in swift-crypto's memory.
public struct ProviderKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key ID: 10 letters and digits, as in the file's name.
    public let keyID: String
    /// The team ID: 10 letters and digits.
    public let teamID: String
    private let key: ES256PrivateKey

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - pem: The bytes of the .p8 file, which the caller must wipe.
    ///   - keyID: The key ID: 10 letters and digits.
    ///   - teamID: The team ID: 10 letters and digits.
    public init(pem: [UInt8], keyID: String, teamID: String) throws(APNSConfigurationError) {
        guard Self.isIdentifier(keyID), Self.isIdentifier(teamID) else { throw .malformedIdentifier }
        var der = try Self.der(ofPEM: pem)
        defer { wipe(&der) }
        guard let secret = try? P256.Signing.PrivateKey(derRepresentation: der),
            let key = try? ES256PrivateKey(backing: secret)
        else { throw .malformedKey }
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }

    /// The key ID and team ID, without the key.
    public var description: String { "provider key \(keyID) of team \(teamID)" }
    /// A mirror without children, so that dumping a key doesn't reveal it.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns a signed token: ES256, with `kid`, `iss`, and `iat` in whole seconds.
    func sign(issuedAt seconds: Int64) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyID))
        return try await keys.sign(Claims(iss: teamID, iat: seconds), kid: JWKIdentifier(string: keyID))
    }

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// Returns the contents of the first private key block, which the caller must wipe. Accepts the forms in which other
    /// tools store keys: on one line, indented, in quotes, or with escaped line ends. The text may also follow a byte order
    /// mark, or be encoded in base64 again.
    private static func der(ofPEM pem: [UInt8]) throws(APNSConfigurationError) -> [UInt8] {
        guard pem.firstRange(of: "-----BEGIN ".utf8) != nil else {
            guard var decoded = decoded(pem[...]) else { throw .malformedKey }
            guard decoded.firstRange(of: "-----BEGIN ".utf8) != nil else { return decoded }
            defer { wipe(&decoded) }
            return try der(ofPEM: decoded)
        }
        var (rest, other) = (pem[...], APNSConfigurationError.OtherPEM?.none)
        while let begin = rest.firstRange(of: "-----BEGIN ".utf8) {
            rest = rest[begin.upperBound...]
            guard let marks = rest.firstRange(of: "-----".utf8) else { break }
            let label = rest[..<marks.lowerBound]
            rest = rest[marks.upperBound...]
            guard let end = rest.firstRange(of: "-----END ".utf8) else { break }
            other = .init(rawValue: String(decoding: label.prefix(32), as: UTF8.self))
            if other == nil, label.suffix(11).elementsEqual("PRIVATE KEY".utf8) {
                guard let der = decoded(rest[..<end.lowerBound]) else { throw .malformedKey }
                return der
            }
        }
        throw other.map(APNSConfigurationError.otherPEM) ?? .malformedKey
    }

    /// Decodes base64 of either alphabet, ignoring white space, quotes, and `\n`.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var characters: [UInt8] = []
        characters.reserveCapacity(text.count)
        defer { wipe(&characters) }
        let ignored = Array("= \t\r\n\"'\\".utf8)
        var isEscape = false
        for byte in text.withoutByteOrderMark {
            defer { isEscape = byte == UInt8(ascii: "\\") }
            switch byte {
            case UInt8(ascii: "+"): characters.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): characters.append(UInt8(ascii: "_"))
            case UInt8(ascii: "n") where isEscape, UInt8(ascii: "r") where isEscape: break
            default: if !ignored.contains(byte) { characters.append(byte) }
            }
        }
        return Base64URL.decode(characters)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { $0.isLetter || $0.isDigit }
    }
}
