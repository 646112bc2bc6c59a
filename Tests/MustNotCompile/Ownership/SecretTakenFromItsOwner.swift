// error: cannot consume noncopyable stored property 'self.key' of a class
import PushCore

/// A key that is in use can't be taken away from those who use it.
final class Owner: Sendable {
    private let key: StorageKey

    init(_ key: consuming StorageKey) { self.key = key }

    func take() {
        let taken = key  // refused
        _ = taken.seal(UnsafeRawBufferPointer(start: nil, count: 0), additionalData: [])  // refused
    }
}
