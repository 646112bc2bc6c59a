internal import Logging
internal import PushSender

/// What a transport logs: events and public identifiers only, nothing of a push's content.
struct TransportLog: Sendable {
    let logger: Logger

    func opened(connection: Int, lane: Lane.Kind, streamLimit: Int) {
        logger.info(
            "connected to APNs",
            metadata: ["connection": "\(connection)", "lane": "\(lane.rawValue)", "stream-limit": "\(streamLimit)"])
    }

    func closed(connection: Int, lane: Lane.Kind, reason: String) {
        logger.info(
            "connection to APNs closed",
            metadata: ["connection": "\(connection)", "lane": "\(lane.rawValue)", "reason": "\(reason)"])
    }

    func wentAway(connection: Int, reason: String) {
        logger.notice("APNs ends a connection", metadata: ["connection": "\(connection)", "reason": "\(reason)"])
    }

    func refused(_ request: PushRequest, _ refusal: APNSRefusal) {
        logger.info(
            "push refused",
            metadata: [
                "apns-id": "\(request.apnsID)", "token": "\(request.address.logged)", "status": "\(refusal.status)",
                "reason": "\(refusal.reason ?? "none")", "advice": "\(refusal.advice.rawValue)",
            ])
    }

    func tokenRenewed(isSuccess: Bool) {
        if isSuccess {
            logger.debug("provider token renewed")
        } else {
            logger.error("the provider token could not be signed")
        }
    }

    func tokenFrozen() {
        logger.error("pushes wait: the provider token has expired, and APNs allows no new one yet")
    }

    func wrongClock() {
        logger.critical(
            "APNs calls a provider token expired that is younger than 20 minutes: this machine's clock is wrong")
    }
}
