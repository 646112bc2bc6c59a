public import Foundation

extension String {
    /// A key whose text the app's bundle translates (Apple, String.LocalizationValue). Foundation has it only on Apple's
    /// systems, and extensions need it for their safe default.
    public struct LocalizationValue: Equatable, ExpressibleByStringInterpolation {
        let key: String

        public init(stringLiteral value: String) { key = value }
    }

    /// Creates a string with a key's text in the app's bundle, or the key itself (Apple, String.init(localized:)).
    public init(
        localized keyAndValue: String.LocalizationValue, table: String? = nil, bundle: Bundle? = nil,
        locale: Locale = .current, comment: StaticString? = nil
    ) {
        self = (bundle ?? .main).localizedString(forKey: keyAndValue.key, value: nil, table: table)
    }
}

/// The format of localized notification texts: `%@`, `%1$@`, and `%%` (Apple, Generating a remote notification).
package enum LocalizedFormat {
    /// Replaces placeholders with the arguments. An unsupported placeholder, or one without an argument, is kept as is.
    package static func fill(_ format: String, with arguments: [String]) -> String {
        var text = ""
        var rest = format[...]
        var next = 0
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[percent...].dropFirst()
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if rest.first == "%" {
                text += "%"
                rest.removeFirst()
            } else if rest.first == "@", arguments.indices.contains(next) {
                text += arguments[next]
                next += 1
                rest.removeFirst()
            } else if let position = Int(digits), rest.dropFirst(digits.count).hasPrefix("$@"),
                position > 0, arguments.indices.contains(position - 1)
            {
                text += arguments[position - 1]
                rest = rest.dropFirst(digits.count + 2)
            } else {
                text += "%"
            }
        }
        return text + rest
    }
}
