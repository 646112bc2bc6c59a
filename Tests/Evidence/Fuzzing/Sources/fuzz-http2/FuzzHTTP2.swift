import FuzzSupport

/// An HTTP/2 server's data to the transport, without TLS, while pushes are open: any bytes, or frames that an input defines,
/// as time passes. Each push gets one outcome, at the latest once the connection has ended and its time is over. The
/// transport sends HTTP/2 within the peer's windows, not much more than it receives, and keeps nothing.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzHTTP2(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = Input(start, count)
    let choice = input.byte()
    let client = Client(hasSucceeded: choice & 2 != 0)
    for number in 0..<Int(choice >> 4) + 1 { client.deliver(bodyByteCount: number * 250) }
    if choice & 1 == 0 {
        let size = choice & 4 == 0 ? 4_096 : 7
        while !input.rest.isEmpty { client.receive(input.take(size)) }
    } else {
        if choice & 8 == 0 { client.receive(PeerFrame.bytes(type: 4, stream: 0, [])) }
        var peer = Peer(client)
        for _ in 0..<200 where !input.rest.isEmpty { peer.act(&input) }
    }
    client.end()
    return 0
}
