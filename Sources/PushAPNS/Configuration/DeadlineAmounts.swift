internal import NIOCore

/// The deadlines in the unit that event loops count in.
struct DeadlineAmounts: Sendable {
    let connect: TimeAmount
    let request: TimeAmount
    let firstAnswer: TimeAmount
    let pingWhileBusy: TimeAmount
    let pingWhileIdle: TimeAmount
    let ping: TimeAmount
    let idle: TimeAmount
    let full: TimeAmount
    let firstBackoff: TimeAmount
    let longestBackoff: TimeAmount

    init(_ deadlines: APNSConfiguration.Deadlines) {
        connect = TimeAmount(deadlines.connect)
        request = TimeAmount(deadlines.request)
        firstAnswer = TimeAmount(deadlines.firstAnswer)
        pingWhileBusy = TimeAmount(deadlines.pingWhileBusy)
        pingWhileIdle = TimeAmount(deadlines.pingWhileIdle)
        ping = TimeAmount(deadlines.ping)
        idle = TimeAmount(deadlines.idle)
        full = TimeAmount(deadlines.full)
        firstBackoff = TimeAmount(deadlines.firstBackoff)
        longestBackoff = TimeAmount(deadlines.longestBackoff)
    }
}
