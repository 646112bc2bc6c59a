import FuzzSupport

@testable import SealedPush

private let key = AttachmentKey()
private let keyBytes = key.withBytes { Array($0) }

/// What nobody sealed gives nothing, whatever hash was announced.
func checkFile(_ bytes: [UInt8]) {
    let opened = Opened(bytes, key: key, pieceByteCount: bytes.count % 50 + 1)
    demand(opened.bytes.isEmpty && !opened.isWhole, "a file opens that nobody sealed")
    let plain = Opened(bytes, key: nil, pieceByteCount: bytes.count % 50 + 1)
    demand(plain.bytes == bytes && plain.isWhole, "a plain file is another")
}

/// Specification 14.2, written a second time: chunks of 65,536 bytes, and one last of 1 byte or more, or of none in an empty
/// file; the last, and no other, is final.
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
    demand(content.starts(with: opened.bytes), "something else opens than was sealed")
    demand(!isRight || opened.bytes == content, "not all opens")
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
    } catch { fatalError("it is not sealed: \(error)") }
    demand(sealing.finish() == RawHash.blake2b(sealed, byteCount: 32), "the hash is of something else")
    demand(SealedFileLayout(plaintextByteCount: count).sealedByteCount == sealed.count, "another length than laid out")
    let whole = Opened(sealed, key: key, pieceByteCount: input.number(below: 65_000) + 1)
    demand(whole.isWhole && whole.bytes == content, "what was sealed does not open")
    let hash = RawHash.blake2b(sealed, byteCount: 32)
    sealed[bit / 8 % sealed.count] ^= 1 << (bit % 8)
    demand(!Opened(sealed, key: key, hash: hash, pieceByteCount: 4_096).isWhole, "a file with another bit is whole")
    demand(!Opened(sealed, key: key, pieceByteCount: 4_096).isWhole, "a file with another bit and its hash is whole")
}

/// A file as it arrives.
private struct Opened {
    private(set) var bytes: [UInt8] = []
    private(set) var isWhole = false

    /// - Parameter hash: the announced one; nil for that of the bytes.
    init(_ file: [UInt8], key: AttachmentKey?, hash: [UInt8]? = nil, pieceByteCount: Int) {
        let remote = RemoteFile(
            url: .init(filePath: "/"), byteCount: file.count, hash: hash ?? RawHash.blake2b(file, byteCount: 32),
            key: key)
        var opening = RemoteFileOpening(remote)
        var opened: [UInt8] = []
        do {
            for start in stride(from: 0, to: file.count, by: pieceByteCount) {
                let piece = file[start..<min(start + pieceByteCount, file.count)]
                try piece.withUnsafeBytes { piece in
                    try opening.take(piece) { opened += $0 }
                }
            }
            try opening.finish()
            isWhole = true
        } catch {}
        bytes = opened
    }
}
