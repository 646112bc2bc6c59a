internal import ArgumentParser

/// A length of time as people type it: `30d`, `12h`, or `2w`. `1m` isn't accepted, because it could be a minute or a month.
struct TimeSpan: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Int64
    let description: String

    static let help = "h for hours, d for days, w for weeks"

    init?(argument: String) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int64(argument.dropLast()),
            (1...100_000).contains(count)
        else { return nil }
        seconds = count * unit
        description = argument
    }

    init(days: Int64) {
        seconds = days * 86_400
        description = "\(days)d"
    }

    private static let units: [Character: Int64] = ["h": 3_600, "d": 86_400, "w": 7 * 86_400]
}
