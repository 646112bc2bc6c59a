import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("The control endpoint", .serialized, .blocking) struct ControlTests {
    @Test("the control endpoint is a socket that its user alone may write, and not a port") func socket() async throws {
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
            print("Not tested further: only root becomes another user.")
        }
        await apns.server.stop()
        let again = try await RunningAPNs(in: apns.folder)
        #expect(try ControlClient(again.address).ask("GET", "/status").status == 200)
        await again.server.stop()
    }

    @Test("status and faults: what is set is in force, and what makes no sense is not taken")
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

    @Test("a folder that others may write, or of another user, is not used") func sharedFolder() async throws {
        let folder = try TemporaryFolder()
        let url = folder.appending("APNs")
        mkdir(url.path, 0o700)
        chmod(url.path, 0o1777)
        let words = "others may write it: name a folder that only you can write"
        await #expect(throws: LocalAPNsError.folder(url.path, words)) { try await LocalAPNs.start(folder: url) }
        guard geteuid() == 0 else { return print("Not tested further: only root makes folders of other users.") }
        chmod(url.path, 0o700)
        chown(url.path, 1_600, 1_600)
        await #expect(throws: LocalAPNsError.self) { try await LocalAPNs.start(folder: url) }
    }

    @Test("other paths are not there, a body of 2 MB is not taken") func others() async throws {
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
