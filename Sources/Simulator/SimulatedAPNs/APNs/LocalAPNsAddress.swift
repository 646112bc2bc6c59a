package import Foundation
internal import PushCore
package import SealedPush

/// The addresses of a local APNs, and what a provider and a device need to reach it: `address.json` in its folder.
package struct LocalAPNsAddress: Codable, Hashable, Sendable {
    package var host: String
    package var port: Int
    /// The Unix socket for tests: `curl --unix-socket CONTROL http://localhost/status`.
    package var control: String
    /// The Unix socket for devices.
    package var devices: String
    /// The root certificate to trust, in PEM.
    package var root: String
    /// The provider key that was created here with its `.p8` file, or else the first key.
    package var keyID: String?
    package var teamID: String?
    package var key: String?
    package var environment: PushEnvironment
    /// The seed for injected faults.
    package var seed: UInt64

    package static let fileName = "address.json"

    /// Reads the address from a server's folder.
    package init(inFolder folder: URL) throws(LocalAPNsError) {
        let file = folder.appending(path: Self.fileName)
        try LocalAPNsFolder.requireOwn(folder)
        guard let bytes = try? DurableFiles.read(file, limit: 65_536) else {
            throw .folder(file.path(percentEncoded: false), "no local APNs has been started here")
        }
        guard let address = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
            throw .damaged(file.path(percentEncoded: false))
        }
        self = address
    }

    init(
        host: String, port: Int, folder: LocalAPNsFolder, keys: [AcceptedProviderKey],
        configuration: LocalAPNsConfiguration
    ) {
        self.host = host
        self.port = port
        control = folder.path(LocalAPNsCore.controlSocketName)
        devices = folder.path(DeviceSocket.name)
        root = folder.path("root.pem")
        func file(_ key: AcceptedProviderKey) -> String? {
            let path = folder.path("AuthKey_\(key.keyID).p8")
            return FileManager.default.fileExists(atPath: path) ? path : nil
        }
        let known = keys.first { file($0) != nil } ?? keys.first
        keyID = known?.keyID
        teamID = known?.teamID
        key = known.flatMap(file)
        environment = configuration.environment
        seed = configuration.seed
    }
}
