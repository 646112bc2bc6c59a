public import Foundation

extension String {
    /// A key whose text the app's bundle translates (Apple, String.LocalizationValue). Foundation has it on Apple's
    /// systems only, and extensions need it for their safe default.
    public struct LocalizationValue: Equatable, ExpressibleByStringInterpolation {
        let key: String

        public init(stringLiteral value: String) { key = value }
    }

    /// The text of a key in the app's bundle, or the key itself (Apple, String.init(localized:)).
    public init(
        localized keyAndValue: String.LocalizationValue, table: String? = nil, bundle: Bundle? = nil,
        locale: Locale = .current, comment: StaticString? = nil
    ) {
        self = (bundle ?? .main).localizedString(forKey: keyAndValue.key, value: nil, table: table)
    }
}
