// error: 'sealing' used after consume
import SealedPush

/// A stream's key seals one file.
func seal(_ sealing: consuming FileSealing, _ chunk: UnsafeRawBufferPointer) throws {
    var other = sealing
    try other.take(chunk, isLast: true) { _ throws(AttachmentError) in }
    try sealing.take(chunk, isLast: true) { _ throws(AttachmentError) in }  // refused
}
