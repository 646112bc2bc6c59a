public import Foundation

extension NSString {
    /// Returns the app's text for a key, filled with the arguments (Apple, localizedUserNotificationString).
    ///
    /// Apple looks the text up when the notification is shown; here it is looked up at once, in the main bundle.
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        let format = Bundle.main.localizedString(forKey: key, value: nil, table: nil)
        return LocalizedFormat.fill(format, with: (arguments ?? []).map { "\($0)" })
    }
}
