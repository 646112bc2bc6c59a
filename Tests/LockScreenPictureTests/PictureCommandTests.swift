import Foundation
import PushSender
import TestPrograms
import TestSupport
import TestThreads
import Testing

@testable import LockScreenPicture

@Suite("device-simulator deliver --picture --html", .blocking)
struct PictureCommandTests {
    private let device: Device

    init() throws { device = try Device() }

    private func run(_ files: [String], _ more: [String]) throws -> Program.Result {
        let first = try #require(files.first)
        var arguments = device.arguments(first, more)
        arguments.insert(contentsOf: files.dropFirst(), at: 2)
        return try Program("device-simulator").run(arguments)
    }

    @Test("write one screen of all the pushes")
    func both() throws {
        let good = try device.file(device.seal(Content(title: "Nina", body: "Lunch at one?")))
        let (png, html) = (device.folder.appending("a.png"), device.folder.appending("a.html"))
        let result = try run(
            [good, good],
            ["--picture", png.path, "--html", html.path, "--dark", "--default", "News", "--app-name", "Mine"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.objects.count == 2)
        for file in [png, html] {
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "what was sealed is in it")
        }
        let page = try Checkout.text(html)
        #expect(page.contains("Safe default: replayed") && page.contains("News") && page.contains("<bdi>Mine</bdi>"))
        #expect(page.contains("class=\"dark\"") && page.contains("1 more"))
        #expect(try Raster(png: Data(contentsOf: png)).width > 1_000)
    }

    @Test("take the app's name from the topic")
    func name() throws {
        let html = device.folder.appending("a.html")
        _ = try run([try device.file(device.seal())], ["--html", html.path])
        #expect(try Checkout.text(html).contains("<bdi>app</bdi>"))
    }

    @Test("overwrite nothing unless told to, and then deliver nothing either")
    func existing() throws {
        let push = try device.file(device.seal())
        for option in ["--picture", "--html"] {
            let file = try device.folder.write("mine", to: "there")
            let refused = try run([push], [option, file])
            #expect(refused.status == 74)
            #expect(refused.errors.contains("exists already"))
            #expect(refused.output.isEmpty)
            #expect(try Checkout.text(URL(filePath: file)) == "mine")
        }
        // Not a replay: it was not delivered before.
        let file = device.folder.appending("there").path
        #expect(try run([push], ["--picture", file, "--force"]).objects.first?["outcome"] as? String == "opened")
        #expect(try Raster(png: Data(contentsOf: URL(filePath: file))).width > 1_000)
    }

    @Test("are refused before anything is delivered, where there is no folder for them")
    func noFolder() throws {
        let push = try device.file(device.seal())
        for option in ["--picture", "--html"] {
            let refused = try run([push], [option, device.folder.appending("none/a").path])
            #expect(refused.status == 74)
            #expect(refused.errors.contains("its folder is not there"), "\(refused.errors)")
            #expect(refused.output.isEmpty)
        }
        #expect(try run([push], []).objects.first?["outcome"] as? String == "opened")
    }

    @Test("are refused without a file's name, or with one name for both")
    func wrongUse() throws {
        let push = try device.file(device.seal())
        for more in [["--picture", ""], ["--html", ""], ["--html", "a", "--picture", "a"], ["--app-name", " "]] {
            #expect(try run([push], more).status == 64, "\(more)")
        }
    }
}
