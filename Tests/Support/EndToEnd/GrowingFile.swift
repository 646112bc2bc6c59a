package import Foundation
internal import Glibc

/// Reads the lines of a file that another process appends to. An incomplete line is returned once it's complete.
package final class GrowingFile {
    private let descriptor: Int32
    private var rest: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 20)

    /// The file must exist.
    package init(_ url: URL) throws {
        descriptor = open(url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
    }

    deinit { close(descriptor) }

    /// Calls the closure with each new line since the last call, without its newline.
    package func forEachNewLine(_ body: (ArraySlice<UInt8>) throws -> Void) rethrows {
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return }
            rest += chunk[..<count]
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                try body(rest[start..<end])
                start = end + 1
            }
            rest.removeSubrange(..<start)
        }
    }
}
