extension Content {
    /// The group conversation of a ``Person``'s message. Devices show its name and picture beside the person's.
    ///
    /// Ignored in anonymous messages and without a person. In opened content, what breaks a rule is dropped, but never the
    /// text; sealing throws ``ContentError/invalid(_:)``. Source: ContentParts 19.4.
    public struct Group: Hashable, Sendable {
        /// The group's name: 1 to 128 bytes, including a visible character.
        public var name: String
        /// The group's picture; nil for none.
        public var image: Person.Image?
        /// Its members other than the author, or some of them; at most 16.
        public var recipients: [Recipient]
        /// The number of members, if not all are listed: 2 to 100,000.
        public var count: Int?

        /// Creates a group; sealing checks the limits.
        public init(name: String, image: Person.Image? = nil, recipients: [Recipient] = [], count: Int? = nil) {
            self.name = name
            self.image = image
            self.recipients = recipients
            self.count = count
        }

        /// A member of a group.
        public struct Recipient: Hashable, Sendable {
            /// The member's name: 1 to 128 bytes, including a visible character.
            public var name: String
            /// The member's identifier, as in ``Person/id``.
            public var id: String

            /// Creates a member; sealing checks the limits.
            public init(name: String, id: String) {
                self.name = name
                self.id = id
            }
        }
    }
}

extension Content.Group {
    /// - Parameter isLenient: whether a picture, a recipient, or a number that breaks a rule is left out.
    init(_ value: JSONValue, at path: String, isLenient: Bool) throws(ContentError) {
        var object = try MemberReader(value, at: path)
        name = try object.required("name", Content.Person.visibleText)
        image = try Content.Person.Image.read(&object, isLenient: isLenient)
        recipients = []
        if let value = object.take("recipients") {
            do throws(ContentError) {
                recipients = try Self.recipients(value, at: object.place(of: "recipients"))
            } catch {
                guard isLenient else { throw error }
            }
        }
        do throws(ContentError) {
            count = try object.optional("count") { $0.integer.flatMap { Self.counts.contains($0) ? Int($0) : nil } }
        } catch {
            guard isLenient else { throw error }
        }
    }

    private static func recipients(_ value: JSONValue, at path: String) throws(ContentError) -> [Recipient] {
        guard case .array(let values) = value, values.count <= maximumRecipientCount else {
            throw .unusable(value, at: path)
        }
        var recipients: [Recipient] = []
        for (index, value) in values.enumerated() {
            var object = try MemberReader(value, at: "\(path)[\(index)]")
            let name = try object.required("name", Content.Person.visibleText)
            recipients.append(Recipient(name: name, id: try object.required("id", Content.Person.text)))
        }
        return recipients
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["name": .string(name)]
        if let image { members[image.member.name] = image.member.value }
        if !recipients.isEmpty {
            members["recipients"] = .array(
                recipients.map { .object(["name": .string($0.name), "id": .string($0.id)]) })
        }
        members["count"] = count.map { .integer(Int64($0)) }
        return .object(members)
    }

    private static let maximumRecipientCount = 16
    private static let counts: ClosedRange<Int64> = 2...100_000
}
