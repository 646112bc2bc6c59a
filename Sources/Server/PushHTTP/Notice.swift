internal import Hummingbird
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// A text to show, and how to send it.
struct Notice {
    let content: Content
    let priority: PushPriority

    private init(title: String?, text: String, thread: String?, priority: PushPriority) {
        var content = Content(title: title, body: text)
        content.threadID = thread
        // A notification that may come late must not make a sound.
        if priority == .immediate { content.sound = .named("default") }
        (self.content, self.priority) = (content, priority)
    }

    /// Creates a notice from a request's text and its headers `Title`, `Thread`, and `Priority`.
    init(_ text: String, _ request: Request) throws(Problem) {
        let name = try request.words(of: "Priority")
        guard let priority = name.map(PushPriority.init(name:)) ?? .immediate
        else { throw .malformed("the Priority header is invalid; expected immediate or considerate") }
        self.init(
            title: try request.words(of: "Title"), text: text, thread: try request.words(of: "Thread"),
            priority: priority)
    }

    /// Creates a notice from JSON.
    init(_ members: consuming JSONMembers) throws(OrderError) {
        var reader = OrderReader(members)
        let (title, message) = (try reader.optional("title", "a string", \.string), try reader.text("message"))
        let (thread, priority) = (try reader.optional("thread", "a string", \.string), try reader.priority())
        try reader.end("title, message, thread, and priority")
        self.init(title: title, text: message, thread: thread, priority: priority)
    }
}
