import NIOCore

@testable import PushSimulator
@testable import SimulatedAPNs

extension DeviceFrame {
    static func bytes(of frame: DeviceFrame) -> ByteBuffer {
        var buffer = ByteBuffer()
        frame.write(to: &buffer)
        return buffer
    }

    static func buffer(_ bytes: [UInt8]) -> ByteBuffer { ByteBuffer(bytes: bytes) }
}
