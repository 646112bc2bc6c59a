internal import Dispatch
internal import PushCore
internal import SealedPush

/// Looks up names. A lookup can block a thread indefinitely, so each has its own thread and is abandoned when its task is
/// canceled. An abandoned thread ends when the system's resolver does; the number of threads is limited.
final class LookUps: Sendable {
    /// The number of threads in the resolver, including abandoned ones.
    private let count = Locked(0)
    static let maximumCount = 16
    static let shared = LookUps()
    private let addresses: @Sendable (String) -> [IPAddress]

    init(_ addresses: @escaping @Sendable (String) -> [IPAddress] = IPAddress.addresses) { self.addresses = addresses }

    /// Checks whether a connection to each of the host's addresses is allowed, and returns the network's NAT64 prefixes. An
    /// address that the NAT64 made from an IPv4 address counts as that address. Throws `network` if there is no address or
    /// the task is canceled; immediately if too many lookups are already stuck.
    func check(
        _ host: NetworkHost, _ mayConnect: @escaping @Sendable (IPAddress) throws(MediaError) -> Void
    ) async throws(MediaError) -> NAT64 {
        guard case .name(let name) = host else {
            if case .address(let address) = host { try mayConnect(address) }
            return NAT64()
        }
        return try await run { [addresses] () throws(MediaError) in
            let found = addresses(name)
            guard !found.isEmpty else { throw .network }
            // A company's own prefix looks like any other address.
            let network = found.contains { !$0.isV4 } ? NAT64(of: addresses(NAT64.wellKnownName)) : NAT64()
            for address in found { try mayConnect(network.original(of: address) ?? address) }
            return network
        }
    }

    func run<Answer: Sendable>(
        _ body: @escaping @Sendable () throws(MediaError) -> Answer
    ) async throws(MediaError) -> Answer {
        guard begin() else { throw .network }
        let first = FirstResult<Answer, MediaError>()
        StageExecutor.queue().async { [count] in
            first.settle(Result { () throws(MediaError) in try body() })
            count.withLock { $0 -= 1 }
        }
        return try await first.value(orCanceled: .network)
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }
}
