import Foundation
import SealedPush
import TestSupport
import Testing

@testable import PushCharts

/// People have checked the pictures in Golden. Set `WRITE_GOLDEN=1` to write them again, then check them again.
@Suite("A chart's picture") struct GoldenTests {
    static let charts: [(name: String, chart: PushChart, style: ChartStyle)] = [
        (
            "line-dark",
            PushChart(
                .line, points: [182, 184.5, 183, 179.25, 186, nil, nil, 188, 191.5, 187, 193],
                labels: ["Mon", "Tue", "Wed", "Thu", "Fri"], prefix: "$", color: .trend), ChartStyle(scale: .two)
        ),
        (
            "area-light",
            PushChart(
                .area, points: [12, 14, 9, 3, -2, -7, -3, 4, 11, 15, 17, 12],
                labels: ["00:00", "06:00", "12:00", "18:00", "24:00"], suffix: "°"),
            ChartStyle(appearance: .light, scale: .two)
        ),
        (
            "bar-light",
            PushChart(
                .bar, points: [5, -7, 9, 0, nil, -4, 8], labels: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
                suffix: " %", color: .rgb(PushChart.RGB(red: 175, green: 82, blue: 222))),
            ChartStyle(appearance: .light, scale: .two)
        ),
        (
            "sparkline-dark", PushChart(.sparkline, points: [9, 8, 8.5, 7, 6, 6.5, 4, 5, 3], color: .trend),
            ChartStyle(scale: .two)
        ),
    ]

    #if !canImport(Darwin)
    // The pictures in Golden are Cairo's.
    @Test(
        "A chart matches its golden picture, but for smoothed edges and letters", arguments: charts.map { $0.name })
    func golden(name: String) throws {
        let (_, chart, style) = try #require(Self.charts.first { $0.name == name })
        let png = try ChartPicture(chart, style: style).png
        let file = Checkout.folder.appending(path: "Tests/PushChartsTests/Golden/\(name).png")
        if ProcessInfo.processInfo.environment["WRITE_GOLDEN"] != nil { try Data(png).write(to: file) }
        let difference = Self.difference(try Pixels(png), try Pixels(Array(try Data(contentsOf: file))))
        #expect(difference < 0.004, "the part of the pixels that differ is \(difference)")
    }
    #endif

    /// Returns the part of the pixels that differ visibly.
    private static func difference(_ picture: Pixels, _ golden: Pixels) -> Double {
        guard picture.width == golden.width, picture.height == golden.height else { return 1 }
        var count = 0
        for y in 0..<picture.height {
            for x in 0..<picture.width where picture[x, y].distance(to: golden[x, y]) > 40 { count += 1 }
        }
        return Double(count) / Double(picture.width * picture.height)
    }

    @Test("Different charts differ by more than that, even if only one point has moved") func sensitivity() throws {
        let (_, chart, style) = Self.charts[0]
        var moved = chart
        moved.points[3] = 192
        let difference = Self.difference(
            try Pixels(ChartPicture(moved, style: style).png), try Pixels(ChartPicture(chart, style: style).png))
        #expect(difference > 0.004)
    }
}
