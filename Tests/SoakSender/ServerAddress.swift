import EndToEnd
import Foundation
import PushAPNS

/// Where the local APNs listens, as it says in its folder.
struct ServerAddress: Decodable {
    let host: String
    let port: Int
    let root: String
    let key: String
    let keyID: String
    let teamID: String

    init(inFolder folder: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: folder.appending(path: "address.json")))
    }

    func transport(_ plan: RunPlan) throws -> APNSTransport {
        let pem = try Array(Data(contentsOf: URL(filePath: key)))
        let roots = try Array(Data(contentsOf: URL(filePath: root)))
        var configuration = APNSConfiguration(
            endpoint: APNSEndpoint(host: host, port: port),
            key: try ProviderKey(pem: pem, keyID: keyID, teamID: teamID), trustRoots: try TrustRoots(pem: roots))
        configuration.deadlines.request = .milliseconds(plan.patience.request)
        return try APNSTransport(configuration)
    }
}
