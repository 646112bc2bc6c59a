import Foundation

/// How much is tested of what takes long: a sample, or all of it with `Scripts/test --thorough`, which sets `THOROUGH=1`.
public enum Thoroughness {
    public static let isThorough = ProcessInfo.processInfo.environment["THOROUGH"] == "1"

    /// How long a series is.
    public static func count(_ plain: Int, thorough: Int) -> Int { isThorough ? thorough : plain }

    /// How far apart the steps of a walk are: one, where all of them are taken.
    public static func stride(_ plain: Int) -> Int { isThorough ? 1 : plain }

    /// The first and the last element of a walk and, by chance, as many between them as make `plain`, in their order; or the
    /// whole walk.
    public static func sample<Element>(
        _ plain: Int, of walk: [Element], using random: inout SeededGenerator
    ) -> [Element] {
        guard !isThorough, plain < walk.count, plain >= 2 else { return walk }
        let between = walk.indices.dropFirst().dropLast().shuffled(using: &random).prefix(plain - 2)
        return ([0] + between.sorted() + [walk.count - 1]).map { walk[$0] }
    }

    /// The same with a seed of its own, which is printed.
    public static func sample<Element>(_ plain: Int, of walk: [Element]) -> [Element] {
        var random = SeededGenerator()
        return sample(plain, of: walk, using: &random)
    }
}
