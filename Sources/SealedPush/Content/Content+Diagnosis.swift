/// What is wrong with a member that can't be read, as precisely as the person who wrote it needs: `attachments[1].url`.
///
/// Only for errors of sealing. Names members that the Specification names, and none of the content's own words.
enum ContentDiagnosis {
    /// Source: Specification 14.2.
    static func attachments(_ value: JSONValue) -> ContentError {
        guard case .array(let values) = value, values.count <= Content.Attachment.maximumCount else {
            return .invalid("attachments")
        }
        var ids: Set<String> = []
        for (index, value) in values.enumerated() {
            let place = "attachments[\(index)]"
            guard let attachment = Content.Attachment(value) else {
                var example = file(like: value)
                example["id"] = "a"
                let type = value["type"]?.string.flatMap(MediaType.init(rawValue:)) ?? .png
                example["type"] = .string(type.rawValue)
                return error(place, value, example: example) { Content.Attachment($0) != nil }
            }
            guard ids.insert(attachment.id).inserted else { return .invalid("\(place).id") }
        }
        return .invalid("attachments")
    }

    static func overflow(_ value: JSONValue) -> ContentError {
        error("overflow", value, example: sealedFile) { Overflow($0) != nil }
    }

    static func chart(_ value: JSONValue) -> ContentError {
        error("chart", value, example: ["kind": "line", "points": [1]]) { Chart($0) != nil }
    }

    /// The first member that an example lacks without, or that it can't have in place of its own.
    private static func error(
        _ place: String, _ value: JSONValue, example: [String: JSONValue], reads: (JSONValue) -> Bool
    ) -> ContentError {
        guard case .object(let members) = value else { return .invalid(place) }
        if let name = example.keys.sorted().first(where: { members[$0] == nil }) { return .missing("\(place).\(name)") }
        let wrong = members.keys.sorted().first { name in
            var changed = example
            changed[name] = members[name]
            return !reads(.object(changed))
        }
        return .invalid(wrong.map { "\(place).\($0)" } ?? place)
    }

    private static func file(like value: JSONValue) -> [String: JSONValue] {
        guard value["plain"] == .bool(true) else { return sealedFile }
        var file = sealedFile
        file["key"] = nil
        file["plain"] = true
        return file
    }

    /// Of 100 bytes.
    private static var sealedFile: [String: JSONValue] {
        let bytes = JSONValue.string(Base64URL.encode([UInt8](repeating: 0, count: 32)))
        return ["url": "https://example.com/", "size": 141, "hash": bytes, "key": bytes]
    }
}
