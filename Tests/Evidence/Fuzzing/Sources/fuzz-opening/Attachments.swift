import Foundation
import FuzzSupport

@testable import SealedPush

/// Attachments: an accepted entry follows the rules of ContentParts 14.1 and is the same after writing and reading. A file
/// opens exactly if it was sealed as 14.2 requires, in pieces of any size, and yields the sealed bytes.
///
/// The input's first byte selects entries of content, a file's bytes, chunks to seal, or a file to seal and alter.
func fuzzAttachment(_ input: inout Input) {
    switch input.byte() % 4 {
    case 0: checkEntries(input.bytes)
    case 1: checkFile(input.bytes)
    case 2: checkChunks(&input)
    default: checkSealing(&input)
    }
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
        demand((1...50_000_000).contains(attachment.file.contentByteCount ?? 0), "no phone shows the file")
        checkRemote(attachment.file)
        demand(
            (try? Content.Attachment(attachment.json, at: "entry")) == attachment,
            "an entry changes when written and read again")
    }
    var again = Content(body: "text")
    again.attachments = attachments
    demand(again.attachments == attachments, "attachments change when they are set")
    if let overflow = content.overflow {
        demand(overflow.file.key != nil && overflow.file.contentByteCount ?? 0 <= 65_536, "an overflow is plain")
        checkRemote(overflow.file)
        demand(
            (try? Overflow(overflow.json, at: "overflow")) == overflow, "the overflow changes when read again"
        )
    }
}

private func checkRemote(_ file: RemoteFile) {
    let url = file.url
    demand(["http", "https"].contains(url.scheme?.lowercased()), "the scheme of \(url)")
    demand(url.host()?.isEmpty == false && url.user() == nil && url.password() == nil, "the host or user of \(url)")
    demand(file.hash.count == 32 && file.byteCount > 0, "a hash of \(file.hash.count) bytes")
}

private let key = AttachmentKey()
private let keyBytes = key.withBytes { Array($0) }

/// Bytes that weren't sealed yield nothing, whatever hash was announced.
func checkFile(_ bytes: [UInt8]) {
    let opened = Opened(bytes, key: key, pieceByteCount: bytes.count % 50 + 1)
    demand(opened.bytes.isEmpty && !opened.isWhole, "a file opens that wasn't sealed")
    let plain = Opened(bytes, key: nil, pieceByteCount: bytes.count % 50 + 1)
    demand(plain.bytes == bytes && plain.isWhole, "a plain file has changed")
}

/// A second implementation of ContentParts 14.2: chunks of 65,536 bytes, and a last one with at least 1 byte, or none in an
/// empty file; only the last is final.
func checkChunks(_ input: inout Input) {
    var chunks: [(bytes: [UInt8], tag: UInt8)] = []
    for _ in 0...input.byte() % 4 {
        let choice = input.byte()
        let count = choice & 7 == 0 ? 65_536 : input.number(below: 65_540)
        let tag = choice & 0x1c == 0 ? choice >> 5 & 3 : 0
        chunks.append(([UInt8](repeating: choice, count: count), tag))
    }
    if input.bool() { chunks[chunks.count - 1].tag = 3 }
    let last = chunks[chunks.count - 1]
    let isRight =
        last.tag == 3 && last.bytes.count <= 65_536 && (!last.bytes.isEmpty || chunks.count == 1)
        && chunks.dropLast().allSatisfy { $0.bytes.count == 65_536 && $0.tag == 0 }
    let content = chunks.flatMap(\.bytes)
    let sealed = RawStream.seal(chunks, with: keyBytes)
    let opened = Opened(sealed, key: key, pieceByteCount: input.number(below: 65_000) + 1)
    demand(opened.isWhole == isRight, "chunks \(chunks.map { ($0.bytes.count, $0.tag) }) open: \(opened.isWhole)")
    demand(content.starts(with: opened.bytes), "bytes open that weren't sealed")
    demand(!isRight || opened.bytes == content, "not everything opens")
}

func checkSealing(_ input: inout Input) {
    let count = input.number(below: 65_536) + (input.bool() ? 65_536 : 0)
    let bit = Int(input.word() >> 1)
    let content = [UInt8](repeating: input.byte(), count: count)
    var sealing = FileSealing(key: key)
    var sealed: [UInt8] = []
    do {
        for start in stride(from: 0, to: max(1, count), by: 65_536) {
            let end = min(start + 65_536, count)
            try content[start..<end].withUnsafeBytes { chunk in
                try sealing.take(chunk, isLast: end == count) { sealed += $0 }
            }
        }
    } catch { fatalError("sealing failed: \(error)") }
    demand(sealing.finish() == RawHash.blake2b(sealed, byteCount: 32), "the hash is wrong")
    demand(SealedFileLayout(plaintextByteCount: count).sealedByteCount == sealed.count, "the length is wrong")
    let whole = Opened(sealed, key: key, pieceByteCount: input.number(below: 65_000) + 1)
    demand(whole.isWhole && whole.bytes == content, "the sealed file doesn't open")
    let hash = RawHash.blake2b(sealed, byteCount: 32)
    sealed[bit / 8 % sealed.count] ^= 1 << (bit % 8)
    demand(!Opened(sealed, key: key, hash: hash, pieceByteCount: 4_096).isWhole, "a flipped bit is accepted")
    demand(!Opened(sealed, key: key, pieceByteCount: 4_096).isWhole, "a flipped bit with its hash is accepted")
}

/// A file as it arrives.
private struct Opened {
    private(set) var bytes: [UInt8] = []
    private(set) var isWhole = false

    /// - Parameter hash: the announced hash; nil for the actual one.
    init(_ file: [UInt8], key: AttachmentKey?, hash: [UInt8]? = nil, pieceByteCount: Int) {
        let remote = RemoteFile(
            url: .init(filePath: "/"), byteCount: file.count, hash: hash ?? RawHash.blake2b(file, byteCount: 32),
            key: key)
        var opening = RemoteFileOpening(remote)
        var opened: [UInt8] = []
        do {
            for start in stride(from: 0, to: file.count, by: pieceByteCount) {
                let piece = file[start..<min(start + pieceByteCount, file.count)]
                try piece.withUnsafeBytes { piece in try opening.take(piece) { opened += $0 } }
            }
            try opening.finish()
            isWhole = true
        } catch {}
        bytes = opened
    }
}
