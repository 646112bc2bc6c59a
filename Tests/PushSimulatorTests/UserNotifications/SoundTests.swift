import Foundation
import Testing
import UserNotifications

@Suite("A sound") struct SoundTests {
    private let bell = UNNotificationSoundName("bell.caf")

    @Test("a sound made by each factory carries its facts") func factories() {
        expect(.default, nil)
        expect(.defaultCritical, nil, isCritical: true)
        expect(.defaultRingtone, nil, isRingtone: true)
        expect(.defaultCriticalSound(withAudioVolume: 0.5), nil, isCritical: true, volume: 0.5)
        expect(UNNotificationSound(named: bell), bell)
        expect(.ringtoneSoundNamed(bell), bell, isRingtone: true)
        expect(.criticalSoundNamed(bell), bell, isCritical: true)
        expect(.criticalSoundNamed(bell, withAudioVolume: 1), bell, isCritical: true, volume: 1)
    }

    private func expect(
        _ sound: UNNotificationSound, _ name: UNNotificationSoundName?, isCritical: Bool = false,
        isRingtone: Bool = false, volume: Float? = nil
    ) {
        #expect(sound.name == name)
        #expect(sound.isDefault == (name == nil))
        #expect(sound.isCritical == isCritical)
        #expect(sound.isRingtone == isRingtone)
        #expect(sound.volume == volume)
    }

    @Test(
        "a sound has a volume from 0 to 1",
        arguments: [[-1, 0], [0, 0], [0.25, 0.25], [2, 1], [.nan, 0]] as [[Float]])
    func volume(askedAndGiven: [Float]) {
        let (asked, given) = (askedAndGiven[0], askedAndGiven[1])
        #expect(UNNotificationSound.defaultCriticalSound(withAudioVolume: asked).volume == given)
        #expect(UNNotificationSound.criticalSoundNamed(bell, withAudioVolume: asked).volume == given)
    }

    @Test("a sound is equal by value, and copies to itself") func value() {
        let sounds: [UNNotificationSound] = [
            .default, .defaultCritical, .defaultRingtone, .defaultCriticalSound(withAudioVolume: 0.5),
            UNNotificationSound(named: bell), .criticalSoundNamed(bell), .ringtoneSoundNamed(bell),
        ]
        #expect(Set(sounds).count == sounds.count)
        for sound in sounds { #expect(sound.copy() as? UNNotificationSound == sound) }
        #expect(UNNotificationSound.default == .default)
    }
}
