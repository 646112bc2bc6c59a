public import Foundation

// On Apple's systems these are in the module Intents.

/// The picture of a person (Apple, INImage).
public final class INImage: NSObject {
    let data: Data

    /// Makes a picture of a file's bytes.
    public init(imageData: Data) { data = imageData }
}

/// How a person is reached (Apple, INPersonHandle).
public final class INPersonHandle: NSObject {
    /// The text of it.
    public let value: String?

    /// Makes a handle.
    public init(value: String?, type: INPersonHandleType) { self.value = value }
}

/// What a handle's text is (Apple, INPersonHandleType).
public enum INPersonHandleType: Int, Sendable {
    /// Neither an address nor a number.
    case unknown = 0
}

/// Somebody (Apple, INPerson).
public final class INPerson: NSObject {
    /// The name to show.
    public let displayName: String
    /// The picture.
    public let image: INImage?
    /// The app's own name for the person.
    public let customIdentifier: String?

    /// Makes a person.
    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?, customIdentifier: String?
    ) {
        self.displayName = displayName ?? personHandle.value ?? ""
        self.image = image
        self.customIdentifier = customIdentifier
    }
}

/// A name that can be spoken (Apple, INSpeakableString).
public final class INSpeakableString: NSObject {}

/// A file in a message (Apple, INSendMessageAttachment).
public final class INSendMessageAttachment: NSObject {}

/// What kind of message is sent (Apple, INOutgoingMessageType).
public enum INOutgoingMessageType: Int, Sendable {
    /// A text.
    case outgoingMessageText = 1
}

/// What a person did or is to do (Apple, INIntent).
public class INIntent: NSObject {}

/// The answer to an intent (Apple, INIntentResponse).
public class INIntentResponse: NSObject {}

/// A message that somebody sends (Apple, INSendMessageIntent).
public final class INSendMessageIntent: INIntent, UNNotificationContentProviding, CommunicationProviding {
    let communication: CommunicationSender?

    /// Makes an intent.
    public init(
        recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
        speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?,
        sender: INPerson?, attachments: [INSendMessageAttachment]?
    ) {
        communication = sender.map {
            CommunicationSender(name: $0.displayName, conversation: conversationIdentifier ?? "", image: $0.image?.data)
        }
    }
}

/// Which way a message went (Apple, INInteractionDirection).
public enum INInteractionDirection: Int, Sendable {
    /// Nobody said.
    case unspecified = 0
    /// From the person who uses the device.
    case outgoing = 1
    /// To the person who uses the device.
    case incoming = 2
}

/// Something that happened between people (Apple, INInteraction).
public final class INInteraction: NSObject {
    /// Which way it went.
    public var direction = INInteractionDirection.unspecified

    /// Makes an interaction.
    public init(intent: INIntent, response: INIntentResponse?) {}

    /// Tells the system of it; here nobody listens.
    public func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) { completion?(nil) }
}
