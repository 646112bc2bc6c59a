extension Content {
    /// The person who wrote a message. Devices show their picture beside it, as messengers do: a communication notification.
    ///
    /// Ignored in anonymous messages. In opened content, a picture or person that breaks a rule is dropped, but never
    /// the text; sealing throws ``ContentError/invalid(_:)``. Source: ContentParts 19.
    public struct Person: Hashable, Sendable {
        /// The person's name: 1 to 128 bytes, including a visible character.
        public var name: String
        /// An identifier that never changes for this person: 1 to 128 bytes. The operating system sees it, so don't use an
        /// email address or a phone number.
        public var id: String
        /// The person's picture; nil for none.
        public var image: Image?

        /// Creates a person; sealing checks the limits.
        public init(name: String, id: String, image: Image? = nil) {
            self.name = name
            self.id = id
            self.image = image
        }

        /// A square picture of the person, in PNG or JPEG.
        public enum Image: Hashable, Sendable {
            /// The ID of one of the content's attachments. It isn't shown as an attachment as well.
            case attachment(String)
            /// The file itself: 1 to 2,048 bytes.
            case bytes([UInt8])
        }
    }
}

extension Content.Person {
    /// - Parameter isLenient: whether a picture that breaks a rule is left out.
    init(_ value: JSONValue, at path: String, isLenient: Bool) throws(ContentError) {
        var object = try MemberReader(value, at: path)
        name = try object.required("name", Self.visibleText)
        id = try object.required("id", Self.text)
        image = try Image.read(&object, isLenient: isLenient)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["name": .string(name), "id": .string(id)]
        if let image { members[image.member.name] = image.member.value }
        return .object(members)
    }

    /// Returns a text of 1 to 128 bytes.
    static func text(_ value: JSONValue) -> String? {
        value.string.flatMap { (1...128).contains($0.utf8.count) ? $0 : nil }
    }

    /// Returns such a text that a person can see.
    static func visibleText(_ value: JSONValue) -> String? {
        text(value).flatMap { VisibleText.isVisible($0) ? $0 : nil }
    }
}

extension Content.Person.Image {
    /// Reads the picture of a person or group.
    ///
    /// - Parameter isLenient: whether a picture that breaks a rule is left out.
    static func read(_ object: inout MemberReader, isLenient: Bool) throws(ContentError) -> Self? {
        do throws(ContentError) {
            let attachment = try object.optional("image") { Content.Person.text($0).map(Self.attachment) }
            let bytes = try object.optional("image-data") { value in
                value.string.flatMap { Base64URL.decode($0.utf8) }.flatMap {
                    (1...maximumByteCount).contains($0.count) ? Self.bytes($0) : nil
                }
            }
            guard attachment == nil || bytes == nil else { throw .invalid(object.place(of: "image-data")) }
            return attachment ?? bytes
        } catch {
            guard isLenient else { throw error }
            return nil
        }
    }

    var member: (name: String, value: JSONValue) {
        switch self {
        case .attachment(let id): ("image", .string(id))
        case .bytes(let bytes): ("image-data", .string(Base64URL.encode(bytes)))
        }
    }

    private static let maximumByteCount = 2_048
}
