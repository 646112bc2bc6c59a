/// How long a push waits before it is sent again. The defaults are Apple's where Apple says something. One that a
/// service asks for itself is kept.
///
/// Each but `serverError` doubles with every attempt, up to its limit; a tenth is added or taken off by chance, so that what
/// failed together does not come back together. Source: Apple, "Handling notification responses from APNs".
public struct RetryDelays: Hashable, Sendable {
    /// Where the service has trouble, or gives a reason that the transport does not know. Doubles, too, up to four hours.
    public var serverError: Duration
    /// Where one device gets too many, for that one; up to one hour.
    public var device: Duration
    /// Where all pushes have to wait.
    public var everything: Duration
    /// After a connection that failed or was closed, and where no answer came; up to five minutes.
    public var connection: Duration

    public init(
        serverError: Duration = .seconds(900), device: Duration = .seconds(60),
        everything: Duration = .seconds(1_200), connection: Duration = .seconds(1)
    ) {
        self.serverError = serverError
        self.device = device
        self.everything = everything
        self.connection = connection
    }

    /// All of them times a factor, for tests.
    public func scaled(by factor: Double) -> RetryDelays {
        RetryDelays(
            serverError: serverError * factor, device: device * factor, everything: everything * factor,
            connection: connection * factor)
    }
}

extension RetryDelays {
    func afterServerError(attempts: Int) -> Duration { Self.grown(serverError, by: attempts, limit: 16) }
    func afterTooMany(attempts: Int) -> Duration { Self.grown(device, by: attempts, limit: 60) }
    func afterConnectionFailure(attempts: Int) -> Duration { Self.grown(connection, by: attempts, limit: 300) }

    func asAsked(_ time: Duration) -> Duration { min(max(time, .zero), Self.longest) }

    /// What is noted as due further ahead than a day was noted before the clock was set back.
    private static let longest = Duration.seconds(23 * 3_600)

    /// Doubled for each attempt but the first, up to `limit` times, and a tenth by chance.
    private static func grown(_ delay: Duration, by attempts: Int, limit: Int) -> Duration {
        let factor = min(1 << min(max(attempts - 1, 0), 16), limit)
        return min(delay * (Double(factor) * Double.random(in: 0.9...1.1)), longest)
    }
}
