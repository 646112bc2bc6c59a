// The server's side of end-to-end encrypted push notifications for Apple's devices.
//
//   const sender = new Sender(secret, { topic: 'com.example.app' })
//   const push = sender.seal({ alert: { title: 'Nina', body: 'Lunch at one?' } }, device)
//
// `push.payload` is the body of a request to Apple, and `push.headers` are its headers. `Device` is the state that a server stores
// for a phone. `sealed-push/server` answers phones, and `sealed-push/testing` has a phone for tests.

export { APNs } from './apns.js'
export { openFile, sealAttachment, sealFile } from './attachments.js'
export { Device, Leaving } from './device.js'
export {
  ChallengeError, ContentError, FileError, KeyTextError, ReceiptError, RecordError, SealedPushError, SettingError, TooLargeError,
} from './errors.js'
export { enqueueQuery, OutboxKey } from './outbox.js'
export { ReceiptReceiver } from './receipts.js'
export { generateSenderSecret, Sender } from './sender.js'
