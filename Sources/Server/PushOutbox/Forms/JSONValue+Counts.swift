package import SealedPush

extension JSONValue {
    package static func count(_ count: Int) -> JSONValue { .integer(Int64(count)) }
    package static func counts(_ counts: [String: Int]) -> JSONValue { .object(counts.mapValues { .count($0) }) }

    /// Returns `nil` without warnings.
    package static func warnings(_ suspects: [String]) -> JSONValue? {
        suspects.isEmpty ? nil : .array(suspects.map { .string(Content.warning(of: $0)) })
    }
}
