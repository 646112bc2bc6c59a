internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import PushCore
internal import PushOutbox
internal import SealedPush

/// The next handler of a middleware.
typealias Next = (Request, ServerContext) async throws -> Response

extension Response {
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, type: String = "application/json"
    ) -> Response {
        var writer = JSONWriter(reservingByteCount: 1_024)
        writer.value(value)
        return .json(writer.bytes, status: status, type: type)
    }

    static func json(_ bytes: [UInt8], status: HTTPResponse.Status, type: String = "application/json") -> Response {
        Response(status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// Returns a header's value, or `nil` if there is none. The text is repaired before it arrives here: bytes that aren't
    /// UTF-8 are all one character, so that different bytes could become one name.
    ///
    /// - Throws: `malformed` if the header is given more than once, or isn't ASCII.
    func text(of name: HTTPField.Name) throws(Problem) -> String? {
        let values = headers[values: name]
        guard values.count <= 1, values.first?.utf8.allSatisfy({ $0 < 0x80 }) ?? true
        else { throw .malformed("the \(name) header must be given once and consist of ASCII characters") }
        return values.first
    }

    /// Returns a header's value, which may contain other characters than ASCII, or `nil` if there is none or it's empty.
    /// A character that ``text(of:)`` would take for one name among others only stands for itself here.
    ///
    /// - Throws: `malformed` if the header is given more than once, or wasn't UTF-8.
    func words(of name: String) throws(Problem) -> String? {
        let values = HTTPField.Name(name).map { headers[values: $0] } ?? []
        // Bytes that weren't UTF-8 were replaced by this character.
        guard values.count <= 1, !(values.first?.unicodeScalars.contains("\u{fffd}") ?? false)
        else { throw .malformed("the \(name) header must be given once, in UTF-8") }
        return values.first.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of `Authorization`, or `nil` unless it is given once, in ASCII.
    var authorization: String? { try? text(of: .authorization) }

    /// Other bytes of a path or query must be percent-encoded, where bytes that aren't UTF-8 are refused. See ``text(of:)``.
    func requireASCIITarget() throws(Problem) {
        guard uri.description.utf8.allSatisfy({ $0 < 0x80 })
        else { throw .malformed("the path or query is not correctly percent-encoded") }
    }

    /// Returns the members of the body's JSON object.
    func members(upTo limit: Int = ServerLimits.bodyByteCount) async throws -> JSONMembers {
        guard mediaType == "application/json" else { throw Self.wrongType("application/json") }
        return try OrderReader.members(of: try await wholeBody(upTo: limit).readableBytesView)
    }

    /// Returns the query's parameters. Unknown and repeated ones are refused. A `+` is a space, as in form data.
    func query(_ known: [String]) throws(Problem) -> [String: String] {
        var query: [String: String] = [:]
        for part in (uri.query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = pair[0], let value = pair.count > 1 ? pair[1] : ""
            else { throw .malformed("the query is not correctly percent-encoded") }
            guard known.contains(where: name.hasBytes), query.updateValue(value, forKey: name) == nil else {
                throw .malformed(
                    known.isEmpty
                        ? "this path takes no query"
                        : "the query may have, at most once each: \(known.joined(separator: ", "))")
            }
        }
        return query
    }

    func wholeBody(upTo limit: Int) async throws -> ByteBuffer {
        guard try text(of: .contentEncoding).map({ $0.lowercased() == "identity" }) ?? true
        else { throw Problem.encoded }
        do { return try await body.collect(upTo: limit) } catch let error as HTTPParserError { throw error } catch {
            throw error is NIOTooManyBytesError ? Problem.tooLarge : .malformed("the request's body was cut off")
        }
    }

    /// The media type without its parameters; nil if there is none, or if the header has more than 256 bytes.
    var mediaType: String? {
        guard let value = try? text(of: .contentType), value.utf8.count <= 256 else { return nil }
        return value.prefix { !"; \t".contains($0) }.lowercased()
    }

    static func wrongType(_ wanted: String) -> Problem {
        Problem(
            .unsupportedMediaType, "wrong-media-type", "the request's body has the wrong media type",
            hint: "Send the header Content-Type: \(wanted).")
    }
}
