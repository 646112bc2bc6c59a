import Foundation
import FuzzSupport

@testable import SealedPush

/// Attachments: an entry that is read keeps the rules of Specification 14.1 and is written and read as the same; a file
/// opens exactly where it was sealed as 14.2 says, in whatever pieces it comes, and gives what was sealed.
///
/// The input's first byte: entries of content; a file's bytes; chunks that are sealed; a file that is sealed, and altered.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAttachment(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    switch input.byte() % 4 {
    case 0: checkEntries(input.bytes)
    case 1: checkFile(input.bytes)
    case 2: checkChunks(&input)
    default: checkSealing(&input)
    }
    return 0
}

private func checkEntries(_ bytes: [UInt8]) {
    guard let members = JSONReader.object(bytes, maximumByteCount: 4_096) else { return }
    var written = Content(body: "text")
    written.other = members
    guard let content = try? Content(opening: written.json, maximumByteCount: 1 << 20) else { return }
    let attachments = content.attachments
    demand(attachments.count <= 16 && Set(attachments.map(\.id)).count == attachments.count, "\(attachments.count)")
    for attachment in attachments {
        demand((1...64).contains(attachment.id.utf8.count), "an ID of \(attachment.id.utf8.count) bytes")
        demand((1...50_000_000).contains(attachment.file.contentByteCount ?? 0), "a file that no phone shows")
        checkRemote(attachment.file)
        demand(
            (try? Content.Attachment(attachment.json, at: "entry")) == attachment,
            "written and read again it is another")
    }
    var again = Content(body: "text")
    again.attachments = attachments
    demand(again.attachments == attachments, "attachments are others when they are set")
    if let overflow = content.overflow {
        demand(overflow.file.key != nil && overflow.file.contentByteCount ?? 0 <= 65_536, "an overflow in the clear")
        checkRemote(overflow.file)
        demand(
            (try? Overflow(overflow.json, at: "overflow")) == overflow, "written and read again the overflow is another"
        )
    }
}

private func checkRemote(_ file: RemoteFile) {
    let url = file.url
    demand(["http", "https"].contains(url.scheme?.lowercased()), "the scheme of \(url)")
    demand(url.host()?.isEmpty == false && url.user() == nil && url.password() == nil, "the host or user of \(url)")
    demand(file.hash.count == 32 && file.byteCount > 0, "a hash of \(file.hash.count) bytes")
}
