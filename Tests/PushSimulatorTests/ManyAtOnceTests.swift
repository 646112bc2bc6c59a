import Foundation
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator

/// iOS may give one process several notifications at once. Each alone fits into the memory, and all together must, too.
@Suite("Many notifications at once in one small process", .serialized, .blocking) struct ManyAtOnceTests {
    private let device: Device
    private let server: MisbehavingServer

    init() throws {
        device = try Device()
        server = try MisbehavingServer()
    }

    /// Returns sixteen pictures from a slow server, so that each download keeps its memory while it waits.
    private func album() throws -> [Content.Attachment] {
        try (0..<16).map { number in
            let file = device.folder.appending("\(number).png")
            let stored = device.folder.appending("\(number).stored")
            let start: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            try Data(start + (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 31 + number) }).write(to: file)
            let attachment = try Sealer.sealAttachment(
                file, to: stored, at: server.url("\(number)", .hangs), id: "\(number)", type: .png)
            let bytes = Array(try Data(contentsOf: stored))
            _ = server.url("\(number)", .drips(bytes, after: bytes.count - 20, every: .milliseconds(5)))
            return attachment
        }
    }

    @Test(
        "eight notifications with sixteen pictures each, in an old device's 12 MB, show each text and most pictures",
        .enabled(if: ProcessMemory.isMeaningful, "A sanitizer's own memory would count."))
    func oldDevice() async throws {
        let sealer = Sealer(sender: device.sender, topic: Device.topic, safeDefault: "wire default")
        var content = Content(title: "Album", body: String(repeating: "A long day at the harbour. ", count: 120))
        let album = try album()
        // Files without a turn in time are left out (ContentParts 14.3), and a busy machine has little time. So each text and
        // most pictures need to arrive in only one run, and a run with few pictures needs little time; but each message must
        // open in every run. If turns weren't passed on, at most six pictures would arrive.
        var (count, attempt) = (album.count, 0)
        try await eventually("a run shows each text and most of its pictures") {
            content.attachments = Array(album.prefix(count))
            let files = try (0..<8).map { number in
                let url = server.url("whole\(number)", .hangs)
                let moved = try #require(try sealer.moveOverflow(of: content, at: url))
                _ = server.url("whole\(number)", .serves(moved.file))
                return try device.file(try device.seal(moved.content))
            }
            attempt += 1
            let shown = try run(files, whole: content, state: "State\(attempt)")
            let isEnough = shown.texts == 8 && shown.pictures > 4 * count
            count = max(2, count / 2)
            return isEnough
        }
    }

    /// Returns how many whole texts and pictures were shown.
    private func run(
        _ files: [String], whole content: Content, state: String
    ) throws -> (texts: Int, pictures: Int) {
        let result = try Program("device-simulator").run(
            device.arguments(
                files[0], Array(files.dropFirst()) + ["--parallel", "8", "--memory-limit", "12"], state: state))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.objects.count == 8)
        for shown in result.objects {
            #expect(shown["outcome"] as? String == "opened", "\(shown["note"] ?? "")")
        }
        return (
            texts: result.objects.count { $0["body"] as? String == content.alert.body },
            pictures: result.objects.reduce(0) { $0 + (($1["attachments"] as? [Any])?.count ?? 0) }
        )
    }
}
