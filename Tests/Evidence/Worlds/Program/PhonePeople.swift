import PushService
import SealedPush
import UserNotifications

/// What people do with their phone.
extension Phone {
    func logIn(_ user: Int) {
        let session = world.beginSession(of: user)
        let (pushes, process, before) = (pushes!, process, recipients)
        person = user
        accounts.insert(user)
        world.oracle.erasedKeys(number)
        Task { @MainActor in
            await pushes.logIn(Account(session: session))
            guard !process.isDead else { return }
            left(before)
        }
    }

    func logOut() {
        let (pushes, process, before) = (pushes!, process, recipients)
        person = nil
        world.oracle.erasedKeys(number)
        Task { @MainActor in
            await pushes.logOut()
            guard !process.isDead else { return }
            left(before)
        }
    }

    /// Once the keys of an earlier account are gone, none of its messages may be shown.
    @MainActor private func left(_ before: Set<String>) {
        guard recipients.isDisjoint(with: before) else { return }
        accounts = person.map { [$0] } ?? []
        center.removeAllDeliveredNotifications()
    }

    func launch() {
        Task { @MainActor in
            start()
            let pushes = pushes!
            await pushes.launched()
            await pushes.becameActive()
            if person != nil { await pushes.refresh() }
        }
    }

    func rotate() {
        let app = app(in: process)
        Task.detached { _ = try? await app.device.rotate() }
    }
}
