package import Foundation
internal import NIOCore
internal import NIOPosix
package import PushSimulator
internal import _PushBase

/// One or more simulated devices' connection to a local APNs: registers them, receives as it arrives, goes offline and
/// comes back, and survives the server's restart. Safe from several threads.
package final class DeviceReceiver: Sendable {
    /// A device and the app that registers on it.
    package struct App: Hashable, Sendable {
        package var name: String
        package var topic: String

        package init(name: String, topic: String) {
            self.name = name
            self.topic = topic
        }
    }

    /// A notification that has arrived. The server sends it again, to this device's next connection, unless it is
    /// acknowledged.
    package struct Arrival: Sendable {
        /// The place of the device among the receiver's.
        package let device: Int
        package let notification: APNsNotification
        let number: UInt64
        let token: String
        let link: Int
    }

    package enum Event: Sendable {
        /// Every device is registered and there; the tokens in the order of the devices.
        case online(tokens: [String])
        case offline
        /// The server can't be reached; tried again after a while.
        case unreachable(String, retryAfter: Duration)
        case arrived(Arrival)
    }

    private let socket: String
    private let apps: [App]
    private let group: MultiThreadedEventLoopGroup
    private let handler: @Sendable (Event) -> Void
    private let state = Locked(State())

    private struct State {
        var isWanted = true
        var isStopped = false
        var link: DeviceClient?
        var linkNumber = 0
    }

    /// - Parameter handler: called one event after another, on a thread that it must not hold up for long.
    package init(folder: URL, apps: [App], handler: @escaping @Sendable (Event) -> Void) {
        socket = folder.appending(path: DeviceSocket.name).path(percentEncoded: false)
        self.apps = apps
        self.handler = handler
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Until ``stop()``: connects, and again whenever the connection ends, after 50 ms at first and at most 2 s.
    package func run() async {
        var pause = Duration.milliseconds(50)
        while !state.withLock({ $0.isStopped }) {
            guard state.withLock({ $0.isWanted }) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            do {
                try await serveOneConnection()
                pause = .milliseconds(50)
            } catch {
                // At random, so that a thousand devices do not come back at once.
                let wait = pause * Double.random(in: 0.5...1)
                handler(.unreachable("\(type(of: error))", retryAfter: wait))
                try? await Task.sleep(for: wait)
                pause = min(pause * 2, .seconds(2))
            }
            if Task.isCancelled { break }
        }
        try? await group.shutdownGracefully()
    }

    /// Comes back, or goes away as if the network had gone: what is in flight is not acknowledged.
    package func setOnline(_ isOnline: Bool) {
        let link = state.withLock { state in
            state.isWanted = isOnline
            return isOnline ? nil : state.link
        }
        link?.close()
    }

    /// Ends ``run()``; what was not acknowledged comes again.
    package func stop() {
        let link = state.withLock { state in
            state.isStopped = true
            return state.link
        }
        link?.close()
    }

    /// The notification was shown, or never will be: the server forgets it.
    package func acknowledge(_ arrival: Arrival) {
        // Under a connection that has ended since, it means nothing: it comes again.
        let link = state.withLock { $0.linkNumber == arrival.link ? $0.link : nil }
        link?.send(.acknowledge(number: arrival.number, token: arrival.token))
    }

    /// Tells the server what a person sees of it, if somebody looks there.
    package func show(_ push: DeliveredPush, for arrival: Arrival) {
        let link = state.withLock { $0.linkNumber == arrival.link ? $0.link : nil }
        link?.show(push, for: arrival)
    }

    private func serveOneConnection() async throws {
        let number = state.withLock { state in
            state.linkNumber += 1
            return state.linkNumber
        }
        let apps = apps
        let handler = handler
        let state = state
        let channel = try await DeviceSocket.connect(socket, group) { channel in
            let client = DeviceClient(channel, number: number, apps: apps, handler: handler)
            // Before anything can arrive: what is acknowledged at once must find its way.
            state.withLock { $0.link = client }
            return client
        }
        let link = state.withLock { state in state.isWanted && !state.isStopped ? nil : state.link }
        link?.close()
        try await channel.closeFuture.get()
        state.withLock { $0.link = nil }
        handler(.offline)
    }
}
