import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

@Suite("The example DynamicChart, the file an app would ship", .serialized, .blocking) struct DynamicChartTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let chart = """
        {"kind":"line","points":[67,66,68,null,64,63,61],"suffix":" bpm","color":"trend",\
        "labels":["Mon","Tue","Wed","Thu","Fri","Sat","Sun"]}
        """

    /// Delivers what the sender's command has sealed to the published test keys, which the example trusts.
    private func deliver() throws -> [String: Any] {
        let keys = Checkout.folder.appending(path: "Tests/Keyring").path
        let content = try folder.write(
            #"{"alert":{"title":"Resting pulse","body":"61 today"},"chart":\#(Self.chart)}"#, to: "content.json")
        let push = folder.appending(UUID().uuidString).path
        let sealed = try Program("sealedpush").run(
            "seal", content, "--from", "test-newsroom", "--to", "test-phone", "--topic", "com.example.app",
            "--keyring", keys, "--output", push)
        try #require(sealed.status == 0, "\(sealed.errors)")
        let result = try Program("device-simulator").run(
            "deliver", push, "--device", "test-phone", "--topic", "com.example.app", "--keyring", keys, "--extension",
            Program("dynamic-chart-example").executable.path, "--state", state.path, "--json")
        try #require(result.status == 0, "\(result.errors)")
        return try #require(result.objects.first)
    }

    private var state: URL { folder.appending("State") }
    private var scratch: URL { state.appending(path: "tmp/sealed-push") }

    @Test("the example DynamicChart shows the text and, within 8 MB, the chart, and leaves no other file")
    func chart() throws {
        let shown = try deliver()
        #expect(shown["outcome"] as? String == "opened")
        #expect(shown["body"] as? String == "61 today")
        let attachments = try #require(shown["attachments"] as? [[String: Any]])
        #expect(attachments.map { $0["identifier"] as? String } == ["chart"], "\(shown)")
        #expect(attachments.first?["type"] as? String == "public.png")
        #expect((attachments.first?["thumbnailClippingRect"] as? [Double])?.count == 4)
        let file = try Data(contentsOf: URL(filePath: try #require(attachments.first?["file"] as? String)))
        // PNG's signature, and the width and height of its header: 360 by 180 points.
        #expect(file.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        #expect(Array(file[16..<24]) == [0, 0, 4, 56, 0, 0, 2, 28])
        #expect(try Checkout.allFiles(in: state.appending(path: "tmp")).isEmpty)
        let memory = try #require(shown["peakMemoryBytes"] as? Int)
        print("DynamicChart: \(memory) bytes of memory, \(shown["elapsedMilliseconds"] ?? "-") ms")
        #expect(memory < 8_000_000 || !ProcessMemory.isMeaningful)
    }

    @Test("the example DynamicChart shows the text if the chart can't be drawn") func textStands() throws {
        #expect(try deliver()["outcome"] as? String == "opened")
        // A file where the drawing's folder would have to be.
        try? FileManager.default.removeItem(at: scratch)
        try Data().write(to: scratch)
        let shown = try deliver()
        #expect(shown["outcome"] as? String == "opened")
        #expect(shown["body"] as? String == "61 today")
        #expect((shown["attachments"] as? [Any])?.isEmpty == true)
    }
}
