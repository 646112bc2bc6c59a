import SealedPush

/// The addresses that a stage may fetch from, always over `https`.
public enum NetworkReach: Sendable {
    /// The open internet.
    case internet
    /// The open internet and 198.18.0.0/15, which some VPN apps substitute for every name's address ("fake IP").
    case internetAndFakeIPs
    /// Private and local networks, too. Message senders can then choose what the phone requests there.
    case everywhere

    func allows(_ host: NetworkHost) -> Bool {
        switch self {
        case .internet: host.isPublic
        case .internetAndFakeIPs: host.isPublic || host.isFakeIP
        case .everywhere: true
        }
    }
}
