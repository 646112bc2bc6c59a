/// The value of `apns-push-type`. Source: Specification 2.6.
package enum PushType: String, Hashable, Sendable {
    case alert
    case background

    package init(isBackground: Bool) { self = isBackground ? .background : .alert }
}
