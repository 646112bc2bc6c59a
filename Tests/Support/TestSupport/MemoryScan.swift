#if os(Linux)
import Glibc
import PushCore

/// A secret, and the search for its copies in all memory that this process can write or has written.
///
/// The secret and the scan's own buffers are in one mapping that the scan skips, so whatever it finds was left by the
/// code under test. The scan doesn't allocate, or it would overwrite such traces itself. Only one scan runs at a time in
/// the process, since its buffers contain whatever others are looking for. It searches for two windows of 15 bytes,
/// since `free` overwrites the first bytes of a block, and X25519 clamps the first and the last byte of a scalar.
package final class MemoryScan: @unchecked Sendable {
    package static let byteCount = 32
    private static let secretByteCount = 4_096
    private static let listByteCount = 1 << 20
    private static let pieceByteCount: UInt = 1 << 20
    /// A piece and its overlap, in whole pages of any system.
    private static let bufferByteCount = Int(pieceByteCount) + (1 << 16)
    private static let windowByteCount = 15
    /// Larger mappings are a sanitizer's shadow.
    private static let largestMapping: UInt = 1 << 31

    private let mapping: UnsafeMutableRawBufferPointer
    private let list: UnsafeMutableRawBufferPointer
    private let buffer: UnsafeMutableRawBufferPointer
    private let pageByteCount = UInt(sysconf(Int32(_SC_PAGESIZE)))
    /// The 32 bytes to search for; random at first.
    package let secret: UnsafeMutableRawBufferPointer

    package init() {
        let count = Self.secretByteCount + Self.listByteCount + Self.bufferByteCount
        let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        precondition(start != MAP_FAILED)
        // A separate mapping: otherwise, others with the same permissions would be merged with it.
        madvise(start, count, MADV_DONTFORK)
        mapping = UnsafeMutableRawBufferPointer(start: start, count: count)
        secret = UnsafeMutableRawBufferPointer(start: start, count: Self.byteCount)
        list = UnsafeMutableRawBufferPointer(start: start + Self.secretByteCount, count: Self.listByteCount)
        buffer = UnsafeMutableRawBufferPointer(
            start: start + Self.secretByteCount + Self.listByteCount, count: Self.bufferByteCount)
        SecureRandom.fill(secret)
    }

    deinit { munmap(mapping.baseAddress, mapping.count) }

    /// Returns the number of copies, counted by the window of which more are left.
    package func copyCount() -> Int {
        // A file lock works across the test modules, which share no variables; closing the file releases it.
        let lock = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        precondition(lock >= 0 && flock(lock, LOCK_EX) == 0)
        defer {
            memset(list.baseAddress!, 0, list.count)
            memset(buffer.baseAddress!, 0, buffer.count)
            close(lock)
        }
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        precondition(memory >= 0)
        let pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)
        defer {
            close(memory)
            close(pages)
        }
        let own = UInt(bitPattern: mapping.baseAddress)
        var counts = (front: 0, back: 0)
        var mappingCount = 0
        var cursor = 0
        let end = readList()
        while cursor < end {
            let (start, stop, isWorthwhile) = nextMapping(&cursor, end)
            guard isWorthwhile, stop - start < Self.largestMapping else { continue }
            mappingCount += 1
            // The kernel merges neighbors of another scan, so our own pages are skipped by address.
            scan(start, min(stop, max(start, own)), of: memory, pages, into: &counts)
            scan(max(start, min(stop, own + UInt(mapping.count))), stop, of: memory, pages, into: &counts)
        }
        precondition(mappingCount > 10, "the list of mappings couldn't be read")
        return max(counts.front, counts.back)
    }

    private func scan(
        _ start: UInt, _ end: UInt, of memory: Int32, _ pages: Int32, into counts: inout (front: Int, back: Int)
    ) {
        // Pieces overlap by one byte less than a window, so that no copy is missed or counted twice.
        let overlap = UInt(Self.windowByteCount - 1)
        var piece = start
        while piece < end {
            let left = end - piece
            if isInUse(piece, min(Self.pieceByteCount, left), pages) {
                // Memory that was unmapped in the meantime can't be read, and doesn't contain anything.
                let count = pread(
                    memory, buffer.baseAddress, Int(min(Self.pieceByteCount + overlap, left)), off_t(piece))
                counts.front += occurrences(ofWindowAt: 1, in: count)
                counts.back += occurrences(ofWindowAt: 1 + Self.windowByteCount, in: count)
            }
            piece += Self.pieceByteCount
        }
    }

    /// Whether one of these pages was ever written to. Most of a thread's stack wasn't, and is empty. Returns true if
    /// the kernel doesn't tell.
    private func isInUse(_ start: UInt, _ byteCount: UInt, _ pages: Int32) -> Bool {
        let count = Int(byteCount / pageByteCount * 8)
        let place = off_t(start / pageByteCount * 8)
        guard pread(pages, buffer.baseAddress, count, place) == count else { return true }
        // Present, or swapped out: the upper two of 64 bits (proc_pid_pagemap(5)).
        var offset = 0
        while offset < count {
            if buffer.load(fromByteOffset: offset, as: UInt64.self) >> 62 != 0 { return true }
            offset += 8
        }
        return false
    }

    private func occurrences(ofWindowAt start: Int, in count: Int) -> Int {
        let needle = UnsafeRawPointer(secret.baseAddress!) + start
        // Search for a byte that is rare in memory.
        var pivot = 0
        while pivot < Self.windowByteCount - 1, needle.byte(pivot) == 0x00 || needle.byte(pivot) == 0xff {
            pivot += 1
        }
        let base = UnsafeRawPointer(buffer.baseAddress!)
        let end = count - Self.windowByteCount + pivot + 1
        var found = 0
        var offset = pivot
        while offset < end, let hit = memchr(base + offset, Int32(needle.byte(pivot)), end - offset) {
            offset = base.distance(to: UnsafeRawPointer(hit))
            if memcmp(base + offset - pivot, needle, Self.windowByteCount) == 0 { found += 1 }
            offset += 1
        }
        return found
    }

    /// Reads the list of mappings, and returns its length in bytes.
    private func readList() -> Int {
        let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        precondition(file >= 0)
        defer { close(file) }
        var count = 0
        while count < list.count {
            let length = read(file, list.baseAddress! + count, list.count - count)
            guard length > 0 else { break }
            count += length
        }
        precondition(count < list.count, "the list of mappings is too long")
        return count
    }

    /// Reads one line: `start-stop rights offset device inode path`. All writable mappings are worthwhile, and all
    /// readable ones without a file, which include secrets that were made read-only.
    private func nextMapping(_ cursor: inout Int, _ end: Int) -> (start: UInt, stop: UInt, isWorthwhile: Bool) {
        let start = hexadecimal(&cursor)
        let stop = hexadecimal(&cursor)
        let isReadable = list[cursor] == UInt8(ascii: "r")
        let isWritable = list[cursor + 1] == UInt8(ascii: "w")
        var spaceCount = 0
        while spaceCount < 3 {
            if list[cursor] == UInt8(ascii: " ") { spaceCount += 1 }
            cursor += 1
        }
        let isFile = list[cursor] != UInt8(ascii: "0")
        while cursor < end, list[cursor] != UInt8(ascii: "\n") { cursor += 1 }
        cursor += 1
        return (start, stop, isReadable && (isWritable || !isFile))
    }

    /// Reads a number and the character after it.
    private func hexadecimal(_ cursor: inout Int) -> UInt {
        var value: UInt = 0
        while true {
            let byte = list[cursor]
            cursor += 1
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt(byte - UInt8(ascii: "a") + 10)
            default: return value
            }
        }
    }
}

extension UnsafeRawPointer {
    fileprivate func byte(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
}
#endif
