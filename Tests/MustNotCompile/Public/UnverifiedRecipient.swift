// error: cannot convert value of type 'DevicePublicKey' (aka 'PublicKey<DeviceRole>') to expected argument type 'VerifiedRecipient'
import PushSender
import SealedPush

/// A key that a record lists may be anybody's until its holder has answered a challenge.
func seal(_ content: Content, for record: DeviceRecord, with sealer: Sealer) throws {
    _ = try sealer.seal(content, to: record.recipients[0])  // refused
}
