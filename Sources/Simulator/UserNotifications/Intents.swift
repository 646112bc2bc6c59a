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
    /// The type of the text.
    public let type: INPersonHandleType

    /// Creates a handle.
    public init(value: String?, type: INPersonHandleType) {
        self.value = value
        self.type = type
    }
}

/// The type of a handle's text (Apple, INPersonHandleType).
public enum INPersonHandleType: Int, Sendable {
    /// Neither an address nor a number.
    case unknown = 0
    /// An email address.
    case emailAddress = 1
    /// A phone number.
    case phoneNumber = 2
}

/// A person (Apple, INPerson).
public final class INPerson: NSObject {
    /// The name to show.
    public let displayName: String
    /// The picture.
    public let image: INImage?
    /// The app's own name for the person.
    public let customIdentifier: String?
    /// The identifier in the phone's contacts.
    public let contactIdentifier: String?
    /// A way to reach the person.
    public let personHandle: INPersonHandle?

    /// Creates a person.
    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?, customIdentifier: String?
    ) {
        self.displayName = displayName ?? personHandle.value ?? ""
        self.image = image
        self.customIdentifier = customIdentifier
        self.contactIdentifier = contactIdentifier
        self.personHandle = personHandle
    }

    /// How the phone's contacts know the person.
    var contact: String? {
        contactIdentifier ?? (personHandle?.type == .unknown ? nil : personHandle?.value)
    }
}

/// A name that can be spoken (Apple, INSpeakableString).
public final class INSpeakableString: NSObject {
    /// The name.
    public let spokenPhrase: String

    /// Creates a name.
    public init(spokenPhrase: String) { self.spokenPhrase = spokenPhrase }
}

/// A file in a message (Apple, INSendMessageAttachment).
public final class INSendMessageAttachment: NSObject {}

/// The type of an outgoing message (Apple, INOutgoingMessageType).
public enum INOutgoingMessageType: Int, Sendable {
    /// A text message.
    case outgoingMessageText = 1
}

/// An action by or for a person (Apple, INIntent).
public class INIntent: NSObject {}

/// Facts about an intent for the system (Apple, INIntentDonationMetadata).
public class INIntentDonationMetadata: NSObject {}

/// Facts about a message for the system (Apple, INSendMessageIntentDonationMetadata).
public final class INSendMessageIntentDonationMetadata: INIntentDonationMetadata {
    /// The number of recipients.
    public var recipientCount = 0
}

/// The response to an intent (Apple, INIntentResponse).
public class INIntentResponse: NSObject {}

/// The sending of a message (Apple, INSendMessageIntent).
public final class INSendMessageIntent: INIntent, UNNotificationContentProviding, CommunicationProviding {
    /// The name of the group.
    public let speakableGroupName: INSpeakableString?
    /// Facts beside the intent.
    public var donationMetadata: INIntentDonationMetadata?
    private let sender: CommunicationSender?
    private let recipients: [INPerson]
    private var groupImage: INImage?

    var communication: CommunicationSender? {
        guard var sender else { return nil }
        let metadata = donationMetadata as? INSendMessageIntentDonationMetadata
        sender.group = speakableGroupName?.spokenPhrase
        sender.groupImage = groupImage?.data
        sender.recipients = recipients.map(\.displayName)
        sender.recipientCount = metadata?.recipientCount ?? recipients.count
        return sender
    }

    /// Creates an intent.
    public init(
        recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
        speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?,
        sender: INPerson?, attachments: [INSendMessageAttachment]?
    ) {
        self.speakableGroupName = speakableGroupName
        self.recipients = recipients ?? []
        self.sender = sender.map { person in
            var sender = CommunicationSender(
                name: person.displayName, conversation: conversationIdentifier ?? "", image: person.image?.data)
            sender.contact = person.contact
            return sender
        }
    }

    /// Sets the picture of a parameter; here, only the group's.
    public func setImage<Value>(_ image: INImage?, forParameterNamed name: KeyPath<INSendMessageIntent, Value>) {
        if name == \.speakableGroupName, speakableGroupName != nil { groupImage = image }
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
