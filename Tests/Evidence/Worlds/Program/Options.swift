struct Options {
    var seed: UInt64 = 1
    var count = 1
    var seconds: Double?
    var operationCount = 500
    var isVerbose = false
    /// Whether each world runs twice, to compare the logs.
    var repeats = false
    var shrinks = true
    /// Whether the end says what the time was used for.
    var showsTimes = false
    /// A plan to run, in JSON.
    var plan: String?

    static let usage = """
        Usage: worlds [SEED] [--minutes N | --seconds N | --count N] [--operations N] [--repeat] [--verbose] [--times]
                      [--no-shrinking]
               worlds --plan FILE [--verbose]

        """

    /// Returns nil if an argument isn't one.
    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--minutes", "--seconds":
                guard let value = rest.popFirst().flatMap(Double.init), value > 0 else { return nil }
                seconds = argument == "--minutes" ? value * 60 : value
            case "--count":
                guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else { return nil }
                count = value
            case "--operations":
                guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else { return nil }
                operationCount = value
            case "--plan":
                guard let value = rest.popFirst() else { return nil }
                plan = value
            case "--repeat": repeats = true
            case "--verbose": isVerbose = true
            case "--times": showsTimes = true
            case "--no-shrinking": shrinks = false
            default:
                guard let value = UInt64(argument) else { return nil }
                seed = value
            }
        }
    }
}
