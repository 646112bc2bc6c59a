internal import Hummingbird
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// A text to show, and how to send it.
struct Notice {
    let content: Content
    let priority: PushPriority
    /// The treatment of a text that doesn't fit into one push, or `nil` for the sealer's own.
    let fit: FitPolicy?

    private init(title: String?, text: String, thread: String?, priority: PushPriority, fit: FitPolicy? = nil) {
        var content = Content(title: title.flatMap { $0.isEmpty ? nil : $0 }, body: text)
        content.threadID = thread.flatMap { $0.isEmpty ? nil : $0 }
        // A notification that may come late must not make a sound.
        if priority == .immediate { content.sound = .named("default") }
        (self.content, self.priority, self.fit) = (content, priority, fit)
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

    /// Creates a notice from what Apprise sends to `json://`. Its attachments can't be sent. Its `type` has no meaning here,
    /// since it is `info` unless a script chooses another.
    init(apprise members: consuming JSONMembers) throws(OrderError) {
        var reader = OrderReader(members)
        let (title, message) = (try reader.optional("title", "a string", \.string), try reader.text("message"))
        self.init(
            title: title.map(Self.shortTitle), text: message, thread: nil, priority: .immediate, fit: .truncate)
    }

    /// Creates a notice that replaces the group's earlier one on the screen. One about resolved alerts is quiet: it tells
    /// a person who looks that the alerts have ended, and a withdrawal would leave that open. It has the same priority as the
    /// others, so that it can't arrive after a later one.
    init(_ group: AlertGroup) {
        var content = Content(title: Self.shortTitle(group.title), body: group.text)
        let id = "alerts-\(Base64URL.encode(BLAKE2b.hash(Array(group.key.utf8), byteCount: 16)))"
        (content.threadID, content.collapseID) = (id, id)
        if group.isResolved {
            content.interruptionLevel = .passive
        } else {
            content.sound = .named("default")
        }
        (self.content, priority, fit) = (content, .immediate, .truncate)
    }

    /// Sealing cuts only the body, so a foreign title is cut here.
    private static func shortTitle(_ title: String) -> String {
        let start = title.prefix(byteCount: 200)
        return start.utf8.count == title.utf8.count ? title : "\(start)…"
    }
}
