import Glibc

/// Uses memory in ways in which an extension may go wrong, and in some that are harmless.
enum Hunger {
    static func act(_ manner: String, mebibytes: Int) {
        let byteCount = mebibytes << 20
        switch manner {
        // Allocates a little more again and again, and never frees it.
        case "slow": for _ in 0..<mebibytes { keep(kibibytes: 1_024) }
        case "fast": keep(kibibytes: mebibytes << 10)
        // Frees the memory before anyone may have noticed.
        case "brief": munmap(touched(byteCount, MAP_PRIVATE | MAP_ANONYMOUS, -1), byteCount)
        // A file's pages don't count as the process's own.
        case "mapped":
            let file = tmpfile()
            ftruncate(fileno(file), byteCount)
            _ = touched(byteCount, MAP_SHARED, fileno(file))
        default: break
        }
    }

    static func keep(kibibytes: Int) { _ = touched(kibibytes << 10, MAP_PRIVATE | MAP_ANONYMOUS, -1) }

    private static func touched(_ byteCount: Int, _ flags: Int32, _ file: Int32) -> UnsafeMutableRawPointer? {
        let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, file, 0)
        for offset in stride(from: 0, to: byteCount, by: 4_096) {
            memory?.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
        }
        return memory
    }
}
