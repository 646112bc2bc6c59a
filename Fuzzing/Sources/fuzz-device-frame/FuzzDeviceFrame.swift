import FuzzSupport
import NIOCore

@testable import SimulatedAPNs

/// What devices and a local APNs tell each other, each way: a frame that is read is written and read as the same; a server
/// that hears anything keeps what waits for its devices, and a device that hears anything has its events in order. What
/// either answers are frames.
///
/// The input's first byte: who hears it (bits 0 and 1: nobody, the server, the device), and whether it is frames without
/// their lengths (bit 2).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDeviceFrame(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    let choice = input.byte()
    let bytes = choice & 4 == 0 ? input.bytes : frames(&input)
    switch choice % 4 {
    case 0, 1: checkServer(hears: bytes)
    case 2: checkDevice(hears: bytes)
    default: _ = checkFrames(ByteBuffer(bytes: bytes))
    }
    return 0
}

/// A length in a byte stands for one in four.
private func frames(_ input: inout Input) -> [UInt8] {
    var bytes: [UInt8] = []
    while !input.rest.isEmpty {
        let frame = input.take(Int(input.byte()))
        bytes += [0, 0, 0, UInt8(frame.count)] + frame
    }
    return bytes
}

/// The frames up to the first that is none.
func checkFrames(_ bytes: ByteBuffer) -> [DeviceFrame] {
    var (rest, frames) = (bytes, [DeviceFrame]())
    while let frame = try? DeviceFrame.read(from: &rest) {
        var written = ByteBuffer()
        frame.write(to: &written)
        let again = try? DeviceFrame.read(from: &written)
        demand(again == frame && written.readableBytes == 0, "written and read again, \(frame) is another")
        frames.append(frame)
    }
    demand(frames.count * 5 <= bytes.readableBytes, "frames come of nothing")
    return frames
}
