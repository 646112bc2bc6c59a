import CMemcheck

/// Bytes that memcheck takes for unwritten: whatever is worked out from them is unknown too, and it reports each branch and
/// each address that depends on them. Their memory is never given back: what is lent of it stays good.
struct Hidden {
    private let memory: UnsafeMutableRawBufferPointer

    /// - Parameter known: how many bytes at the start are no secret.
    init(_ bytes: UnsafeRawBufferPointer, known: Int = 0) {
        memory = .allocate(byteCount: bytes.count, alignment: 16)
        memory.copyMemory(from: bytes)
        memcheck_hide(memory.baseAddress! + known, memory.count - known)
    }

    /// Random bytes.
    init(count: Int) {
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
        self.init(bytes)
    }

    init(_ bytes: [UInt8], known: Int = 0) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        self.init(UnsafeRawBufferPointer(copy), known: known)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    /// The bytes as an array, still hidden.
    var array: [UInt8] {
        var array = [UInt8](repeating: 0, count: memory.count)
        array.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        return array
    }
}

/// Says of bytes that they are no secret, or none any more.
func publish(_ bytes: UnsafeRawBufferPointer) { memcheck_publish(bytes.baseAddress, bytes.count) }

func publish(_ bytes: [UInt8]) { bytes.withUnsafeBytes { publish($0) } }

func published<Value>(_ value: Value) -> Value {
    var value = value
    withUnsafeMutableBytes(of: &value) { publish(UnsafeRawBufferPointer($0)) }
    return value
}

/// Says so of an object's own fields: the public half of a key. Its secret lies elsewhere.
func publish(fieldsOf object: AnyObject) {
    let start = Unmanaged.passUnretained(object).toOpaque()
    memcheck_publish(start, memcheck_size(start))
}
