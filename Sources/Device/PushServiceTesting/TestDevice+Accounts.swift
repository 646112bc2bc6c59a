public import Foundation
internal import PushCore
internal import PushSender
public import PushService
public import SealedPush
public import UserNotifications

/// Several accounts on one device:
/// ```swift
/// let nina = try device.addAccount("nina", for: NotificationService())
/// let shown = try await device.show(Content(title: "Nina", body: "Lunch?"), to: nina, by: NotificationService())
/// #expect(SealedNotification(userInfo: shown.userInfo)?.account == "nina")
/// ```
extension TestDevice {
    /// Adds an account at a server of its own.
    ///
    /// - Parameters:
    ///   - name: The account's name.
    ///   - service: An extension of the app.
    ///   - safeDefault: The account's safe default; nil for the app's.
    /// - Throws: `DeviceError`, such as `tooManyAccounts`.
    public func addAccount(
        _ name: AccountName, for service: SealedNotificationService, safeDefault: SafeDefault? = nil
    ) throws -> TestAccount {
        let sender = SenderPrivateKey()
        guard let server = URL(string: "https://push.example") else { throw CocoaError(.coderInvalidValue) }
        let account = PushAccount(name, server: server, trusting: [sender.sender], safeDefault: safeDefault)
        _ = try app(of: service).accounts.addNow(account)
        return TestAccount(account: account, sender: sender)
    }

    /// Removes an account and destroys its keys. Does nothing if it's gone.
    public func remove(_ account: TestAccount, for service: SealedNotificationService) throws {
        let accounts = app(of: service).accounts
        guard let id = try accounts.leaveNow(account.account.name) else { return }
        try accounts.eraseNow(id)
    }

    /// Seals a message for an account; returns the payload, as in a push's user info.
    ///
    /// - Parameter other: The sender; nil for the account's own.
    /// - Throws: `SealError` if the content can't be sealed; `DeviceError.unavailable` if the account is gone.
    public func payload(
        of content: Content, to account: TestAccount, from other: SenderPrivateKey? = nil,
        for service: SealedNotificationService
    ) throws -> [AnyHashable: Any] {
        let known = try app(of: service).accounts.configurations().first { $0.name == account.account.name }
        guard let app = known?.configuration else { throw DeviceError.unavailable("the account was removed") }
        return try payload(of: content, for: app, from: other ?? account.sender)
    }

    /// Has an extension show a message to an account; returns what the user would see.
    ///
    /// - Throws: The errors of ``payload(of:to:from:for:)``. A message that doesn't open isn't an error.
    nonisolated(nonsending) public func show(
        _ content: Content, to account: TestAccount, identifier: String = UUID().uuidString,
        by service: SealedNotificationService
    ) async throws -> UNNotificationContent {
        await show(try payload(of: content, to: account, for: service), identifier: identifier, by: service)
    }

    /// The app's configuration on this device.
    private func app(of service: SealedNotificationService) -> ServiceConfiguration {
        var app = service.configuration
        app.environment = environment { false }
        return app
    }
}
