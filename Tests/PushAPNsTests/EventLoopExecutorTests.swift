import NIOCore
import NIOPosix
import PushCore
import Testing

@testable import PushAPNs

@Suite("The executor on the event loop") struct EventLoopExecutorTests {
    @Test("tasks that never rest don't keep the event loop from the network") func network() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let isConnected = Locked(false)
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            isConnected.withLock { $0 = true }
            return channel.eventLoop.makeSucceededVoidFuture()
        }.bind(host: "127.0.0.1", port: 0).get()
        let executor = EventLoopExecutor(group.next())
        let busy = Task(executorPreference: executor) {
            let end = ContinuousClock.now + .seconds(60)
            while !isConnected.withLock({ $0 }), ContinuousClock.now < end { await Task.yield() }
            return isConnected.withLock { $0 }
        }
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
            to: try #require(server.localAddress)
        ).get()
        #expect(await busy.value)
        try await client.close()
        try await server.close()
        try await group.shutdownGracefully()
    }
}
