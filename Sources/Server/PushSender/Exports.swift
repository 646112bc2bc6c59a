// `Content`, `DevicePublicKey` and `Topic` are half of this module's interface: one import brings both halves.
@_exported public import SealedPush
