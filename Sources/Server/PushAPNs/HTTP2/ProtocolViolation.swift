/// A violation of HTTP/2 by the peer. The connection ends with this code.
struct ProtocolViolation: Error, Equatable {
    let code: ErrorCode
    let what: String

    init(_ code: ErrorCode, _ what: StaticString) {
        self.code = code
        self.what = "\(what)"
    }
}
