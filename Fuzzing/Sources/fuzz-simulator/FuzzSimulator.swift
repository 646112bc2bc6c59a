import FuzzSupport
import NIOCore

@testable import SimulatedAPNs

/// What a simulated phone and a local APNs read: a push's file; a payload, which is read exactly if it is an object of
/// RFC 8259; the frames between devices and a local APNs, which are written and read as the same.
///
/// The input's first byte: which of them, and whether frames come without their lengths (bit 2).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = Input(start, count)
    let choice = input.byte()
    switch choice & 3 {
    case 0: checkPushFile(input.bytes)
    case 1: checkPayload(input.bytes)
    default: checkFrames(ByteBuffer(bytes: choice & 4 == 0 ? input.bytes : frames(&input)))
    }
    return 0
}

private func checkPayload(_ bytes: [UInt8]) {
    let outline = bytes.withUnsafeBufferPointer { PayloadOutline(scanning: $0) }
    let rule = JSONRule(bytes)
    demand(outline != nil || !rule.isObject, "an object is refused")
    guard let outline else { return }
    for (name, value) in outline.members {
        demand(name.upperBound < value.lowerBound && value.upperBound < bytes.count, "a value before its name")
        let member = Array("{\"".utf8) + bytes[name] + Array("\":".utf8) + bytes[value] + Array("}".utf8)
        demand(!rule.isObject || JSONRule(member).isObject, "a member is cut elsewhere than where it ends")
    }
    demand(outline.hasAps == (outline.aps != nil), "aps is here and is not")
    for type in PushType.allCases { _ = outline.fits(type) }
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

private func checkFrames(_ bytes: ByteBuffer) {
    var (rest, count) = (bytes, 0)
    while let frame = try? DeviceFrame.read(from: &rest) {
        var written = ByteBuffer()
        frame.write(to: &written)
        let again = try? DeviceFrame.read(from: &written)
        demand(again == frame && written.readableBytes == 0, "written and read again, \(frame) is another")
        count += 1
    }
    demand(count * 5 <= bytes.readableBytes, "frames come of nothing")
}
