package import Foundation

/// What an attachment's options say about its thumbnail; an option of the wrong kind counts as absent.
package struct AttachmentThumbnail: Equatable {
    /// Whether no thumbnail is shown.
    package let isHidden: Bool
    /// The part of the image to show, in units of its width and height; nil for all of it.
    package let clippingRect: CGRect?
    /// The frame number of an animated image, or the seconds into a movie.
    package let time: Double?

    init(options: [AnyHashable: Any]) {
        isHidden = Self.number(options[UNNotificationAttachmentOptionsThumbnailHiddenKey]) ?? 0 != 0
        let rect = options[UNNotificationAttachmentOptionsThumbnailClippingRectKey] as? [String: Any]
        clippingRect = rect.flatMap(Self.rect(in:))
        let time = options[UNNotificationAttachmentOptionsThumbnailTimeKey]
        self.time = Self.number(time) ?? (time as? [String: Any]).flatMap(Self.seconds(in:))
    }

    /// Reads the dictionary Core Graphics makes of a rectangle (Apple, CGRect.dictionaryRepresentation).
    private static func rect(in dictionary: [String: Any]) -> CGRect? {
        guard let x = number(dictionary["X"]), let y = number(dictionary["Y"]),
            let width = number(dictionary["Width"]), let height = number(dictionary["Height"])
        else { return nil }
        return CGRect(x: x, y: y, width: width, height: height)
    }

    /// Reads the dictionary Core Media makes of a time (Apple, CMTimeCopyAsDictionary).
    private static func seconds(in dictionary: [String: Any]) -> Double? {
        guard let value = number(dictionary["value"]), let timescale = number(dictionary["timescale"]), timescale > 0
        else { return nil }
        return value / timescale
    }

    private static func number(_ value: Any?) -> Double? {
        switch value {
        case let truth as Bool: truth ? 1 : 0
        case let number as NSNumber: number.doubleValue
        case let number as any BinaryInteger: Double(number)
        case let number as any BinaryFloatingPoint: Double(number)
        default: nil
        }
    }
}

extension AttachmentThumbnail {
    init(coder: NSCoder) {
        let numbers = coder.decodeObject(of: [NSArray.self, NSNumber.self], forKey: "clippingRect") as? [NSNumber]
        isHidden = coder.decodeBool(forKey: "isHidden")
        clippingRect = numbers.flatMap { $0.count == 4 ? $0.map(\.doubleValue) : nil }.map {
            CGRect(x: $0[0], y: $0[1], width: $0[2], height: $0[3])
        }
        time = coder.decodeObject(of: NSNumber.self, forKey: "time")?.doubleValue
    }

    func encode(with coder: NSCoder) {
        let numbers = clippingRect.map { [$0.minX, $0.minY, $0.width, $0.height].map { NSNumber(value: Double($0)) } }
        coder.encode(isHidden, forKey: "isHidden")
        coder.encode(numbers.map { $0 as NSArray }, forKey: "clippingRect")
        coder.encode(time.map { NSNumber(value: $0) }, forKey: "time")
    }
}
