/// Where values lie in the picture: the part of it that is not margin, and the two directions.
struct Plot {
    let left: Double
    let top: Double
    let right: Double
    let bottom: Double
    let axis: ValueAxis
    let count: Int
    /// Whether each point has a slot of the width to itself, as a bar has, or the first and last lie at the edges.
    let hasSlots: Bool

    var width: Double { right - left }

    func x(_ index: Int) -> Double {
        if hasSlots { return left + slotWidth * (Double(index) + 0.5) }
        guard count > 1 else { return left + width / 2 }
        return left + width * Double(index) / Double(count - 1)
    }

    var slotWidth: Double { width / Double(max(1, count)) }

    func y(_ value: Double) -> Double { bottom - (bottom - top) * axis.height(of: value) }

    func point(_ index: Int, _ value: Double) -> Path.Point { Path.Point(x: x(index), y: y(value)) }

    /// The points between gaps.
    func runs(_ points: [Double?]) -> [[Path.Point]] {
        var runs: [[Path.Point]] = []
        var run: [Path.Point] = []
        for (index, value) in points.enumerated() {
            if let value {
                run.append(point(index, value))
            } else if !run.isEmpty {
                runs.append(run)
                run = []
            }
        }
        return run.isEmpty ? runs : runs + [run]
    }
}
