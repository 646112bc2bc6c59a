import Foundation
import SealedPush

/// One file's way from the web to whoever takes it: fetched, checked and decrypted as it arrives, in memory that does not
/// depend on its length.
enum FileDownload {
    /// Fetches `file` and lends its content to `take`, piece by piece, in order, on one thread at a time. What was taken is
    /// to be believed only once this has returned. Cancelling the task ends the connection.
    static func run(
        _ file: RemoteFile, rules: NetworkRules, timeLeft: Duration,
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) async throws(MediaError) {
        #if canImport(Darwin)
            try await SessionDownload.run(file, rules: rules, timeLeft: timeLeft, take)
        #else
            try await CurlDownload(file: file, rules: rules, deadline: .now + timeLeft, take: take).run()
        #endif
    }

    /// Whether an answer can be that of the file.
    static func check(status: Int, encoding: String?, length: Int64?, of file: RemoteFile) throws(MediaError) {
        guard status == 200 else { throw .status(status) }
        guard (encoding?.lowercased() ?? "identity") == "identity" else { throw .file(.altered) }
        guard let length, length != Int64(file.byteCount) else { return }
        throw .file(length > Int64(file.byteCount) ? .tooLarge : .cut)
    }

    static let maximumRedirectCount = 3
}
