import FuzzSupport
import PushSender

/// Content built value by value from an input, as an app could create it: in range or not.
enum MadeContent {
    static func content(_ input: inout Input) -> Content {
        var content = Content(title: optional(&input) { $0.text() }, body: optional(&input) { $0.text() })
        content.alert.subtitle = optional(&input) { $0.text() }
        content.alert.bodyTranslation = optional(&input) { input in
            Content.Translation(key: input.text(), arguments: (0..<input.number(below: 3)).map { _ in input.text() })
        }
        content.badge = optional(&input) { Int(truncatingIfNeeded: $0.word()) }
        content.disclosure = Content.Disclosure.allCases[input.number(below: Content.Disclosure.allCases.count)]
        content.relevanceScore = optional(&input) { Double(bitPattern: $0.word()) }
        content.filterCriteria = optional(&input) { $0.text() }
        content.targetContentID = optional(&input) { $0.text() }
        content.collapseID = optional(&input) { $0.text() }
        content.threadID = optional(&input) { $0.text() }
        content.category = optional(&input) { $0.text() }
        content.interruptionLevel = optional(&input) { input in
            Content.InterruptionLevel.allCases[input.number(below: Content.InterruptionLevel.allCases.count)]
        }
        content.sound = optional(&input) { input in
            if input.bool() { return .named(input.text()) }
            return .critical(name: input.text(), volume: Double(bitPattern: input.word()))
        }
        content.person = optional(&input) { Content.Person(name: $0.text(), id: $0.text()) }
        content.group = optional(&input) { input in
            Content.Group(
                name: input.text(),
                recipients: (0..<input.number(below: 3)).map { _ in .init(name: input.text(), id: input.text()) },
                count: input.bool() ? Int(truncatingIfNeeded: input.word()) : nil)
        }
        content.expires = optional(&input) { Parties.now.advanced(bySeconds: Int64(bitPattern: $0.word())) }
        content.sent = optional(&input) { Parties.now.advanced(bySeconds: Int64(bitPattern: $0.word())) }
        content.topic = optional(&input) { Topic(parsing: $0.text()) } ?? nil
        content.id = optional(&input) { MessageID(parsing: $0.text()) } ?? nil
        content.data = optional(&input) { value(&$0, depth: 0) }
        while input.bool() { content.other[input.text()] = value(&input, depth: 0) }
        return content
    }

    private static func optional<Value>(_ input: inout Input, _ make: (inout Input) -> Value) -> Value? {
        input.bool() ? make(&input) : nil
    }

    private static func value(_ input: inout Input, depth: Int) -> JSONValue {
        switch input.byte() % 8 {
        case 0: .null
        case 1: .bool(input.bool())
        case 2: .integer(Int64(bitPattern: input.word()))
        case 3: .number(Double(bitPattern: input.word()))
        case 4: .string(input.text())
        case 5: .array(values(&input, depth: depth))
        case 6: .object(Dictionary(values(&input, depth: depth).map { (input.text(), $0) }) { first, _ in first })
        // Up to 31 levels at once.
        default: (0..<input.byte() & 31).reduce(JSONValue.null) { value, _ in .array([value]) }
        }
    }

    private static func values(_ input: inout Input, depth: Int) -> [JSONValue] {
        guard depth < 20 else { return [] }
        let count = input.number(below: 4)
        return (0..<count).map { _ in value(&input, depth: depth + 1) }
    }
}
