// End-to-end encrypted push notifications for Apple's devices: the server's half.
//
//   const sender = new Sender(secret, { topic: 'com.example.app' })
//   const push = sender.seal({ alert: { title: 'Nina', body: 'Lunch at one?' } }, device)
//
// `push.payload` is the body and `push.headers` the headers of a request to Apple. `Device` is what a server keeps of a phone.

export { Device } from './device.js'
export { ChallengeError, ContentError, KeyTextError, RecordError, SealedPushError, SettingError, TooLargeError } from './errors.js'
export { generateSenderSecret, Sender } from './sender.js'
