/// The configuration of a transport. Only the endpoint and the key have no default.
public struct APNsConfiguration: Sendable {
    /// The server to connect to.
    public var endpoint: APNsEndpoint
    /// The key that signs provider tokens.
    public var key: ProviderKey
    /// The trusted certificate authorities.
    public var trustRoots: TrustRoots
    /// An HTTP proxy that supports CONNECT, for a host without another way out; nil to connect directly. TLS is end to end,
    /// so the proxy sees only the server's name. It can't require a password.
    public var proxy: APNsEndpoint?
    /// The limits on connections and waiting pushes.
    public var limits = Limits()
    /// The timeouts.
    public var deadlines = Deadlines()

    /// Creates a configuration with default limits and deadlines.
    public init(endpoint: APNsEndpoint, key: ProviderKey, trustRoots: TrustRoots = .system) {
        self.endpoint = endpoint
        self.key = key
        self.trustRoots = trustRoots
    }

    /// Limits on connections and waiting pushes.
    public struct Limits: Hashable, Sendable {
        /// The limit on connections for tokens with an accepted push: 1 or more. Another is opened when all are full.
        public var connectionCount = 4 {
            didSet { precondition(connectionCount > 0, "`connectionCount` must be 1 or more") }
        }
        /// The number of pushes that can wait for a free stream: 1 or more. Any further push fails with `overloaded`.
        public var waitingCount = 100_000 {
            didSet { precondition(waitingCount > 0, "`waitingCount` must be 1 or more") }
        }
        /// A connection's first stream ID. Tests raise it to reach the last one.
        var firstStreamID: Int32 = 1

        /// Creates the default limits.
        public init() {}
    }

    /// Timeouts. All are checked every 100 ms.
    public struct Deadlines: Hashable, Sendable {
        /// The time allowed from the name lookup to the server's settings.
        public var connect: Duration = .seconds(10)
        /// The time allowed from the call to the response, including time in the queue.
        public var request: Duration = .seconds(30)
        /// How long a connection's responses can be late before another is opened, if pushes wait because it's full or
        /// hasn't accepted a push yet. Late responses are still accepted.
        package var firstAnswer: Duration = .seconds(5)
        /// How long a connection with an outstanding response can be silent before it's pinged.
        package var pingWhileBusy: Duration = .seconds(10)
        /// How long an idle connection can be silent before it's pinged. Apple asks for an hour.
        package var pingWhileIdle: Duration = .seconds(3_600)
        /// How long a ping can go unacknowledged before the connection is closed.
        public var ping: Duration = .seconds(10)
        /// How long an unused connection is kept. Apple asks for hours to days.
        public var idle: Duration = .seconds(86_400)
        /// How long all connections must be full before another is opened.
        public var full: Duration = .milliseconds(500)
        /// The delay, with jitter, after a connection ends unexpectedly. It doubles until one has worked for ten seconds.
        package var firstBackoff: Duration = .milliseconds(250)
        package var longestBackoff: Duration = .seconds(30)

        /// Creates the default deadlines.
        public init() {}
    }
}
