// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Option: the file's uniform type identifier; without it the file's extension decides
/// (Apple, UNNotificationAttachmentOptionsTypeHintKey).
public let UNNotificationAttachmentOptionsTypeHintKey: String = "UNNotificationAttachmentOptionsTypeHintKey"

/// Option: a Boolean that hides the thumbnail (Apple, UNNotificationAttachmentOptionsThumbnailHiddenKey).
public let UNNotificationAttachmentOptionsThumbnailHiddenKey: String =
    "UNNotificationAttachmentOptionsThumbnailHiddenKey"

/// Option: the part of the image the thumbnail shows, a dictionary of a unit rectangle
/// (Apple, UNNotificationAttachmentOptionsThumbnailClippingRectKey).
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey: String =
    "UNNotificationAttachmentOptionsThumbnailClippingRectKey"

/// Option: the frame of an animated image, or the second of a movie, the thumbnail shows
/// (Apple, UNNotificationAttachmentOptionsThumbnailTimeKey).
public let UNNotificationAttachmentOptionsThumbnailTimeKey: String =
    "UNNotificationAttachmentOptionsThumbnailTimeKey"
