import Foundation
import FuzzSupport

@testable import PushService
@testable import PushSimulator
@testable import SealedPush

/// One file, sealed, that all answers are for.
enum RemoteFiles {
    static let content = Array("what was sealed".utf8)
    static let key = AttachmentKey()
    static let sealed = RawStream.seal([(content, 3)], with: key.withBytes { Array($0) })
    static let server = AnsweringServer()
    static let file = RemoteFile(
        url: server.url, byteCount: sealed.count, hash: RawHash.blake2b(sealed, byteCount: 32), key: key)
}

func checkFetching(answer bytes: [UInt8]) {
    let file = RemoteFiles.file
    RemoteFiles.server.answer(with: bytes)
    let fetching = Answered(file)
    let outcome: Result<FetchAnswer, MediaError> = waiting {
        let request = FetchRequest(
            url: file.url, deadline: .now + .seconds(2),
            mayConnect: { (address) throws(MediaError) in
                demand(address.isLoopback, "it connects elsewhere")
            },
            wantsBody: { (answer) throws(MediaError) in try fetching.begin(answer) },
            take: { (bytes) throws(MediaError) in try fetching.take(bytes) })
        do throws(MediaError) {
            return .success(try await CurlFetching().answer(to: request))
        } catch {
            return .failure(error)
        }
    }
    guard case .success(let answer) = outcome else { return }
    demand(answer.status >= 200, "an answer of status \(answer.status)")
    if fetching.finish() { demand(fetching.opened == RemoteFiles.content, "another file is whole") }
}

/// Unchecked: one thread at a time has it.
private final class Answered: @unchecked Sendable {
    private let file: RemoteFile
    private var opening: RemoteFileOpening?
    private(set) var opened: [UInt8] = []
    private var isBegun = false
    private var byteCount = 0

    init(_ file: RemoteFile) {
        self.file = file
        opening = RemoteFileOpening(file)
    }

    func begin(_ answer: FetchAnswer) throws(MediaError) -> Bool {
        demand(!isBegun, "two heads of one answer")
        isBegun = true
        try FileDownload.check(answer, of: file)
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) throws(MediaError) {
        demand(isBegun, "a body before its head")
        byteCount += bytes.count
        do throws(AttachmentError) { try opening?.take(bytes) { opened += $0 } } catch { throw .file(error) }
        demand(byteCount <= file.byteCount, "more than was announced")
    }

    func finish() -> Bool {
        guard isBegun, let opening = opening.take() else { return false }
        do throws(AttachmentError) { try opening.finish() } catch { return false }
        return true
    }
}
