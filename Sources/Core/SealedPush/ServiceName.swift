/// The name of an app's service: its servers that share accounts. An app and its servers agree on it; by default, it's the topic.
///
/// It has a topic's form, and is compared exactly. Two services of one app, such as for production and staging, have
/// different names, so that a login for one, or a device's leaving, doesn't count at the other. Source: EnrollmentHTTP 6.
public struct ServiceName: Hashable, Sendable, CustomStringConvertible {
    /// The text itself.
    public let description: String

    /// Returns nil unless the text has a topic's form.
    public init?(parsing text: String) {
        guard let topic = Topic(parsing: text) else { return nil }
        self.init(of: topic)
    }

    /// Returns the name of an app's only service: the topic.
    public init(of topic: Topic) { description = topic.description }
}

extension ServiceName: ExpressibleByStringLiteral {
    /// Creates a name from the program's own source; an invalid one stops the program.
    public init(stringLiteral text: String) {
        guard let name = ServiceName(parsing: text) else {
            preconditionFailure("a service's name is 1 to 155 letters, digits, dots, and hyphens")
        }
        self = name
    }
}
