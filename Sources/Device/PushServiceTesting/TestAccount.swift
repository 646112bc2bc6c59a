public import PushService
public import SealedPush

/// An account with a name on a ``TestDevice``, and the sender that its server has.
public struct TestAccount: Sendable {
    /// The account as the device has pinned it.
    public let account: PushAccount
    /// The key that seals the account's messages. The device's own ``TestDevice/sender`` can't.
    public let sender: SenderPrivateKey
}
