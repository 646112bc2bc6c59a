// error: value of type 'StorageKey' does not conform to specified type 'Copyable'
import PushCore

/// What is stored as any value can be copied, printed, and reflected.
func keep(_ secret: consuming StorageKey) {
    let box: Any = secret  // refused
    _ = box  // refused
}
