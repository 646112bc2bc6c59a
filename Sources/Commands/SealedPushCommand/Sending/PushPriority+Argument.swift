public import ArgumentParser
public import PushSender

/// `apns-priority`, by name.
extension PushPriority: ExpressibleByArgument {
    public init?(argument: String) { self.init(name: argument) }

    public var defaultValueDescription: String { name }

    public static var allValueStrings: [String] { allCases.map(\.name) }

    /// Empty, so that the help doesn't list the raw values, which are numbers.
    public static var allValueDescriptions: [String: String] { [:] }
}
