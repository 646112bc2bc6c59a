package struct FetchAnswer: Sendable {
    package let status: Int
    package let location: String?
    package let contentEncoding: String?
    /// Nil if the header is missing or isn't a number.
    package let contentLength: Int64?

    /// - Parameter field: Returns the value of a header, whose name is case-insensitive.
    package init(status: Int, field: (_ name: String) -> String?) {
        self.status = status
        location = field("Location")
        contentEncoding = field("Content-Encoding")
        contentLength = field("Content-Length").flatMap { Int64($0) }
    }

    /// The target of a redirect; nil if this isn't one.
    var redirect: String? { [301, 302, 303, 307, 308].contains(status) ? location : nil }
}
