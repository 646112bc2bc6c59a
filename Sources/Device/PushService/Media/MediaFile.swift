import Foundation
internal import PushCore
public import SealedPush

/// A file while it is written: of the announced kind from its first bytes on, and in place only when it is whole.
final class MediaFile: Sendable {
    private let file: URL
    private let type: MediaType
    private let state: Locked<State>

    private struct State {
        var descriptor: Int32
        var start: [UInt8] = []
        var isChecked = false
    }

    /// Makes the file, which must not exist yet.
    init(_ file: URL, type: MediaType) throws(MediaError) {
        let descriptor = open(
            file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .file(.notWritable) }
        self.file = file
        self.type = type
        state = Locked(State(descriptor: descriptor))
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AttachmentError) {
        try state.withLock { (state) throws(AttachmentError) in
            if !state.isChecked {
                state.start.append(contentsOf: bytes.prefix(MediaType.signatureByteCount - state.start.count))
                if state.start.count == MediaType.signatureByteCount { try check(&state) }
            }
            do throws(DurableFiles.Failure) {
                try DurableFiles.writeAll(bytes, to: state.descriptor)
            } catch {
                throw .notWritable
            }
        }
    }

    /// Puts the file in its place.
    func finish(as finished: URL) throws(MediaError) {
        do throws(AttachmentError) {
            try state.withLock { (state) throws(AttachmentError) in
                if !state.isChecked { try check(&state) }
                let isClosed = close(state.descriptor) == 0
                state.descriptor = -1
                guard isClosed else { throw .notWritable }
            }
            do throws(DurableFiles.Failure) { try DurableFiles.rename(file, to: finished) } catch { throw .notWritable }
        } catch {
            throw .file(error)
        }
    }

    private func check(_ state: inout State) throws(AttachmentError) {
        guard type.matches(state.start) else { throw .wrongType }
        state.isChecked = true
        state.start = []
    }

    deinit {
        // Does nothing where the file has been put in its place.
        unlink(file.path(percentEncoded: false))
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }
}

/// Why a file of a message was not fetched. Holds no address.
public enum MediaError: StageError, Equatable {
    /// Not `https`.
    case notSecure
    /// A private or local address, which the app has not allowed.
    case addressRefused
    /// More than three redirects.
    case tooManyRedirects
    /// Another status than 200.
    case status(Int)
    /// The connection failed, was cut, or nothing came for 10 seconds.
    case network
    /// The file itself.
    case file(AttachmentError)
    /// The content in it is not the message's.
    case otherContent

    public var code: String {
        switch self {
        case .notSecure: "not-secure"
        case .addressRefused: "address-refused"
        case .tooManyRedirects: "too-many-redirects"
        case .status(let status): "status-\(status)"
        case .network: "network"
        case .file(let error): error.rawValue
        case .otherContent: "other-content"
        }
    }
}
