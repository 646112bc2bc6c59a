public import SealedPush

/// Why an app could not do something with its device's keys. Never holds a secret.
public enum DeviceError: Error, Equatable, Sendable {
    /// The device has not been unlocked since it started; later it will work.
    case locked
    /// The keychain failed in another way, or there is none. The text says what.
    case unavailable(String)
    /// The ledger could not be begun, and without it no first key is made.
    case ledger(FileLedgerError)
    /// A new key waits for its first message; until then there is no further one.
    case unconfirmed
    /// A sender set was refused, or a record could not be signed.
    case record(RecordError)
}

extension DeviceError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .locked: "the keys can't be read until the device has been unlocked once"
        case .unavailable(let text): text
        case .ledger(.noContainer): "the system knows no such app group: check both targets' entitlements"
        case .ledger(.notWritable): "the ledger can't be written"
        case .unconfirmed: "a new key waits for its first message; until then there is no further one"
        case .record(let error): error.description
        }
    }
}
