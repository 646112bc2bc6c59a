package import Foundation
internal import NIOCore
internal import NIOPosix

/// A local APNs: HTTP/2 over TLS, with Apple's checks, throttling, storage, and responses, and with faults on demand.
///
/// Providers connect to the port in ``address``, and devices to a Unix socket. Another Unix socket changes the faults.
/// See ``ProviderRequest`` for the checks. Thread-safe.
package final class LocalAPNs: Sendable {
    package let address: LocalAPNsAddress
    /// The address to open in a browser, if there is a page.
    package let pageAddress: String?
    let core: LocalAPNsCore
    private let folder: LocalAPNsFolder
    private let listeners: [any Channel]
    private let webListeners: [HTTPListener]
    private let group: MultiThreadedEventLoopGroup
    private let ticking: RepeatedTask

    /// Starts a server that keeps its certificate, keys, devices, and log in a folder. A folder can have only one server at
    /// a time.
    package static func start(
        folder: URL, configuration: LocalAPNsConfiguration = LocalAPNsConfiguration()
    ) async throws(LocalAPNsError) -> LocalAPNs {
        guard configuration.faults.isValid else { throw .configuration("a fault's value is out of range") }
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
            try folder.save(address, as: LocalAPNsAddress.fileName)
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

    /// Sends `Shutdown` to every connection, waits for them for the configured time and any latency fault, and saves the
    /// notifications that wait for devices. Must be called only once.
    package func stop() async {
        for listener in listeners { try? await listener.close() }
        for listener in webListeners { await listener.stop() }
        core.goAway(.shutdown)
        // Connections end on their own; the extra half second is for the TLS shutdown.
        let latency = Duration.milliseconds(core.faults.latencyMillisecondsMaximum)
        let deadline = ContinuousClock.now + core.configuration.closingTime + latency + .milliseconds(500)
        while !core.channels.isEmpty, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
        for channel in core.channels { try? await channel.close() }
        ticking.cancel()
        let waiting = core.registry.waiting
        if !waiting.isEmpty { try? folder.save(waiting, as: "waiting.json") }
        core.log.flush()
        try? await group.shutdownGracefully()
        folder.release()
    }

    package var faults: APNsFaults {
        get { core.faults }
        set { core.faults = newValue }
    }

    package func register(name: String, topic: String) -> String { core.registry.register(name: name, bundleID: topic) }

    /// Sets the state of a token. Returns false if no device has it.
    package func setState(_ state: LocalDeviceRecord.State, token: String, since: Int64? = nil) -> Bool {
        core.registry.setState(state, token: token, since: since)
    }

    /// The number of devices, known and online, and of notifications waiting for them.
    package var deviceCounts: DeviceCounts { core.registry.counts }

    package func register(_ key: AcceptedProviderKey) { core.tokens.register(key) }

    package func goAway(_ reason: LocalAPNsReason?) { core.goAway(reason) }
}
