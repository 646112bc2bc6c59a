import FuzzSupport

@testable import PushCharts
@testable import SealedPush

/// Charts: one that is read keeps the limits of Specification 15, and is written and read as the same; any is laid out within
/// its picture, in finite numbers, and drawn.
///
/// The input's first byte: whether the rest is content or what a chart is made of (bit 0), and whether it is drawn, which is
/// slow (bits 1 to 4: one in 16).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChart(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = Input(start, count)
    let choice = input.byte()
    let chart = choice & 1 == 0 ? read(input.bytes) : made(&input)
    guard let chart else { return 0 }
    var style = ChartStyle(appearance: choice & 0x20 == 0 ? .dark : .light, scale: .two)
    if choice & 0x40 != 0 { style.accent = Chart.RGB(red: choice, green: 0, blue: 255) }
    checkLayout(of: chart, style)
    guard choice & 0x1e == 0x1e else { return 0 }
    do {
        let picture = try ChartPicture(chart, style: style)
        demand(picture.png.starts(with: [0x89, 0x50, 0x4e, 0x47]), "a picture that is no PNG")
    } catch { demand(error as? ChartError == .nothingToDraw, "a chart is not drawn: \(error)") }
    return 0
}

private func read(_ bytes: [UInt8]) -> Chart? {
    guard let members = JSONReader.object(bytes, maximumByteCount: 4_096), let chart = try? Chart(.object(members))
    else { return nil }
    demand((1...1_024).contains(chart.points.count) && chart.labels.count <= 16, "\(chart.points.count) points")
    demand(chart.points.allSatisfy { $0?.isFinite ?? true }, "points that are infinite")
    demand(chart.points.contains { $0 != nil }, "no point at all")
    demand(chart.labels.allSatisfy { $0.utf8.count <= 48 }, "a label that is too long")
    demand(max(chart.prefix.utf8.count, chart.suffix.utf8.count) <= 16, "a prefix or suffix that is too long")
    demand((try? Chart(chart.json)) == chart, "written and read again it is another")
    return chart
}

/// As an app could make it, in bounds or not.
private func made(_ input: inout Input) -> Chart {
    let kind = Chart.Kind.allCases[Int(input.byte()) % Chart.Kind.allCases.count]
    var chart = Chart(kind, points: [], prefix: input.text(), suffix: input.text(), hasAxes: input.bool())
    chart.labels = (0..<input.byte() % 18).map { _ in input.text() }
    let isSmall = input.bool()
    let repeats = input.number(below: 40) + 1
    while !input.rest.isEmpty, chart.points.count < 1_100 {
        let value = isSmall ? Double(input.byte()) - 100 : Double(bitPattern: input.word())
        chart.points += repeatElement(input.byte() == 7 ? nil : value, count: repeats)
    }
    if input.bool() { chart.color = .trend }
    return chart
}
