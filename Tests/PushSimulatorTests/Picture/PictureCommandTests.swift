import Foundation
import PushSender
import TestPrograms
import TestSupport
import Testing

@testable import device_simulator

@Suite("device-simulator deliver --picture", .blocking) struct PictureCommandTests {
    private let device: Device

    init() throws { device = try Device() }

    @Test("deliver --picture draws one screen of all pushes, readable only by its owner") func drawing() throws {
        let good = try device.file(device.seal(Content(title: "Nina", body: "Lunch at one?")))
        let png = device.folder.appending("a.png")
        let result = try Program("device-simulator").run(
            device.arguments(good, [good, "--picture", png.path, "--app-name", "Mine"]))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.objects.count == 2)
        let mode = try FileManager.default.attributesOfItem(atPath: png.path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "the picture contains sealed content")
        #expect(try Raster(png: Data(contentsOf: png)).width > 1_000)
    }

    @Test("an unwritable picture is refused before anything is delivered") func refused() throws {
        let push = try device.file(device.seal())
        let there = try device.folder.write("mine", to: "there")
        for (file, words) in [
            (there, "already exists"), (device.folder.appending("none/a").path, "can't be written: No such file"),
        ] {
            let refused = try Program("device-simulator").run(device.arguments(push, ["--picture", file]))
            #expect(refused.status == 74)
            #expect(refused.errors.contains(words), "\(refused.errors)")
            #expect(refused.output.isEmpty)
        }
        #expect(try Checkout.text(URL(filePath: there)) == "mine")
        for more in [["--picture", ""], ["--app-name", " "]] {
            #expect(try Program("device-simulator").run(device.arguments(push, more)).status == 64, "\(more)")
        }
        // It isn't a replay, because it wasn't delivered before.
        #expect(try device.deliver(push).outcome == "opened")
    }
}
