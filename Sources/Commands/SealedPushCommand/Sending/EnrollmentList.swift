internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushSender
internal import SealedPush

/// A file of devices, one JSON object a line.
enum EnrollmentList {
    struct Entry {
        var device: String
        var token: String
        var user: String? = nil
        var key: String? = nil
        var environment: PushEnvironment? = nil
        var movingFrom: String? = nil
        var registered: Timestamp? = nil
        /// As `device list --full` has written them; nil if the keyring has them.
        var enrolled: EnrolledDevice? = nil
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
        var entries: [Entry] = []
        var number = 0
        while let line = try reader.next() {
            number += 1
            guard line.count <= maximumLineByteCount else {
                throw Failure.input("\(file), line \(number): longer than \(maximumLineByteCount) bytes")
            }
            guard !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) else { continue }
            guard let members = JSONReader.object(line, maximumByteCount: maximumLineByteCount) else {
                throw Failure.input("\(file), line \(number): no JSON object")
            }
            guard let token = members["token"], token != .null else { continue }
            guard let entry = Entry(members) else {
                throw Failure.input(
                    "\(file), line \(number): needs \"device\" and \"token\" as text; \"environment\" is production or sandbox; \"enrollment\", \"record\" and \"proven\" go together"
                )
            }
            entries.append(entry)
        }
        return entries
    }

    private static let maximumByteCount = 1_000_000_000
    private static let maximumLineByteCount = 65_536
}

extension EnrollmentList.Entry {
    /// Nil where a member is no text. One that is null is not there.
    fileprivate init?(_ members: [String: JSONValue]) {
        let given = members.filter { $0.value != .null }
        let names = ["device", "token", "user", "key", "environment", "movingFrom"]
        guard names.allSatisfy({ given[$0] == nil || given[$0]?.string != nil }),
            let device = given["device"]?.string, let token = given["token"]?.string
        else { return nil }
        let environment = given["environment"]?.string
        self.init(
            device: device, token: token, user: given["user"]?.string, key: given["key"]?.string,
            environment: environment.flatMap(PushEnvironment.init(rawValue:)), movingFrom: given["movingFrom"]?.string)
        guard environment == nil || self.environment != nil else { return nil }
        if let time = given["registered"] {
            guard let registered = time.integer.flatMap(Timestamp.init(secondsSince1970:)) else { return nil }
            self.registered = registered
        }
        let proofs = ["enrollment", "record", "proven"].compactMap { given[$0] }
        guard !proofs.isEmpty else { return }
        guard proofs.count == 3, case .array(let proven) = proofs[2],
            let enrolled = try? EnrolledDevice(
                loading: EnrollmentPublicKey(parsing: proofs[0].string ?? ""),
                record: DeviceRecord(parsing: proofs[1].string ?? ""),
                proven: proven.map { try DevicePublicKey(parsing: $0.string ?? "") })
        else { return nil }
        self.enrolled = enrolled
    }
}
