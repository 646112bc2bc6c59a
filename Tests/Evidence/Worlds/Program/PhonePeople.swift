import PushApp
import PushService
import SealedPush
import UserNotifications

/// What people do with their phone.
extension Phone {
    func logIn(_ user: Int) {
        tap { [self] in
            let session = world.beginSession(of: user)
            let (pushes, process, before) = (pushes!, process, recipients)
            person = user
            accounts.insert(user)
            expectToLoseKeys()
            world.leave(saved.session)
            await resettingBadge { await pushes.logIn(session) }
            guard !process.isDead else { return }
            left(before)
        }
    }

    func logOut() {
        tap { [self] in
            let (pushes, process, before) = (pushes!, process, recipients)
            person = nil
            expectToLoseKeys()
            world.leave(saved.session)
            await resettingBadge { await pushes.logOut() }
            guard !process.isDead else { return }
            left(before)
        }
    }

    /// Does something that a person taps, once the app is done with what they tapped before.
    private func tap(_ action: @escaping @MainActor () async -> Void) {
        lastTap = Task { @MainActor [lastTap] in
            await lastTap?.value
            await action()
        }
    }

    /// Leaves an account, which sets the badge to 0, unless the app is killed before.
    @MainActor private func resettingBadge(_ action: @MainActor () async -> Void) async {
        let (process, isLoggedIn, before) = (process, saved.session != nil, world.oracle.badge(of: number).upperBound)
        mayResetBadge = true
        world.oracle.mayResetBadge(number)
        await action()
        mayResetBadge = false
        world.oracle.resetBadge(on: self, isCertain: isLoggedIn && !process.isDead, before: before)
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

    /// Revokes every key, as after a theft.
    func revoke() {
        let (app, process) = (app(in: process), process)
        expectToLoseKeys(byRevoking: true)
        Task.detached { [self] in
            _ = try? await app.device.revoke()
            if !process.isDead { launch() }
        }
    }

    func rotate() {
        let app = app(in: process)
        Task.detached { _ = try? await app.device.rotate() }
    }
}
