import Foundation
import TestSupport
import Testing

@testable import SealedPush

@Suite("A chart in the content") struct ChartTests {
    static let full = PushChart(
        .bar, points: [1, 2.5, nil, -3, 1e300], labels: ["Mon", "日曜"], prefix: "$", suffix: " km",
        color: .rgb(PushChart.RGB(red: 10, green: 132, blue: 255)), hasAxes: false)

    @Test("A chart of every kind and color comes back the same") func roundTrip() throws {
        for kind in PushChart.Kind.allCases {
            for color in [PushChart.Color.accent, .trend, .rgb(PushChart.RGB(red: 0, green: 1, blue: 255))] {
                var content = Content(title: "a")
                content.chart = Self.full
                content.chart?.kind = kind
                content.chart?.color = color
                try content.checkForSealing()
                let read = try Content(parsing: content.json)
                #expect(read == content)
                #expect(read.chart?.kind == kind)
                #expect(read.chart?.color == color)
                #expect(read.chart?.points == Self.full.points)
            }
        }
    }

    @Test("A chart is written as specified, without default values") func json() {
        var content = Content(title: "a")
        content.chart = PushChart(.line, points: [1, 2.5, nil, 3.0])
        #expect(text(content) == #"{"alert":{"title":"a"},"chart":{"kind":"line","points":[1,2.5,null,3]}}"#)
        content.chart = Self.full
        #expect(
            text(content)
                == ##"{"alert":{"title":"a"},"chart":{"axes":false,"color":"#0a84ff","kind":"bar","labels":["Mon","日曜"],"##
                + #""points":[1,2.5,null,-3,1e+300],"prefix":"$","suffix":" km"}}"#)
        content.chart = nil
        #expect(text(content) == #"{"alert":{"title":"a"}}"#)
    }

    @Test("A chart that breaks a limit can't be sealed") func limits() throws {
        let changes: [(String, (inout PushChart) -> Void)] = [
            ("points", { $0.points = [] }), ("points", { $0.points = [nil] }),
            ("points", { $0.points = Array(repeating: 1, count: 1_025) }),
            ("labels", { $0.labels = Array(repeating: "x", count: 17) }),
            ("labels", { $0.labels = [String(repeating: "x", count: 49)] }),
            ("prefix", { $0.prefix = String(repeating: "x", count: 17) }),
            ("suffix", { $0.suffix = String(repeating: "é", count: 9) }),
        ]
        for (member, change) in changes {
            var content = Content(title: "a")
            var chart = Self.full
            change(&chart)
            content.chart = chart
            #expect(throws: ContentError.invalid("chart.\(member)")) { try content.checkForSealing() }
        }
        for number in [Double.nan, .infinity] {
            var content = Content(title: "a")
            content.chart = PushChart(.line, points: [number, 1])
            #expect(throws: ContentError.self) { try content.checkForSealing() }
        }
        var content = Content(title: "a")
        content.chart = PushChart(.line, points: Array(repeating: 1, count: 1_024))
        try content.checkForSealing()
    }

    @Test("An unreadable chart is dropped alone and can't be sealed") func unreadable() throws {
        let json = Array(#"{"alert":{"title":"a"},"chart":{"kind":"line"}}"#.utf8)
        let content = try Content(opening: json)
        #expect(content.alert.title == "a")
        #expect(content.chart == nil)
        #expect(throws: ContentError.missing("chart.points")) { try Content(parsing: json) }
    }

    @Test("Each file in Tests/Vectors/Charts has the result that it specifies") func vectors() throws {
        var counts: [String: Int] = [:]
        for file in try Checkout.files(in: "Tests/Vectors/Charts", ending: ".txt") {
            let vector = try NamedLines(file)
            let outcome = try vector.required("outcome")
            counts[outcome, default: 0] += 1
            // Not within content, which has its own limit.
            let chart = try value(try vector.required("chart")).flatMap { try? PushChart($0) }
            guard outcome == "reads" else {
                #expect(chart == nil, "\(vector.testDescription)")
                continue
            }
            let found = try #require(chart, "\(vector.testDescription)")
            let read = try #require(try value(try vector.required("read")))
            #expect(try found == PushChart(read), "\(vector.testDescription)")
            #expect(try found == PushChart(found.json), "\(vector.testDescription)")
            #expect(withUsualValues(found.json) == read, "\(vector.testDescription)")
        }
        #expect(counts == ["reads": 15, "unreadable": 28])
    }

    private func value(_ text: String) throws -> JSONValue? {
        let bytes = Array("{\"value\":\(text)}".utf8)
        return try #require(JSONReader.object(bytes, maximumByteCount: 65_536))["value"]
    }

    private func withUsualValues(_ chart: JSONValue) -> JSONValue {
        guard case .object(let members) = chart else { return chart }
        let usual: [String: JSONValue] = ["labels": [], "prefix": "", "suffix": "", "color": "accent", "axes": true]
        return .object(members.merging(usual) { given, _ in given })
    }

    private func text(_ content: Content) -> String { String(decoding: content.json, as: UTF8.self) }
}
