import Foundation
import Glibc
import PushCore
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

/// `device-simulator apns` in a separate process, with a registered device that is offline.
final class RunningCommand: PushTarget, Sendable {
    let folder: TemporaryFolder
    let address: LocalAPNsAddress
    let control: ControlClient
    let token: String
    let authorization: String
    private let process: ChildProcess
    private let output: URL

    init(_ flags: String..., in folder: TemporaryFolder? = nil) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let apns = folder.appending("APNs")
        let output = folder.appending("output-\(UUID().uuidString)")
        try Data().write(to: output)
        self.output = output
        process = try Program("device-simulator").start(
            ["apns", "--folder", apns.path] + flags, output: FileHandle(forWritingTo: output))
        // Printed after everything else is ready.
        try await eventually("its first line") { try !Data(contentsOf: output).isEmpty }
        address = try LocalAPNsAddress(inFolder: apns)
        control = ControlClient(address)
        let phone = try await RawConnection(socket: address.devices)
        token = try #require(try await phone.register("phone")?.first)
        await phone.close()
        authorization = try RunningAPNs.authorization(address)
    }

    var text: String { get throws { String(decoding: try Data(contentsOf: output), as: UTF8.self) } }

    func stop() {
        Glibc.kill(process.identifier, SIGTERM)
        #expect(process.wait() == .exited(0))
    }

    deinit { process.kill() }
}
