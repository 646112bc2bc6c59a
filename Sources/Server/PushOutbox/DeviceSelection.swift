package import SealedPush

package enum DeviceSelection: Hashable, Sendable {
    case named(DeviceName)
    case of(UserName)
    case enrolled(EnrollmentPublicKey)
    /// `after` is a name as stored.
    case page(after: [UInt8]?, limit: Int)
    case rows(from: Int64, limit: Int)
}
