public import SealedPush

extension PushEnvironment {
    /// The Apple service that this build's tokens are for: `sandbox` for debug builds, `production` for release builds.
    ///
    /// Apple decides by the entitlement `aps-environment`, which Xcode sets to `development` for builds that it installs. Name
    /// the service yourself if you install release builds with Xcode.
    public static var ofThisBuild: PushEnvironment {
        #if DEBUG
        .sandbox
        #else
        .production
        #endif
    }
}
