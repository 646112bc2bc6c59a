/// A person as the phone's contacts know them. The system matches it with the people whom a Focus allows.
public struct Contact: Hashable, Sendable {
    /// The identifier in the phone's contacts: `CNContact.identifier`.
    public var identifier: String?
    /// The name on this phone; nil to show the sealed one.
    public var name: String?
    /// An address of the person that their contact has, too.
    public var handle: Handle?

    /// Creates a contact.
    public init(identifier: String? = nil, name: String? = nil, handle: Handle? = nil) {
        self.identifier = identifier
        self.name = name
        self.handle = handle
    }

    /// An address of a person.
    public enum Handle: Hashable, Sendable {
        /// A phone number.
        case phoneNumber(String)
        /// An email address.
        case emailAddress(String)
    }
}
