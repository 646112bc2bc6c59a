internal import Foundation
internal import PushOutbox
internal import SealedPush

/// A file of devices, one JSON object a line.
enum EnrolmentList {
    struct Entry: Decodable {
        var device: String
        var token: String
        var user: String?
        var key: String?
        var environment: PushEnvironment?
        var movingFrom: String?
    }

    /// At most 1 GB. Lines without a token are left out: a device may have none yet, and lists may hold other things.
    static func read(_ file: String) throws -> [Entry] {
        let bytes = try Input.read(file, limit: 1_000_000_000)
        let decoder = JSONDecoder()
        var entries: [Entry] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) else { continue }
            let data = Data(line)
            guard JSONReader.isWithinLimits(Array(line), maximumDepth: 16),
                let hasToken = try? decoder.decode(TokenOnly.self, from: data)
            else { throw Failure.input("\(file), line \(index + 1): no JSON object") }
            guard hasToken.token != nil else { continue }
            guard let entry = try? decoder.decode(Entry.self, from: data) else {
                throw Failure.input(
                    "\(file), line \(index + 1): needs \"device\" and \"token\" as text; \"environment\" is production or sandbox"
                )
            }
            entries.append(entry)
        }
        return entries
    }

    private struct TokenOnly: Decodable { var token: String? }
}
