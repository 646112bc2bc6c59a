import SealedPush
import TestSupport
import Testing

@testable import PushCharts

@Suite("A chart's picture, for any points") struct ChartPropertyTests {
    /// A pure color, so that no other color in the picture is near it.
    private static let ink = Pixels.Color(red: 255, green: 0, blue: 255)

    private func picture(
        _ kind: PushChart.Kind, _ points: [Double?], hasAxes: Bool = false,
        _ style: ChartStyle = ChartStyle(scale: .two)
    ) throws -> Pixels {
        let chart = PushChart(
            kind, points: points, color: .rgb(PushChart.RGB(red: 255, green: 0, blue: 255)), hasAxes: hasAxes)
        return try Pixels(ChartPicture(chart, style: style).png)
    }

    /// Returns the columns of point `index`, with a few on each side.
    private func columns(_ index: Int, of count: Int, _ kind: PushChart.Kind, in picture: Pixels) -> Range<Int> {
        let (left, width) = (32.0, Double(picture.width) - 64)
        let slots = kind == .bar ? Double(count) : Double(count - 1)
        let middle = left + width * (Double(index) + (kind == .bar ? 0.5 : 0)) / slots
        return Int(middle) - 3..<Int(middle) + 4
    }

    @Test("The highest point is highest in the picture, and the lowest is lowest", arguments: PushChart.Kind.allCases)
    func extremes(kind: PushChart.Kind) throws {
        var random = SeededGenerator()
        for _ in 0..<2 {
            // The values differ by more than a line's width; the last point, which has the dot, is neither highest nor lowest.
            var points: [Double?] = (0..<9).map { _ in Double.random(in: -5...5, using: &random) } + [0]
            let (high, low) = (Int.random(in: 0...4, using: &random), Int.random(in: 5...8, using: &random))
            (points[high], points[low]) = (20, -20)
            let picture = try picture(kind, points)
            let rows = picture.rows(of: Self.ink)
            let top = try #require(rows.first)
            let bottom = try #require(rows.last)
            let above = picture.rows(of: Self.ink, within: columns(high, of: 10, kind, in: picture))
            let below = picture.rows(of: Self.ink, within: columns(low, of: 10, kind, in: picture))
            #expect(above.first == top)
            #expect(below.last == bottom)
        }
    }

    @Test("A gap has no ink", arguments: PushChart.Kind.allCases) func gap(kind: PushChart.Kind) throws {
        let picture = try picture(kind, [1, 3, 2, nil, nil, nil, 3, 1, 2])
        let inked = Set(picture.columns(of: Self.ink))
        let edges = (columns(2, of: 9, kind, in: picture), columns(6, of: 9, kind, in: picture))
        let reach = kind == .bar ? 30 : 6
        let gap = (edges.0.upperBound + reach)..<(edges.1.lowerBound - reach)
        #expect(gap.count > 100)
        #expect(inked.intersection(gap).isEmpty)
        #expect(!inked.isDisjoint(with: edges.0) && !inked.isDisjoint(with: edges.1))
        // The paler color of an area isn't there, either.
        let background = picture[1, 1]
        #expect(gap.allSatisfy { x in (0..<picture.height).allSatisfy { picture[x, $0] == background } })
    }

    @Test("Negative bars and areas are below the line at zero, and positive ones above it", arguments: [0, 1])
    func negative(sign: Int) throws {
        let picture = try picture(.bar, [4, -4])
        let rows = picture.rows(
            of: Self.ink, within: sign == 0 ? 0..<picture.width / 2 : picture.width / 2..<picture.width)
        let zero = picture.height / 2
        #expect(rows.count > 50)
        #expect(rows.allSatisfy { sign == 0 ? $0 <= zero : $0 >= zero - 1 })
        let area = try self.picture(.area, sign == 0 ? [4, 4, 4] : [-4, -4, -4])
        let lines = area.rows(of: Self.ink, within: 60..<100)
        #expect(sign == 0 ? lines[0] < 60 : lines[0] > area.height - 60)
    }

    @Test("A chart has the color of its trend if the sender asks for it") func trend() throws {
        let green = PushChart.RGB(red: 0, green: 255, blue: 0)
        let red = PushChart.RGB(red: 255, green: 0, blue: 0)
        let style = ChartStyle(
            scale: .two, accent: PushChart.RGB(red: 0, green: 0, blue: 255), rising: green, falling: red)
        let cases: [([Double?], Pixels.Color)] = [
            ([nil, 1, 9, 2, nil], Pixels.Color(red: 0, green: 255, blue: 0)),
            ([2, 9, -1], Pixels.Color(red: 255, green: 0, blue: 0)),
            ([2, 9, 2], Pixels.Color(red: 0, green: 0, blue: 255)),
        ]
        for (points, color) in cases {
            let picture = try Pixels(ChartPicture(PushChart(.line, points: points, color: .trend), style: style).png)
            #expect(!picture.rows(of: color).isEmpty, "\(points)")
        }
    }

    @Test("No chart traps: random points, labels, and numbers at the limits of a Double") func random() throws {
        var random = SeededGenerator()
        let edges: [Double?] = [
            nil, 0, -0.0, 1e308, -1e308, 1.7e308, -1.7e308, Double.leastNonzeroMagnitude, -Double.leastNonzeroMagnitude,
            1e-300, 1, 1 + 1e-15, 1e16, 1e16 + 2, -1, 0.1, 123_456_789.123, 1e15, 9.99e14,
        ]
        for round in 0..<160 {
            let kind = PushChart.Kind.allCases[round % 4]
            let count = [1, 2, 3, 17, 300, 1_024].randomElement(using: &random) ?? 1
            let isWild = Bool.random(using: &random)
            let points = (0..<count).map { _ -> Double? in
                if isWild { return edges.randomElement(using: &random) ?? nil }
                return Bool.random(using: &random) ? Double(bitPattern: random.next()) : nil
            }
            let labels = (0..<Int.random(in: 0...16, using: &random)).map { _ in
                String(decoding: random.bytes(Int.random(in: 0...16, using: &random)), as: UTF8.self)
            }
            let chart = PushChart(
                kind, points: points, labels: labels, prefix: labels.first ?? "", suffix: labels.last ?? "",
                color: [.accent, .trend].randomElement(using: &random) ?? .accent)
            // Lay out all of them, but draw the picture, which takes longer, only for some.
            let drawing = ChartDrawing(chart, style: ChartStyle(scale: .two))?.drawing
            #expect((drawing == nil) == points.allSatisfy { $0.map { !$0.isFinite } ?? true })
            if let drawing { #expect(drawing.isWithinBounds, "\(chart)") }
            if round.isMultiple(of: 16), drawing != nil { _ = try ChartPicture(chart, style: ChartStyle(scale: .two)) }
        }
    }

    @Test("Text that is too wide is cut and ends with an ellipsis; other text isn't cut") func wideText() throws {
        for letter in ["W", "i", "\u{4e2d}", "e\u{301}"] {
            for count in [1, 2, 12, 16, 48, 1_000] {
                let text = String(repeating: letter, count: count)
                let chart = PushChart(.line, points: [1, 2], labels: [text], prefix: text)
                let drawing = try #require(ChartDrawing(chart, style: ChartStyle())?.drawing)
                #expect(drawing.texts.count > 1)
                for label in drawing.texts {
                    let width = TextMeasure.width(label.text)
                    let left = label.left(width: width)
                    #expect(left >= 0 && left + width <= drawing.width, "\(label.text)")
                    let isCut = label.text.hasSuffix("\u{2026}")
                    #expect(isCut || label.text.contains(text))
                    #expect(!isCut || TextMeasure.width(text) > 90, "\(label.text)")
                }
            }
        }
    }

    @Test("A chart without a value has no picture") func nothing() {
        for points in [[], [nil], [nil, nil], [.nan], [.infinity]] as [[Double?]] {
            #expect(throws: ChartError.nothingToDraw) { try picture(.line, points) }
        }
    }

    @Test("A point that isn't a finite number is a gap", arguments: PushChart.Kind.allCases)
    func gaps(kind: PushChart.Kind) throws {
        for odd in [Double.nan, .infinity, -.infinity] {
            let drawing = try #require(ChartDrawing(PushChart(kind, points: [-3, odd, -1]), style: ChartStyle()))
            let gap = try #require(ChartDrawing(PushChart(kind, points: [-3, nil, -1]), style: ChartStyle()))
            #expect("\(drawing)" == "\(gap)", "\(odd)")
        }
    }

    @Test("One value, or several equal ones, are drawn in the middle") func equal() throws {
        for points in [[7], [7, 7, 7], [-1e300], [0, 0]] as [[Double?]] {
            let rows = try picture(.line, points).rows(of: Self.ink)
            let middle = (try #require(rows.first) + (try #require(rows.last))) / 2
            #expect(abs(middle - 180) <= 3, "\(points)")
        }
    }
}

extension Drawing {
    /// Whether every point of every path is a finite number within the picture, or near it.
    fileprivate var isWithinBounds: Bool {
        marks.allSatisfy { mark in
            switch mark {
            case .fill(let path, _), .gradient(let path, _), .stroke(let path, _, _):
                path.elements.allSatisfy { isNear($0) }
            case .text(let label): isNear(Path.Point(x: label.x, y: label.baseline))
            }
        }
    }

    fileprivate var texts: [Label] { marks.compactMap { if case .text(let label) = $0 { label } else { nil } } }

    private func isNear(_ element: Path.Element) -> Bool {
        switch element {
        case .move(let point), .line(let point): isNear(point)
        case .curve(let end, let control1, let control2): isNear(end) && isNear(control1) && isNear(control2)
        case .close: true
        }
    }

    private func isNear(_ point: Path.Point) -> Bool {
        (-10...width + 10).contains(point.x) && (-10...height + 10).contains(point.y)
    }
}
