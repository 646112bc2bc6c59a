internal import PushSimulator

/// A color, in sRGB, each part from 0 to 1.
struct Ink {
    let red: Double
    let green: Double
    let blue: Double
    var alpha = 1.0

    /// 0xRRGGBB.
    init(_ rgb: UInt32, alpha: Double = 1) {
        red = Double(rgb >> 16 & 0xff) / 255
        green = Double(rgb >> 8 & 0xff) / 255
        blue = Double(rgb & 0xff) / 255
        self.alpha = alpha
    }

    /// Green for what was sealed, red for what was not protected.
    static func of(_ outcome: DeliveredPush.Outcome) -> Ink {
        switch outcome {
        case .opened: Ink(0x28a745)
        case .safeDefault: Ink(0xf08c00)
        case .original: Ink(0xe03131)
        case .modified, .notShown: Ink(0x8e8e93)
        }
    }
}
