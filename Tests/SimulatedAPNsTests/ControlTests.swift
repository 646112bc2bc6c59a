import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("The control endpoint", .serialized, .blocking) struct ControlTests {
    @Test("the control endpoint is a socket that only its user can write to, not a port") func socket() async throws {
        let apns = try await RunningAPNs { $0.host = "0.0.0.0" }
        let path = apns.address.control
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.type] as? FileAttributeType == .typeSocket && facts[.posixPermissions] as? Int == 0o600)
        #expect(try ControlClient(apns.address).ask("GET", "/status").status == 200)
        if geteuid() == 0 {
            chmod(apns.folder.url.path, 0o755)
            chmod(apns.folder.appending("APNs").path, 0o755)
            let stranger = try Program(at: "/usr/bin/setpriv").run(
                "--reuid", "65534", "--clear-groups", "curl", "--silent", "--unix-socket", path,
                "http://localhost/status")
            #expect(stranger.status == 7 && stranger.output.isEmpty)
        } else {
            print("Skipping the rest: only root can become another user.")
        }
        await apns.server.stop()
        let again = try await RunningAPNs(in: apns.folder)
        #expect(try ControlClient(again.address).ask("GET", "/status").status == 200)
        await again.server.stop()
    }

    @Test("valid faults take effect, and invalid ones are refused")
    func faults() async throws {
        let apns = try await RunningAPNs()
        let control = ControlClient(apns.address)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        #expect(await apns.send(client, path: "/3/device/" + String(repeating: "0", count: 64)) == 400)
        let status = try control.ask("GET", "/status")
        #expect(status["requests", "accepted"] as? Int == 1)
        #expect(status["requests", "refusals", "BadDeviceToken"] as? Int == 1)
        #expect(status["devices", "devices"] as? Int == 1)
        #expect(try control.ask("PUT", "/faults", #"{"unavailable": 1}"#)["unavailable"] as? Double == 1)
        #expect(await apns.send(client) == 503)
        for body in [#"{"unavailable": 2}"#, #"{"unavailable": "much"}"#, #"{"unavailabel": 1}"#, "hello", ""] {
            let refused = try control.ask("PUT", "/faults", body)
            #expect(refused.status == 400 && (refused["error"] as? String)?.contains("serverErrors") == true, "\(body)")
        }
        #expect(await apns.send(client) == 503)
        #expect(try control.ask("PUT", "/faults", "{}")["unavailable"] as? Double == 0)
        #expect(await apns.send(client) == 200)
        await apns.server.stop()
    }

    @Test("another user's folder, or one that others can write to, is refused") func sharedFolder() async throws {
        let folder = try TemporaryFolder()
        let url = folder.appending("APNs")
        mkdir(url.path, 0o700)
        chmod(url.path, 0o1777)
        let words = "other users can write to it; choose a folder that only you can write to"
        await #expect(throws: LocalAPNsError.folder(url.path, words)) { try await LocalAPNs.start(folder: url) }
        guard geteuid() == 0 else { return print("Skipping the rest: only root can create other users' folders.") }
        chmod(url.path, 0o700)
        chown(url.path, 1_600, 1_600)
        await #expect(throws: LocalAPNsError.self) { try await LocalAPNs.start(folder: url) }
    }

    @Test("unknown paths and a body of 2 MB are refused") func others() async throws {
        let apns = try await RunningAPNs()
        let control = ControlClient(apns.address)
        #expect(try control.ask("GET", "/").status == 404)
        #expect(try control.ask("DELETE", "/status").status == 404)
        let file = try apns.folder.write(String(repeating: "x", count: 2_000_000), to: "large")
        #expect(try control.ask("PUT", "/faults", "@\(file)").status == 413)
        #expect(try control.ask("GET", "/status").status == 200)
        await apns.server.stop()
    }
}
