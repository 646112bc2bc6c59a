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
        func text(_ value: JSONValue) -> String? {
            value.string.flatMap { (1...Self.maximumTextByteCount).contains($0.utf8.count) ? $0 : nil }
        }
        name = try object.required("name") { text($0).flatMap { VisibleText.isVisible($0) ? $0 : nil } }
        id = try object.required("id", text)
        do throws(ContentError) {
            let attachment = try object.optional("image") { text($0).map(Image.attachment) }
            let bytes = try object.optional("image-data") { value in
                value.string.flatMap { Base64URL.decode($0.utf8) }.flatMap {
                    (1...Self.maximumImageByteCount).contains($0.count) ? Image.bytes($0) : nil
                }
            }
            guard attachment == nil || bytes == nil else { throw .invalid(object.place(of: "image-data")) }
            image = attachment ?? bytes
        } catch {
            guard isLenient else { throw error }
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["name": .string(name), "id": .string(id)]
        switch image {
        case .attachment(let id): members["image"] = .string(id)
        case .bytes(let bytes): members["image-data"] = .string(Base64URL.encode(bytes))
        case nil: break
        }
        return .object(members)
    }

    private static let maximumTextByteCount = 128
    private static let maximumImageByteCount = 2_048
}
