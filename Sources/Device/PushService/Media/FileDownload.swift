internal import Foundation
internal import SealedPush

/// The download of one file: fetched, checked, and decrypted as it arrives, in constant memory. Source: ContentParts 14.3.
struct FileDownload: Sendable {
    let file: RemoteFile
    let reach: NetworkReach
    let fetcher: any Fetching
    let deadline: ContinuousClock.Instant

    /// Fetches the file and lends its content to `take`, piece by piece, in order, one at a time. Don't trust any of it
    /// until this returns. Canceling the task ends the connection.
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
        try fetcher.check(url, reaching: reach)
        return try await fetcher.answer(
            to: FetchRequest(
                url: url, deadline: deadline,
                mayConnect: { [fetcher, reach] (address) throws(MediaError) in
                    try fetcher.check(.address(address), reaching: reach)
                },
                wantsBody: { [file] (answer) throws(MediaError) in
                    guard answer.redirect == nil else { return false }
                    try Self.check(answer, of: file)
                    return true
                }, take: { (bytes) throws(MediaError) in try opening.take(bytes) }))
    }

    /// Throws if an answer can't contain the file.
    static func check(_ answer: FetchAnswer, of file: RemoteFile) throws(MediaError) {
        guard answer.status == 200 else { throw .status(answer.status) }
        let encoding = answer.contentEncoding ?? "identity"
        guard encoding.utf8.count <= 8, encoding.lowercased() == "identity" else { throw .file(.altered) }
        guard let length = answer.contentLength, length != Int64(file.byteCount) else { return }
        throw .file(length > Int64(file.byteCount) ? .tooLarge : .cut)
    }

    /// Checks and decrypts. Unchecked: the fetcher calls it from one thread at a time, and has ended before it's finished.
    private final class Opening: @unchecked Sendable {
        private var opening: RemoteFileOpening?
        private let take: @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void

        init(_ file: RemoteFile, _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void) {
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
    func download(
        _ file: RemoteFile, reaching reach: NetworkReach,
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) async throws(MediaError) {
        let download = FileDownload(file: file, reach: reach, fetcher: fetcher, deadline: deadline)
        try await download.run(take)
    }
}
