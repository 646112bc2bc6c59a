public import Foundation

// On Apple's systems, these types are in the Intents module.

/// The picture of a person (Apple, INImage).
public final class INImage: NSObject {
    let data: Data

    /// Creates a picture from a file's bytes.
    public init(imageData: Data) { data = imageData }
}

/// A way to reach a person (Apple, INPersonHandle).
public final class INPersonHandle: NSObject {
    /// The text of the handle.
    public let value: String?

    /// Creates a handle.
    public init(value: String?, type: INPersonHandleType) { self.value = value }
}

/// The type of a handle's text (Apple, INPersonHandleType).
public enum INPersonHandleType: Int, Sendable {
    /// Neither an address nor a number.
    case unknown = 0
}

/// A person (Apple, INPerson).
public final class INPerson: NSObject {
    /// The name to show.
    public let displayName: String
    /// The picture.
    public let image: INImage?
    /// The app's own name for the person.
    public let customIdentifier: String?

    /// Creates a person.
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

/// The type of an outgoing message (Apple, INOutgoingMessageType).
public enum INOutgoingMessageType: Int, Sendable {
    /// A text message.
    case outgoingMessageText = 1
}

/// An action by or for a person (Apple, INIntent).
public class INIntent: NSObject {}

/// The response to an intent (Apple, INIntentResponse).
public class INIntentResponse: NSObject {}

/// The sending of a message (Apple, INSendMessageIntent).
public final class INSendMessageIntent: INIntent, UNNotificationContentProviding, CommunicationProviding {
    let communication: CommunicationSender?

    /// Creates an intent.
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

/// The direction of an interaction (Apple, INInteractionDirection).
public enum INInteractionDirection: Int, Sendable {
    /// Not specified.
    case unspecified = 0
    /// From the person who uses the device.
    case outgoing = 1
    /// To the person who uses the device.
    case incoming = 2
}

/// An interaction between people (Apple, INInteraction).
public final class INInteraction: NSObject {
    /// The direction of the interaction.
    public var direction = INInteractionDirection.unspecified
    /// A name for interactions that belong together.
    public var groupIdentifier: String?

    /// Creates an interaction.
    public init(intent: INIntent, response: INIntentResponse?) {}

    /// Donates the interaction to the system; here, only calls the completion handler.
    public func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) { completion?(nil) }
}
