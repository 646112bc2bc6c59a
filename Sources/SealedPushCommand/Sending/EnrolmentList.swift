internal import Foundation
internal import PushOutbox
internal import SealedPush
internal import _PushBase

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

    /// At most 1 GB, in lines of at most 65,536 bytes; takes memory for the entries alone. Lines without a token are left
    /// out: a device may have none yet, and lists may hold other things.
    static func read(_ file: String) throws -> [Entry] {
        do {
            return try entries(of: file)
        } catch let error as DurableFiles.Failure {
            guard error.code != EFBIG else { throw Failure.input("\(file) has more than \(maximumByteCount) bytes") }
            throw Failure.file("\(file): \(error.message)")
        }
    }

    private static func entries(of file: String) throws -> [Entry] {
        var reader = try LineReader(
            URL(filePath: file == "-" ? "/dev/stdin" : file), limit: maximumLineByteCount,
            totalLimit: maximumByteCount, anyKind: true)
        defer { reader.close() }
        let decoder = JSONDecoder()
        var entries: [Entry] = []
        var number = 0
        while let line = try reader.next() {
            number += 1
            guard line.count <= maximumLineByteCount else {
                throw Failure.input("\(file), line \(number): longer than \(maximumLineByteCount) bytes")
            }
            guard !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) else { continue }
            let data = Data(line)
            guard JSONReader.isWithinLimits(line, maximumDepth: 16),
                let hasToken = try? decoder.decode(TokenOnly.self, from: data)
            else { throw Failure.input("\(file), line \(number): no JSON object") }
            guard hasToken.token != nil else { continue }
            guard let entry = try? decoder.decode(Entry.self, from: data) else {
                throw Failure.input(
                    "\(file), line \(number): needs \"device\" and \"token\" as text; \"environment\" is production or sandbox"
                )
            }
            entries.append(entry)
        }
        return entries
    }

    private struct TokenOnly: Decodable { var token: String? }

    private static let maximumByteCount = 1_000_000_000
    private static let maximumLineByteCount = 65_536
}
