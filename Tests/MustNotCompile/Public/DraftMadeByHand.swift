// error: 'NotificationDraft' initializer is inaccessible due to 'package' protection level
import PushService
import SealedPush

/// A stage improves what was opened; it can't show anything in the place of a push that didn't open.
func replace(_ opened: OpenedContent) {
    _ = NotificationDraft(opened, isRepeat: false)  // refused
}
