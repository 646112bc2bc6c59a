package import Foundation
package import PushSimulator

/// What a phone's lock screen looks like after some pushes: as a PNG file or as a page of HTML, with a caption beside the
/// phone for each push, which says whether a person sees sealed content, the safe default or the wire's own text.
///
/// Close to iOS 18 in a person's usual settings, not the same to the pixel: Apple does not publish the layout. A title and a
/// subtitle get one line each and a body four, as people report. Reads the attachments' files while it is made.
package struct LockScreenPicture: Sendable {
    private let scene: Scene

    /// One push, and what came of it.
    package struct Delivery: Sendable {
        /// What the caption calls it, such as its file's name.
        package let name: String
        package let identifier: String
        package let push: DeliveredPush

        package init(name: String, identifier: String, push: DeliveredPush) {
            self.name = name
            self.identifier = identifier
            self.push = push
        }
    }

    /// - Parameters:
    ///   - deliveries: in the order of their arrival. At most 30 conversations are drawn, the newest, and 60 captions.
    ///   - appName: as below the app's icon.
    package init(_ deliveries: [Delivery], appName: String, isDark: Bool) {
        scene = Scene(deliveries, appName: appName, isDark: isDark)
    }

    /// A PNG file, two pixels to a point.
    package func png() throws(LockScreenPictureError) -> Data { try Painter(scene).png() }

    /// One file of HTML that fetches nothing and runs nothing; texts are escaped.
    package var html: String { Page(scene).html }
}

/// The picture can't be drawn.
package enum LockScreenPictureError: Error, CustomStringConvertible {
    case notDrawn

    package var description: String { "the picture can't be drawn: the graphics library has given up" }
}
