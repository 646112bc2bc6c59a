internal import Foundation

/// Files that a person names; `-` is standard input.
enum Input {
    /// At most `limit` bytes; more is an error.
    static func read(_ file: String, limit: Int) throws -> [UInt8] {
        let bytes: Data
        do {
            let handle = file == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: file))
            bytes = try handle.readToEnd(limit: limit + 1)
        } catch {
            throw Failure.file("\(file) can't be read")
        }
        guard bytes.count <= limit else { throw Failure.input("\(file) has more than \(limit) bytes") }
        return Array(bytes)
    }

    /// The envelope's text in a payload, or the text itself where that is all there is.
    static func envelopeText(_ bytes: [UInt8], from file: String) throws -> (text: String, payloadByteCount: Int?) {
        let trimmed = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard trimmed.hasPrefix("{") else { return (trimmed, nil) }
        struct Payload: Decodable {
            let field: String
            enum CodingKeys: String, CodingKey { case field = "custom-encrypted-message" }
        }
        guard let payload = try? JSONDecoder().decode(Payload.self, from: Data(bytes)) else {
            throw Failure.input("malformed: \(file) has no text under \"custom-encrypted-message\"")
        }
        return (payload.field, trimmed.utf8.count)
    }

    /// No payload file is read further than this.
    static let maximumPayloadFileByteCount = 65_536
}

extension FileHandle {
    /// Reads until the end or the limit; a pipe gives its bytes in pieces.
    fileprivate func readToEnd(limit: Int) throws -> Data {
        var bytes = Data()
        while bytes.count < limit, let more = try read(upToCount: limit - bytes.count), !more.isEmpty {
            bytes.append(more)
        }
        return bytes
    }
}
