package import Foundation
internal import NIOCore
internal import NIOPosix

/// A local APNs: HTTP/2 over TLS, the checks, throttling, store and answers of Apple's, and faults on demand.
///
/// Providers connect to ``address``'s port, devices to a Unix socket, and who changes its faults to another one. Its
/// checks stand beside ``ProviderRequest``. Safe from several threads.
package final class LocalAPNs: Sendable {
    package let address: LocalAPNsAddress
    /// What to type into a browser, if there is a page.
    package let pageAddress: String?
    let core: LocalAPNsCore
    private let folder: LocalAPNsFolder
    private let listeners: [any Channel]
    private let webListeners: [HTTPListener]
    private let group: MultiThreadedEventLoopGroup
    private let ticking: RepeatedTask

    /// Starts a server that keeps what it has to keep in a folder: its certificate, keys, devices and log. One server a
    /// folder.
    package static func start(
        folder: URL, configuration: LocalAPNsConfiguration = LocalAPNsConfiguration()
    ) async throws(LocalAPNsError) -> LocalAPNs {
        guard configuration.faults.isValid else { throw .configuration("a chance is not between 0 and 1") }
        let folder = try LocalAPNsFolder(folder)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do throws(LocalAPNsError) {
            return try await LocalAPNs(folder: folder, configuration, group)
        } catch {
            try? await group.shutdownGracefully()
            folder.release()
            throw error
        }
    }

    private init(
        folder: LocalAPNsFolder, _ configuration: LocalAPNsConfiguration, _ group: MultiThreadedEventLoopGroup
    ) async throws(LocalAPNsError) {
        self.folder = folder
        self.group = group
        let certificate = try folder.certificate()
        let keys = try folder.providerKeys()
        let deviceFile = try folder.deviceFile()
        let registry = DeviceRegistry(configuration, known: folder.devices()) { record in
            guard let line = try? JSONEncoder().encode(record) else { return }
            try? deviceFile.write(contentsOf: line + Data("\n".utf8))
        }
        registry.restore(folder.takeWaiting())
        let log = try APNsLog(folder.url.appending(path: "log.jsonl"), detail: configuration.log)
        let core = LocalAPNsCore(
            configuration, tokens: ProviderTokens(keys + configuration.providerKeys), registry: registry, log: log)
        self.core = core
        var listeners: [any Channel] = []
        var webListeners: [HTTPListener] = []
        do throws(LocalAPNsError) {
            let providers = try await ProviderListener(core: core, certificate: certificate).bind(group)
            listeners.append(providers)
            listeners.append(try await DeviceSocket.listen(folder.path(DeviceSocket.name), core: core, group))
            webListeners.append(try await core.listenForControl(folder, group))
            if let page = core.page, let place = configuration.page {
                let shown = try await page.listen(at: place, of: core, group)
                webListeners.append(shown.listener)
                pageAddress = shown.address
            } else {
                pageAddress = nil
            }
            address = LocalAPNsAddress(
                host: configuration.host, port: providers.localAddress?.port ?? 0, folder: folder, keys: keys,
                configuration: configuration)
            try folder.save(address)
        } catch {
            for listener in listeners { try? await listener.close() }
            for listener in webListeners { await listener.stop() }
            throw error
        }
        self.listeners = listeners
        self.webListeners = webListeners
        ticking = group.next().scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) { _ in
            log.flush()
        }
    }

    /// Tells every connection `Shutdown`, waits for them for as long as configured and for what the latency fault holds
    /// back, and keeps what waits for devices. Once only.
    package func stop() async {
        for listener in listeners { try? await listener.close() }
        for listener in webListeners { await listener.stop() }
        core.goAway(.shutdown)
        // A connection ends by itself; the half second is for the end of TLS.
        let latency = Duration.milliseconds(core.faults.latencyMillisecondsMaximum)
        let deadline = ContinuousClock.now + core.configuration.closingTime + latency + .milliseconds(500)
        while !core.channels.isEmpty, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
        for channel in core.channels { try? await channel.close() }
        ticking.cancel()
        let waiting = core.registry.waiting
        if !waiting.isEmpty { try? folder.save(waiting) }
        core.log.flush()
        try? await group.shutdownGracefully()
        folder.release()
    }

    package var faults: APNsFaults {
        get { core.faults }
        set { core.faults = newValue }
    }

    package func register(name: String, topic: String) -> String { core.registry.register(name: name, bundleID: topic) }

    /// False where no device has the token.
    package func setState(_ state: DeviceRecord.State, token: String, since: Int64? = nil) -> Bool {
        core.registry.setState(state, token: token, since: since)
    }

    /// How many devices there are and are online, and what waits for them.
    package var deviceCounts: DeviceCounts { core.registry.counts }

    package func register(_ key: ProviderKey) { core.tokens.register(key) }

    package func goAway(_ reason: APNsReason?) { core.goAway(reason) }
}

/// Why a local APNs could not be started, or went wrong.
package enum LocalAPNsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file or folder can't be used: which, and the system's words.
    case folder(String, String)
    /// Not the content that this server writes.
    case damaged(String)
    /// The port can't be had.
    case notBound(String)
    case certificate(String)
    /// A number that makes no sense.
    case configuration(String)

    package var description: String {
        switch self {
        case .folder(let path, let message): "\(path): \(message)"
        case .damaged(let path): "\(path) is damaged"
        case .notBound(let message): "the local APNs can't listen: \(message)"
        case .certificate(let message): "no certificate: \(message)"
        case .configuration(let message): message
        }
    }
}
