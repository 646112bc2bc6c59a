import Foundation
internal import PushCore
import SealedPush

/// Shows a message's texts in the phone's language, from the app's own language files, if the sender named them: `loc-key`
/// and `loc-args`, as in `aps.alert`.
///
/// If the app lacks one of the texts, or can't fill it in, all of them stay as sealed, so that a notification has one
/// language. The log then has a line. List this stage before ``PlaceholderStage``. Takes a few milliseconds.
/// Source: ContentParts 17.3.
public struct TranslationStage: ServiceStage {
    private let text: @Sendable (String) -> String?

    /// Creates a stage that reads the app's file `Localizable`: that of the app, which the system uses for `loc-key` as well,
    /// not that of its extension.
    public init() {
        self.init { key in
            AppTexts(of: Bundle.main.bundleURL).text(key, for: Locale.preferredLanguages)
        }
    }

    /// Creates a stage that takes its texts from the app, such as for a language that a person chooses in the app.
    ///
    /// - Parameter text: Returns the text of a key; nil if there is none.
    public init(text: @escaping @Sendable (_ key: String) -> String?) { self.text = text }

    /// Quick, because the texts are in files of the app.
    public var pace: StagePace { .quick }

    /// Returns the draft with the app's own texts.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        let sealed = draft.opened.content.alert
        var alert = draft.alert
        try translate(&alert.title, by: sealed.titleTranslation)
        try translate(&alert.subtitle, by: sealed.subtitleTranslation)
        try translate(&alert.body, by: sealed.bodyTranslation)
        guard alert.isVisible else { throw TranslationError.nothingVisible }
        var translated = draft
        translated.alert = alert
        return translated
    }

    private func translate(
        _ shown: inout String?, by translation: Content.Translation?
    ) throws(TranslationError) {
        guard let translation else { return }
        guard let format = text(translation.key) else { throw .noSuchText }
        guard let filled = TextFormat.fill(format, with: translation.arguments) else { throw .unusableFormat }
        shown = TextTemplate.cut(filled, to: TextTemplate.maximumByteCount)
    }
}

/// The texts in the language files of an app.
struct AppTexts {
    private let app: URL

    /// - Parameter bundle: The running bundle: the app itself, or an extension, which is inside of the app. `Bundle.main` of
    ///   an extension is the extension. Source: Apple, "NSBundle".
    init(of bundle: URL) {
        let above = sequence(first: bundle) { $0.deletingLastPathComponent() }.prefix(4)
        app = above.first { $0.pathExtension == "app" } ?? bundle
    }

    /// Returns a text of the file `Localizable` in the first of the languages that the app has, or else in its own language.
    func text(_ key: String, for languages: [String]) -> String? {
        guard let app = Bundle(url: app) else { return nil }
        // The first one counts if none is preferred. `developmentLocalization` stops the program on Linux if there is none.
        let own = app.object(forInfoDictionaryKey: "CFBundleDevelopmentRegion") as? String
        let choices = app.localizations.filter { $0 != "Base" }.sorted {
            ($0 == own ? 0 : 1, $0) < ($1 == own ? 0 : 1, $1)
        }
        guard let language = Self.choose(from: choices, for: languages),
            let folder = app.path(forResource: language, ofType: "lproj"), let texts = Bundle(path: folder)
        else { return nil }
        let missing = "\u{0}"
        let text = texts.localizedString(forKey: key, value: missing, table: nil)
        return text.hasBytes(of: missing) ? nil : text
    }

    private static func choose(from choices: [String], for languages: [String]) -> String? {
        #if canImport(Darwin)
        return Bundle.preferredLocalizations(from: choices, forPreferences: languages).first
        #else
        // Foundation for Linux returns the first, whatever is preferred.
        let wanted = languages.lazy.flatMap { [$0, String($0.prefix { $0 != "-" })] }
        return wanted.first(where: choices.contains) ?? choices.first
        #endif
    }
}
