/// Which part of an attachment stands for it on the lock screen. Source: Apple, "UNNotificationAttachment", options.
public struct AttachmentThumbnail: Hashable, Sendable {
    /// Whether no thumbnail is shown.
    public var isHidden: Bool
    /// The part that is shown; nil for all of it.
    public var clip: Clip?
    /// The frame's number of an animated image, or the seconds into a movie; nil for the system's choice.
    public var time: Double?

    public init(isHidden: Bool = false, clip: Clip? = nil, time: Double? = nil) {
        self.isHidden = isHidden
        self.clip = clip
        self.time = time
    }

    /// A part of an image, each number 0 to 1, in units of the image's width and height.
    public struct Clip: Hashable, Sendable {
        public var x: Double
        public var y: Double
        public var width: Double
        public var height: Double

        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }
}
