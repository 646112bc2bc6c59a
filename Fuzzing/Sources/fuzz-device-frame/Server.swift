import FuzzSupport
import NIOCore
import NIOEmbedded

@testable import SimulatedAPNs

/// A server that knows two devices, of which one is waited for, hears this from one connection.
func checkServer(hears bytes: [UInt8]) {
    var configuration = LocalAPNsConfiguration()
    configuration.now = { 1_760_000_000_000 }
    let known = ["01", "02"].map { digits in
        DeviceRecord(
            name: "phone \(digits)", bundleID: "com.example.app", token: String(repeating: digits, count: 32),
            registered: 1_760_000_000_000)
    }
    let registry = DeviceRegistry(configuration, known: known) { record in
        demand(DeviceRecord.isToken(record.token), "a device is kept under \(record.token)")
    }
    let notification = APNsNotification(
        apnsID: "id", pushType: .alert, priority: 10, payload: Array("{}".utf8), received: 1_760_000_000_000)
    registry.restore([(known[0].token, notification)])

    let channel = EmbeddedChannel()
    let link = ConnectedDevices(channel)
    run(channel) { try channel.pipeline.syncOperations.addHandler(DeviceConnection(link, registry: registry)) }
    hear(bytes, channel)
    for answer in checkFrames(said(channel)) {
        switch answer {
        case .registered, .unknown: break
        case .notification(_, let token, let sent):
            demand(token == known[0].token && sent == notification, "a device gets what is not its own")
        default: fatalError("a server says \(answer)")
        }
    }
    if channel.isActive { run(channel) { try channel.close().wait() } }
    let counts = registry.counts
    demand(counts.online == 0 && counts.unacknowledged == 0, "devices stay online: \(counts)")
    demand(counts.waiting + counts.acknowledged == 1, "what waits is lost: \(counts)")
}

/// Two devices hear this from their server.
func checkDevice(hears bytes: [UInt8]) {
    let channel = EmbeddedChannel()
    let heard = Heard()
    let apps = ["one", "two"].map { DeviceReceiver.App(name: $0, topic: "com.example.app") }
    let client = DeviceClient(channel, number: 1, apps: apps) { event in
        switch event {
        case .online(let tokens):
            demand(tokens.count == 2, "\(tokens.count) devices are there")
            heard.isOnline = true
        case .arrived(let arrival): demand((0...1).contains(arrival.device), "a notification for nobody")
        case .offline, .unreachable: fatalError("a connection says \(event)")
        }
    }
    run(channel) { try channel.pipeline.syncOperations.addHandler(client) }
    hear(bytes, channel)
    var registered = 0
    for answer in checkFrames(said(channel)) {
        switch answer {
        case .register: registered += 1
        case .online(let tokens): demand(heard.isOnline && tokens.count == 2, "devices that are not registered")
        default: fatalError("a device says \(answer)")
        }
    }
    demand(registered >= 2, "devices do not register")
    if channel.isActive { run(channel) { try channel.close().wait() } }
}

/// Unchecked: all of it is on one thread.
private final class Heard: @unchecked Sendable {
    var isOnline = false
}

/// In pieces of a size that differs with the number of bytes.
private func hear(_ bytes: [UInt8], _ channel: EmbeddedChannel) {
    run(channel) { try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait() }
    let size = bytes.count % 3 == 0 ? 5 : 65_536
    for start in stride(from: 0, to: bytes.count, by: size) where channel.isActive {
        let piece = bytes[start..<min(start + size, bytes.count)]
        run(channel) { try channel.writeInbound(ByteBuffer(bytes: piece)) }
    }
}

private func said(_ channel: EmbeddedChannel) -> ByteBuffer {
    var bytes = ByteBuffer()
    run(channel) {
        while let piece = try channel.readOutbound(as: ByteBuffer.self) { bytes.writeImmutableBuffer(piece) }
    }
    return bytes
}

private func run(_ channel: EmbeddedChannel, _ body: () throws -> Void) {
    do { try body() } catch is ChannelError {} catch { fatalError("an error nobody takes: \(error)") }
    channel.embeddedEventLoop.run()
}
