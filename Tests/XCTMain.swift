import Testing

/// Where the tests begin on Linux. The package manager looks through a build's index for what to start, unless there is a
/// file of this name; the index takes an eighth of a build's time. On a Mac the file is not used.
@main struct TestProgram { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }
