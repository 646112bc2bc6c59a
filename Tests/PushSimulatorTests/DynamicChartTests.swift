import Foundation
import TestSupport
import Testing

@Suite("The example DynamicChart, the file an app would ship", .serialized)
struct DynamicChartTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Delivers what the sender's command has sealed to the published test keys, which the example trusts.
    private func deliver(chart: String, _ more: [String] = []) throws -> [String: Any] {
        let keys = Checkout.folder.appending(path: "Tests/Keyring").path
        let content = try folder.write(
            #"{"alert":{"title":"Resting pulse","body":"61 today"},"chart":\#(chart)}"#, to: "content.json")
        let push = folder.appending("push.apns").path
        let sealed = try Program("sealedpush").run(
            "seal", content, "--from", "test-newsroom", "--to", "test-phone", "--topic", "com.example.app",
            "--keyring", keys, "--output", push)
        try #require(sealed.status == 0, "\(sealed.errors)")
        let result = try Program("device-simulator").run(
            ["deliver", push, "--device", "test-phone", "--topic", "com.example.app", "--keyring", keys] + [
                "--extension", Program("dynamic-chart-example").executable.path, "--json",
            ] + more)
        try #require(result.status == 0, "\(result.errors)")
        return try #require(result.objects.first)
    }

    @Test("shows the text and, at 3x, with less than 8 MB of memory of its own, the chart")
    func chart() throws {
        let chart = """
            {"kind":"line","points":[67,66,68,null,64,63,61],"suffix":" bpm","color":"trend",\
            "labels":["Mon","Tue","Wed","Thu","Fri","Sat","Sun"]}
            """
        let shown = try deliver(chart: chart)
        #expect(shown["outcome"] as? String == "opened")
        #expect(shown["body"] as? String == "61 today")
        let memory = try #require(shown["peakMemoryBytes"] as? Int)
        print("DynamicChart: \(memory) bytes of memory, \(shown["elapsedMilliseconds"] ?? "-") ms")
        #expect(memory < 8_000_000)
    }
}
