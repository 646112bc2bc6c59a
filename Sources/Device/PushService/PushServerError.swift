public import SealedPush

/// Why a request to the server failed. Contains no secrets, and nothing from the server except its code.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PushServerError: Error, Equatable, Sendable {
    /// The address isn't `https`.
    case notSecure
    /// The app couldn't provide a login.
    case noAuthorization
    /// The server can't be reached, or didn't answer in time.
    case unreachable
    /// The server refused the request; the HTTP status, and the code of EnrollmentHTTP 7 if it sent one.
    case refused(status: Int, code: String?)
    /// The server's answer doesn't follow EnrollmentHTTP.
    case malformedAnswer
    /// The device's keys or its sender set failed.
    case device(DeviceError)
    /// A challenge couldn't be answered.
    case challenge(ChallengeError)

    /// Whether to keep the device's state and call again later, such as at the app's next launch: as far as the answer shows,
    /// neither the app nor its login is the cause. A later call may still fail.
    public var isTemporary: Bool {
        switch self {
        case .unreachable, .malformedAnswer, .device, .challenge: true
        case .notSecure, .noAuthorization: false
        // Too early, too many, or the server's own trouble; 501 is a path or method that it doesn't have.
        case .refused(let status, _): [408, 425, 429].contains(status) || status >= 500 && status != 501
        }
    }
}

extension PushServerError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .notSecure: "the push server's address must begin with https"
        case .noAuthorization: "there is no login: `authorization` failed or returned an invalid header value"
        case .unreachable: "the push server can't be reached; try again later"
        case .refused(_, "enrolled-elsewhere"?):
            "this device belongs to another account on the server; log out there or have the server remove it"
        case .refused(let status, let code): "the push server answered with \(status)\(code.map { ", \($0)" } ?? "")"
        case .malformedAnswer: "the push server's answer doesn't follow the protocol; check its version"
        case .device(let error): error.description
        case .challenge(let error): error.description
        }
    }
}
