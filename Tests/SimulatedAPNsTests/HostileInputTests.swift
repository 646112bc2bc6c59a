import Foundation
import Glibc
import NIOCore
import PushCore
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("Bad input to a local APNs", .serialized, .blocking) struct HostileInputTests {
    private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    @Test("malformed frames close their connection, and the next request works") func frames() async throws {
        // With a long timeout, a connection can close only because of the data sent.
        let apns = try await RunningAPNs { $0.handshakeTimeout = .seconds(3_600) }
        func sending(_ bytes: [UInt8]) async throws -> RawConnection {
            let client = try await RawConnection(port: apns.address.port, root: apns.address.root)
            client.send(bytes)
            return client
        }
        let start = RawConnection.preface + Self.settings
        let malformed: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8),
            // A frame of 16 MiB, data on stream 0, headers on an even stream, and an index that no table has.
            start + [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1], start + [0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            start + [0, 0, 1, 1, 5, 0, 0, 0, 2, 0x82], start + [0, 0, 2, 1, 5, 0, 0, 0, 1, 0xff, 0xff],
            // CONTINUATION without HEADERS, WINDOW_UPDATE of 0, and settings with a wrong length.
            start + [0, 0, 1, 9, 4, 0, 0, 0, 1, 0x82], start + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            RawConnection.preface + [0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5],
        ]
        for (place, input) in malformed.enumerated() {
            #expect(await (try sending(input)).wait { $0.isClosed }, "input \(place)")
        }
        var random = SeededGenerator()
        var clients: [RawConnection] = []
        for _ in 0..<5 { clients.append(try await sending(start + random.bytes(300))) }
        // An unknown frame type isn't an error: the ping after it is answered.
        let ping = Array("pingpong".utf8)
        let unknown: [UInt8] = [0, 0, 1, 0xee, 0, 0, 0, 0, 1, 0]
        let tolerated = try await sending(start + unknown + [0, 0, 8, 6, 0, 0, 0, 0, 0] + ping)
        #expect(await tolerated.wait { $0.text.contains("pingpong") })
        #expect(!tolerated.isClosed)
        clients.append(tolerated)
        #expect(try await apns.works())
        for client in clients { await client.close() }
        await apns.server.stop()
    }

    @Test("plain text instead of TLS is disconnected, and floods of connections leak no descriptor")
    func floods() async throws {
        let folder = try TemporaryFolder()
        // Use a separate process, because other tests open files in this one.
        let server = try Program("device-simulator").start(["apns", "--folder", folder.path])
        defer { server.kill() }
        var address: LocalAPNsAddress?
        try await eventually("the server's address") {
            address = try? LocalAPNsAddress(inFolder: folder.url)
            return address != nil
        }
        let port = try #require(address?.port)
        let before = try descriptorCount(of: server.identifier)
        for _ in 0..<3 {
            let sockets = (0..<200).map { _ in Self.connect(port) }
            #expect(sockets.allSatisfy { $0 >= 0 })
            for socket in sockets.prefix(20) {
                _ = Glibc.send(socket, "GET / HTTP/1.1\r\n\r\n", 18, Int32(MSG_NOSIGNAL))
            }
            try await Task.sleep(for: .milliseconds(50))
            for socket in sockets { close(socket) }
        }
        var after = try descriptorCount(of: server.identifier)
        // The runtime may have opened a few descriptors by now, but far fewer than one for each of 600 connections.
        try await eventually("no descriptor is leaked") {
            after = try descriptorCount(of: server.identifier)
            return after <= before + 5
        }
        let curl = try Program(at: "/usr/bin/curl").run(
            "--silent", "--http2", "--max-time", "300", "--cacert", folder.appending("root.pem").path, "--data", "{}",
            "https://localhost:\(port)/3/device/")
        #expect(curl.output == #"{"reason":"MissingDeviceToken"}"#)
        Glibc.kill(server.identifier, SIGTERM)
        #expect(server.wait() == .exited(0))
    }

    private func descriptorCount(of process: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    private static func connect(_ port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return status == 0 ? descriptor : -1
    }

    @Test(
        "the devices' socket closes after anything but a device's frame",
        arguments: [
            "hello, this is not a frame\n", "{}\n", #"{"registered":{"tokens":[]}}"# + "\n",
            String(repeating: "x", count: 4_300_000),
        ])
    func deviceFrames(input: String) async throws {
        let apns = try await RunningAPNs()
        let client = try await RawConnection(socket: apns.address.devices)
        client.send(Array(input.utf8))
        #expect(await client.wait { $0.isClosed })
        #expect(try await apns.works())
        await apns.server.stop()
    }

    @Test("a device's screen accepts only that device's own report of a push that it was sent") func showing()
        async throws
    {
        let apns = try await RunningAPNs { $0.page = PagePlace(parsing: "127.0.0.1:0") }
        let shown = ShownOnDevice(DeliveredPush(notShownBecause: "a reason"), identifier: "1")
        let own = try await RawConnection(socket: apns.address.devices)
        #expect(try await own.register("phone") == [apns.token])
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        let other = try await RawConnection(socket: apns.address.devices)
        #expect(try await other.register("other phone")?.count == 1)
        let frame = DeviceFrame.acknowledge(number: 1, token: apns.token, shown: shown)
        other.send(Array(frame.bytes.readableBytesView))
        own.send(Array(DeviceFrame.acknowledge(number: 2, token: apns.token, shown: shown).bytes.readableBytesView))
        // This follows the other device's frame, so once it's answered, that frame was read.
        other.send(Array("{}\n".utf8))
        #expect(await other.wait { $0.isClosed })
        #expect(apns.server.deviceCounts.unacknowledged == 1 && !apns.pageText.contains("a reason"))
        own.send(Array(frame.bytes.readableBytesView))
        try await eventually("the page shows the report") { apns.pageText.contains("phone: not shown: a reason") }
        await own.close()
        await apns.server.stop()
    }

    @Test("a frame survives any fragmentation, and an unbounded one is refused")
    func frameRobustness() throws {
        let notification = APNsNotification(
            apnsID: "2c4a3a56-0000-4000-8000-00000000abcd", pushType: .alert, priority: 10, expiration: nil,
            collapseID: "c", payload: Data(#"{"aps":{}}"#.utf8), received: 1)
        let token = String(repeating: "ab", count: 32)
        let shown = ShownOnDevice(DeliveredPush(notShownBecause: "x"), identifier: "1")
        let frames: [DeviceFrame] = [
            .register(topic: "com.example.app", names: ["phone", "tablet"]), .registered(tokens: [token, token]),
            .notification(number: 1, token: token, notification: notification),
            .acknowledge(number: .max, token: token, shown: shown), .acknowledge(number: 0, token: token, shown: nil),
        ]
        for frame in frames {
            var buffer = frame.bytes
            #expect(try DeviceFrame.read(from: &buffer) == frame)
            for count in 0..<frame.bytes.readableBytes {
                var cut = ByteBuffer(bytes: frame.bytes.readableBytesView.prefix(count))
                #expect(try DeviceFrame.read(from: &cut) == nil)
            }
        }
        let tooMuch: [DeviceFrame] = [
            .register(topic: "t", names: Array(repeating: "n", count: 10_001)), .register(topic: "t", names: [""]),
            .register(topic: String(repeating: "t", count: 156), names: ["n"]),
        ]
        for frame in tooMuch {
            var buffer = frame.bytes
            #expect(throws: DeviceFrame.Failure.malformed) { try DeviceFrame.read(from: &buffer) }
        }
    }
}
