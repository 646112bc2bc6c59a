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
    /// Sends bytes over real TLS with openssl's client; whether the server has closed the connection by then.
    private func isClosed(
        sending bytes: [UInt8], to apns: RunningAPNs, within time: Duration = .seconds(60)
    ) throws -> Bool {
        let file = apns.folder.appending("hostile")
        try Data(bytes).write(to: file)
        // Until one end closes: the client by itself does not.
        let result = try Program(at: "/bin/sh").run([
            "-c",
            """
            timeout \(time.components.seconds) openssl s_client -quiet -connect 127.0.0.1:\(apns.address.port) -alpn h2 \
              <'\(file.path)'; [ $? != 124 ]
            """,
        ])
        return result.status == 0
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    @Test("malformed frames close their connection, and the next request works") func frames() async throws {
        // Whatever is closed here, is closed for what was sent.
        let apns = try await RunningAPNs { $0.handshakeTimeout = .seconds(3_600) }
        var random = SeededGenerator()
        let start = Self.preface + Self.settings
        let malformed: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8),
            // A frame of 16 MiB, data on stream 0, headers on an even stream, an index that no table has.
            start + [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1], start + [0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            start + [0, 0, 1, 1, 5, 0, 0, 0, 2, 0x82], start + [0, 0, 2, 1, 5, 0, 0, 0, 1, 0xff, 0xff],
            // CONTINUATION without HEADERS, WINDOW_UPDATE of 0, settings of a wrong length.
            start + [0, 0, 1, 9, 4, 0, 0, 0, 1, 0x82], start + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            Self.preface + [0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5],
        ]
        for (place, input) in malformed.enumerated() {
            #expect(try isClosed(sending: input, to: apns), "input \(place)")
        }
        // An unknown type is no mistake.
        #expect(try !isClosed(sending: start + [0, 0, 1, 0xee, 0, 0, 0, 0, 1, 0], to: apns, within: .seconds(2)))
        for _ in 0..<5 { _ = try isClosed(sending: start + random.bytes(300), to: apns, within: .seconds(2)) }
        #expect(try await apns.works() == true)
        await apns.server.stop()
    }

    @Test("too many connections are closed at once, silent ones when the time for the handshake is up")
    func silence() async throws {
        let apns = try await RunningAPNs {
            $0.connectionLimit = 20
            $0.handshakeTimeout = .seconds(2)
        }
        let silent = (0..<40).map { _ in Self.connect(apns.address.port) }
        #expect(silent.allSatisfy { $0 >= 0 })
        for socket in silent {
            try await eventually("it is closed") {
                var byte: UInt8 = 0
                let count = recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
                let code = errno
                return count == 0 || (count < 0 && code != EAGAIN)
            }
            close(socket)
        }
        try await eventually("it works") { try await apns.works() }
        await apns.server.stop()
    }

    @Test("plain text where TLS should be is closed, and floods of connections leave no descriptor behind")
    func floods() async throws {
        let folder = try TemporaryFolder()
        // A process of its own: other tests open files in this one.
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
        // The runtime may have opened a few for itself by now; of 600 connections each leaves none.
        try await eventually("no descriptor is left") {
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

    @Test("the devices' socket takes nothing that is no frame") func deviceFrames() async throws {
        let apns = try await RunningAPNs()
        for input in [
            "hello, this is not a frame\n", "{}\n", #"{"watched":{}}"# + "\n", String(repeating: "x", count: 1_100_000),
        ] {
            let file = try apns.folder.write(input, to: "frame")
            _ = try Program(at: "/usr/bin/python3").run([
                "-c",
                """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.settimeout(300); s.connect(sys.argv[1])
                s.sendall(open(sys.argv[2], 'rb').read()); print(len(s.recv(1)))
                """, apns.address.devices, file,
            ])
        }
        #expect(try await apns.works() == true)
        await apns.server.stop()
    }

    @Test("what a screen shows is taken from its own device alone") func showing() async throws {
        let told = Locked<[LocalAPNsEvent]>([])
        let apns = try await RunningAPNs { $0.watcher = { event in told.withLock { $0.append(event) } } }
        let other = apns.server.register(name: "other phone", topic: APNsFixture.topic)
        let shown = ShownOnDevice(DeliveredPush(notShownBecause: "x"), identifier: "1")
        func client(showingOn token: String) async throws -> RawClient {
            let client = try await RawClient(socket: apns.address.devices)
            for frame in [DeviceFrame.online(tokens: [apns.token]), .showed(token: token, shown: shown)] {
                client.send(frame.bytes)
            }
            return client
        }
        #expect(await (try client(showingOn: other)).wait { $0.isClosed })
        #expect(told.withLock { $0.isEmpty })
        let own = try await client(showingOn: apns.token)
        try await eventually("it is told") {
            guard case .showed("phone", shown)? = told.withLock({ $0.last }) else { return false }
            return true
        }
        await own.close()
        await apns.server.stop()
    }

    @Test("a frame is read as it was written, however it is cut, and an unbounded one is not")
    func frameRobustness() throws {
        let notification = APNsNotification(
            apnsID: "2c4a3a56-0000-4000-8000-00000000abcd", pushType: .alert, priority: 10, expiration: nil,
            collapseID: "c", payload: Data(#"{"aps":{}}"#.utf8), received: 1)
        let token = String(repeating: "ab", count: 32)
        let frames: [DeviceFrame] = [
            .register(request: 7, name: "phone", topic: "com.example.app"), .online(tokens: [token, token]),
            .acknowledge(number: .max, token: token), .registered(request: 7, token: token),
            .notification(number: 1, token: token, notification: notification), .unknown(tokens: [token]), .watched,
        ]
        for frame in frames {
            var buffer = ByteBuffer(bytes: frame.bytes)
            #expect(try DeviceFrame.read(from: &buffer) == frame)
            for count in 0..<frame.bytes.count {
                var cut = ByteBuffer(bytes: frame.bytes.prefix(count))
                #expect(try DeviceFrame.read(from: &cut) == nil)
            }
        }
        let tooMuch: [DeviceFrame] = [
            .online(tokens: Array(repeating: "", count: 10_001)), .register(request: 1, name: "", topic: "t"),
            .register(request: 1, name: "n", topic: String(repeating: "t", count: 156)),
        ]
        for frame in tooMuch {
            var buffer = ByteBuffer(bytes: frame.bytes)
            #expect(throws: DeviceFrame.Failure.malformed) { try DeviceFrame.read(from: &buffer) }
        }
    }
}

extension DeviceFrame {
    fileprivate var bytes: [UInt8] {
        var buffer = ByteBuffer()
        write(to: &buffer)
        return Array(buffer.readableBytesView)
    }
}
