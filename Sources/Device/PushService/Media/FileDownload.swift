import Foundation
import SealedPush

/// One file's way from the web to whoever takes it: fetched, checked and decrypted as it arrives, in memory that does not
/// depend on its length. Source: Specification 14.3.
struct FileDownload: Sendable {
    let file: RemoteFile
    let rules: NetworkRules
    let fetcher: any Fetching
    let deadline: ContinuousClock.Instant

    /// Fetches the file and lends its content to `take`, piece by piece, in order, one at a time. What was taken is to be
    /// believed only once this has returned. Cancelling the task ends the connection.
    func run(
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) async throws(MediaError) {
        let opening = Opening(file, take)
        var url = file.url
        for _ in 0...Self.maximumRedirectCount {
            let answer = try await fetch(url, opening)
            guard let target = answer.redirect else { return try opening.finish() }
            guard let next = URL(string: target, relativeTo: url)?.absoluteURL else { throw .addressRefused }
            url = next
        }
        throw .tooManyRedirects
    }

    private func fetch(_ url: URL, _ opening: Opening) async throws(MediaError) -> FetchAnswer {
        try fetcher.check(url, by: rules)
        return try await fetcher.answer(
            to: FetchRequest(
                url: url, deadline: deadline,
                mayConnect: { [fetcher, rules] (address) throws(MediaError) in try fetcher.check(address, by: rules) },
                wantsBody: { [file] (answer) throws(MediaError) in
                    guard answer.redirect == nil else { return false }
                    try Self.check(answer, of: file)
                    return true
                },
                take: { (bytes) throws(MediaError) in try opening.take(bytes) }))
    }

    /// Whether an answer can be that of the file.
    static func check(_ answer: FetchAnswer, of file: RemoteFile) throws(MediaError) {
        guard answer.status == 200 else { throw .status(answer.status) }
        guard (answer.contentEncoding?.lowercased() ?? "identity") == "identity" else { throw .file(.altered) }
        guard let length = answer.contentLength, length != Int64(file.byteCount) else { return }
        throw .file(length > Int64(file.byteCount) ? .tooLarge : .cut)
    }

    /// What checks and decrypts. Unchecked: the fetcher calls it from one thread at a time, and has ended when it is finished.
    private final class Opening: @unchecked Sendable {
        private var opening: RemoteFileOpening?
        private let take: @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void

        init(
            _ file: RemoteFile, _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
        ) {
            opening = RemoteFileOpening(file)
            self.take = take
        }

        func take(_ bytes: UnsafeRawBufferPointer) throws(MediaError) {
            do throws(AttachmentError) { try opening?.take(bytes, take) } catch { throw .file(error) }
        }

        func finish() throws(MediaError) {
            guard let opening = opening.take() else { throw .network }
            do throws(AttachmentError) { try opening.finish() } catch { throw .file(error) }
        }
    }

    private static let maximumRedirectCount = 3
}

extension StageContext {
    /// Fetches a file of the message, until the stage's deadline at the latest.
    func download(
        _ file: RemoteFile, allowsPrivateAddresses: Bool,
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) async throws(MediaError) {
        let rules = NetworkRules(allowsPrivateAddresses: allowsPrivateAddresses)
        try await FileDownload(file: file, rules: rules, fetcher: fetcher, deadline: deadline).run(take)
    }
}
