#if !canImport(Darwin)
    import Foundation
    import SealedPush

    /// A download in the simulator: see ``CurlTransfer``.
    struct CurlDownload: Sendable {
        let file: RemoteFile
        let rules: NetworkRules
        let deadline: ContinuousClock.Instant
        let take: @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void

        /// See ``FileDownload``.
        func run() async throws(MediaError) {
            var url = file.url
            for _ in 0...FileDownload.maximumRedirectCount {
                guard let next = try await fetch(url) else { return }
                url = next
            }
            throw .tooManyRedirects
        }

        /// Where to go on, after a redirect; nil where the file has come.
        private func fetch(_ url: URL) async throws(MediaError) -> URL? {
            try rules.check(url)
            let opening = Opening(file, take)
            let transfer = CurlTransfer(
                CurlTransfer.Request(
                    url: url, headers: ["Accept-Encoding: identity"], deadline: deadline,
                    mayConnect: { [rules] (address) throws(MediaError) in try rules.check(address) },
                    wantsBody: { [file] (answer) throws(MediaError) in
                        guard !Self.isRedirect(answer) else { return false }
                        try FileDownload.check(
                            status: answer.status, encoding: answer.headers["content-encoding"],
                            length: answer.contentLength, of: file)
                        return true
                    },
                    take: { (bytes) throws(MediaError) in try opening.take(bytes) }))
            let answer = try await transfer.run()
            guard Self.isRedirect(answer) else {
                try opening.finish()
                return nil
            }
            guard let target = answer.headers["location"],
                let next = URL(string: target, relativeTo: url)?.absoluteURL
            else { throw .addressRefused }
            return next
        }

        private static func isRedirect(_ answer: CurlTransfer.Answer) -> Bool {
            [301, 302, 303, 307, 308].contains(answer.status) && answer.headers["location"] != nil
        }

        /// What checks and decrypts; the transfer's thread is the only one that calls it.
        private final class Opening: @unchecked Sendable {
            private var opening: RemoteFileOpening?
            private let take: @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void

            init(
                _ file: RemoteFile,
                _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
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
    }
#endif
