public import SealedPush

/// Why an operation on the device's keys failed. Contains no secrets.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum DeviceError: Error, Equatable, Sendable {
    /// The device hasn't been unlocked since it started; try again later.
    case locked
    /// The keychain failed in another way, or there is none. The text describes the problem.
    case unavailable(String)
    /// The system doesn't know the app group; check both targets' entitlements.
    case noContainer
    /// The ledger can't be written, and no first key is made without it.
    case noLedger
    /// A new key is waiting for its first message; until it arrives, no other is created.
    case unconfirmed
    /// The enrollment key has signed the highest counter for this app, so it signs no further record. Only someone with the
    /// key can bring this about; the account's owner must enroll the device as a new one.
    case counterExhausted
    /// There is an account with this name already, with other pins.
    case accountExists
    /// The device has as many accounts as it can have: ``PushAccount/maximumCount``.
    case tooManyAccounts
    /// The account names no sender or authority, more than 16, or a text that is too long.
    case unusableAccount
    /// A sender set was refused, or a record couldn't be signed.
    case record(RecordError)
}

extension DeviceError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .locked: "the keys can't be read until the device has been unlocked once"
        case .unavailable(let text): text
        case .noContainer: "the system doesn't know the app group; check both targets' entitlements"
        case .noLedger: "the ledger can't be written"
        case .unconfirmed: "a new key is waiting for its first message; until it arrives, no other is created"
        case .counterExhausted:
            "the enrollment key has signed the highest counter; someone else may have the key, so enroll the device as a new one"
        case .accountExists: "there is an account with this name already; remove it first"
        case .tooManyAccounts: "this device has \(PushAccount.maximumCount) accounts; remove one first"
        case .unusableAccount:
            "an account needs 1 to 16 senders and authorities, and a shorter address or safe default"
        case .record(let error): error.description
        }
    }
}
