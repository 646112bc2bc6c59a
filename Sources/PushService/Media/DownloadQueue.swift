import Dispatch
import Foundation

/// Where a session calls its delegate: one call after the other. Unchecked, as its superclass is; a semaphore is safe.
final class DownloadQueue: OperationQueue, @unchecked Sendable {
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = "sealed-push.download"
    }

    #if canImport(FoundationNetworking)
        // Apple's loader waits for its delegate; Linux's goes on reading, and a fast server would fill the memory with
        // what the delegate has yet to take. So the loader's own thread waits here.
        private let room = DispatchSemaphore(value: 16)

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            room.wait()
            super.addOperation { [room] in
                block()
                room.signal()
            }
        }
    #endif
}
