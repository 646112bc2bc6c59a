internal import CommandSupport
internal import Foundation
internal import PushCore
internal import SealedPush

/// Files that a person names; `-` is standard input.
enum Input {
    /// At most `limit` bytes; more is an error.
    static func read(_ file: String, limit: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(url(file), limit: limit + 1, anyKind: true)
        } catch {
            throw Failure.file("\(file): \(error.message)")
        }
        guard bytes.count <= limit else { throw Failure.input("\(file) has more than \(limit) bytes") }
        return bytes
    }

    /// Whether others may read a file; false for what is no file, and where it can't be opened.
    static func isExposed(_ file: String) -> Bool {
        do throws(DurableFiles.Failure) {
            _ = try DurableFiles.read(url(file), limit: 0, isSecret: true)
            return false
        } catch { return error.code == EPERM }
    }

    private static func url(_ file: String) -> URL { URL(filePath: file == "-" ? "/dev/stdin" : file) }

    /// The envelope's text in a payload, or the text itself where that is all there is.
    static func envelopeText(_ bytes: [UInt8], from file: String) throws -> (text: String, payloadByteCount: Int?) {
        let trimmed = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: jsonWhiteSpace)
        guard trimmed.hasPrefix("{") else { return (trimmed, nil) }
        let members = JSONReader.object(
            bytes, maximumByteCount: maximumPayloadFileByteCount, maximumDepth: JSONReader.maximumPayloadDepth)
        guard let members else {
            throw Failure.input("malformed: \(file) is not whole, no JSON in UTF-8, or nested too deep")
        }
        guard let text = members[Envelope.fieldName]?.string else {
            throw Failure.input("malformed: \(file) has no text under \"\(Envelope.fieldName)\"")
        }
        return (text, trimmed.utf8.count)
    }

    private static let jsonWhiteSpace = CharacterSet(charactersIn: " \t\r\n")
    /// No payload file is read further than this.
    static let maximumPayloadFileByteCount = 65_536
}
