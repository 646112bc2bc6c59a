/** A finished push. Store its `payload` and `headers`, and send the same ones in each retry. */
export interface Push {
  /** The request's body: at most 4,096 bytes. Send it unchanged. */
  readonly payload: Buffer
  /** apns-topic, apns-push-type, apns-priority, apns-id, apns-collapse-id, and apns-expiration if there is one. */
  readonly headers: Readonly<Record<string, string>>
  /** The ID of the sealed message. */
  readonly messageID: string
  /** The key that the push is sealed to, push1... or pushpq.... */
  readonly recipient: string
  /** The public key of the sender that sealed the push, pushsender1.... */
  readonly sender: string
  /** The payload as an object, for HTTP clients that write the JSON themselves. */
  readonly message: Record<string, unknown>
  /** The push for a queue of JSON: its payload is text. `APNs.send` accepts it. */
  toJSON(): PushJSON
}

/** A push as JSON. Its payload is text; send it as UTF-8. */
export interface PushJSON {
  payload: string
  headers: Record<string, string>
  messageID: string
  recipient: string
  sender: string
}

/** Visible text in the clear, or Apple's texts and loc-keys with a body (Specification 2.2); at most 1,024 bytes of JSON. */
export type SafeDefault =
  | string
  | (({ body: string } | { 'loc-key': string; 'loc-args'?: string[] }) &
      ({ subtitle?: string } | { 'subtitle-loc-key': string; 'subtitle-loc-args'?: string[] }) &
      ({ title?: string } | { 'title-loc-key': string; 'title-loc-args'?: string[] }))

/**
 * The content to seal. Specification 4.6 lists all members. `id`, `topic`, and `sent` are filled in if they are missing, and so is
 * `expires` if the device keeps keys for less than 30 days. Put the app's own values into `data`.
 */
export interface Content {
  id?: string
  topic?: string
  sent?: number
  expires?: number
  'collapse-id'?: string
  /** The text; the keys name texts in the app's own language files (ContentParts 17.3). */
  alert: {
    title?: string
    subtitle?: string
    body?: string
    'title-loc-key'?: string
    'title-loc-args'?: string[]
    'subtitle-loc-key'?: string
    'subtitle-loc-args'?: string[]
    'loc-key'?: string
    'loc-args'?: string[]
  }
  badge?: number
  /** The number to add to the device's badge count: 1 to 99, without `badge`. */
  'badge-add'?: number
  sound?: string | { critical?: 0 | 1; name?: string; volume?: number }
  'thread-id'?: string
  category?: string
  'interruption-level'?: 'passive' | 'active' | 'time-sensitive' | 'critical'
  'relevance-score'?: number
  'filter-criteria'?: string
  'target-content-id'?: string
  chart?: {
    kind: 'line' | 'area' | 'bar' | 'sparkline'
    points: (number | null)[]
    labels?: string[]
    prefix?: string
    suffix?: string
    color?: string
    axes?: boolean
  }
  /** `image` is the ID of a PNG or JPEG among the attachments. */
  person?: { name: string; id: string; image?: string } | { name: string; id: string; 'image-data'?: string }
  /** The group in which the person wrote (ContentParts 19.4). */
  group?: {
    name: string
    image?: string
    'image-data'?: string
    recipients?: { name: string; id: string }[]
    count?: number
  }
  /** What `sealAttachment` returned; at most 16. */
  attachments?: AttachmentEntry[]
  /** Content in an encrypted file (ContentParts 18). */
  overflow?: FileEntry
  /** The request for a receipt; by default, the sender's. */
  receipt?: { url: string; id: string; key: string }
  template?: true
  /** How much the notification may show (ContentParts 26); by default, all of it. */
  disclosure?: 'full' | 'sender' | 'generic'
  data?: unknown
}

/** Content that removes notifications (ContentParts 21). */
export interface Withdrawal {
  id?: string
  topic?: string
  sent?: number
  expires?: number
  'collapse-id'?: string
  badge?: number
  data?: unknown
  withdraw: { message: string; thread?: string; filtered?: boolean } | { thread: string; message?: string; filtered?: boolean }
}

export interface SealOptions {
  /** 10 to deliver at once, or 5 to save the device's battery. */
  priority?: 10 | 5
  /**
   * The time until which Apple keeps the push for an unreachable device: whole Unix seconds, not a lifetime, or 0 for a single
   * attempt. Without it, the content's `expires` applies.
   */
  expiration?: number
  /** Unix seconds; by default, the current time. */
  now?: number
}

/**
 * Seals the messages of one server for one app. Keep one while the server runs.
 *
 * Each message has its own context (Specification 3.5.5), so workers, forks, and clones of the machine are safe.
 */
export class Sender {
  /**
   * @param secret PUSH-SENDER-SECRET-KEY-1.... The app trusts its public key.
   * @param settings `topic`: the app's bundle ID. `safeDefault`: the text sent in the clear, and shown if the app's extension can't
   *   run. `padding`: how much an observer learns about the length of the content: "buckets" (256, 512, 1,024, 2,048, or all that
   *   fits), "full" (nothing), or "none" (the length). `requireHybrid`: seal to hybrid keys only, pushpq....; off by default.
   *   `receipts`: the https URL to which devices post a receipt after they show a message. Other settings are refused.
   * @throws KeyTextError, SettingError
   */
  constructor(
    secret: string,
    settings: {
      topic: string
      safeDefault?: SafeDefault
      padding?: 'buckets' | 'full' | 'none'
      requireHybrid?: boolean
      receipts?: string
    },
  )

  /** The bundle ID of the app that this sender seals for. */
  readonly topic: string
  /** The public key that the app trusts, pushsender1.... */
  readonly publicKey: string
  /**
   * The number of bytes of content JSON that fit into one push, including members that are filled in. A hybrid key leaves 1,088
   * bytes less. With `requireHybrid`, this is the number for hybrid keys.
   */
  readonly maxContentBytes: number

  /**
   * Seals content to the newest proven key of a device. The content isn't changed.
   * @throws RecordError (`unproven`, `expired`, `not-hybrid`, `expires-too-late`), ContentError, TooLargeError, SettingError
   */
  seal(content: Content | Withdrawal, device: Device, options?: SealOptions): Push

  /**
   * Seals content to a key, push1... or pushpq...., that no record vouches for. The person who gave you the key reads the message.
   * It is unknown how long the device keeps the key, so `expires` is not filled in, or checked against that time.
   * @throws KeyTextError (`unsupported`: a hybrid key, but Node lacks ML-KEM), RecordError (`not-hybrid`), ContentError,
   *   TooLargeError, SettingError
   */
  sealUnverified(content: Content | Withdrawal, recipient: string, options?: SealOptions): Push

  /** Returns the `Receipt.device` of the receipts from the device with this key. @throws KeyTextError */
  receiptDevice(recipient: string): string
}

/** The entry of an encrypted file: it contains the file's key, so it is as secret as the content. */
export interface FileEntry {
  url: string
  size: number
  hash: string
  key?: string
  plain?: boolean
}

/** How iOS shows a picture or movie in the notification (ContentParts 14.1). */
export interface Thumbnail {
  hidden?: boolean
  clip?: [number, number, number, number]
  time?: number
}

export interface AttachmentEntry extends FileEntry {
  id: string
  type: string
  thumbnail?: Thumbnail
}

/** A file's path, its bytes, or a stream of bytes. */
export type FileSource = string | URL | Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>
/** A new file's path, which appears only once the file is complete; or a stream of Node, which isn't ended. */
export type FileDestination = string | URL | NodeJS.WritableStream

/**
 * Encrypts a picture, sound, or movie, and returns its entry for the content's list `attachments`. Store the result at `url`, byte
 * for byte, before you send the push. Uses under a megabyte of memory for any length, and about 0.2 seconds of CPU time per megabyte.
 * @param options `id`: unique in its message, 1 to 64 bytes. `type`: such as "image/png"; by default, taken from the source's name. The
 *   file's first bytes must match it. `plain`: whether to leave the file unencrypted, because it is public anyway.
 * @throws FileError
 */
export function sealAttachment(
  source: FileSource,
  destination: FileDestination,
  options: { url: string; id: string; type?: string; thumbnail?: Thumbnail; plain?: boolean },
): Promise<AttachmentEntry>

/**
 * Encrypts a file of any kind and length that the app itself fetches. Like `sealAttachment`, but without iOS's limits. Put the entry
 * into the content's `data`.
 * @throws FileError
 */
export function sealFile(source: FileSource, destination: FileDestination, options: { url: string; plain?: boolean }): Promise<FileEntry>

/**
 * Checks and decrypts a stored file, as a device does. A path appears only once the whole file is checked; only its owner can read
 * it. A stream gets the file piece by piece; don't use any of it until this function returns.
 * @throws FileError
 */
export function openFile(entry: FileEntry, source: FileSource, destination: FileDestination): Promise<void>

/** A device's statement. Count each pair of `device` and `number` once, not the number alone: a device can claim any. */
export interface Receipt {
  /** The same text in all receipts of one device; `Sender.receiptDevice` returns it. */
  device: string
  /** The same text in all of this device's receipts for this message. */
  number: string
  /** When the message was shown, by the device's clock, in Unix seconds. */
  shownAt: number
  /** The time from the call to the extension until the message was shown. */
  elapsedMilliseconds: number
  /** The number of pushes that didn't open since the last receipt, by code. At most 65,535 each, as the device claims. */
  failures: Record<string, number>
  /** The number that didn't open for reasons that only a later version knows. */
  otherFailures: number
}

/** Checks the receipts of an app's devices. A check takes about 0.1 ms. */
export class ReceiptReceiver {
  /**
   * @param secrets The senders' secrets of the last 7 days, the current one first. At most 16 are tried.
   * @throws KeyTextError, SettingError
   */
  constructor(secrets: string[], settings: { topic: string })

  /** Returns the receipt in a request's whole body. Counting is up to you. @throws ReceiptError; respond with 400 */
  check(body: Uint8Array, options?: { now?: number }): Receipt
}

/** The key that authenticates an outbox's rows, from the file that `sealedpush --outbox-key` names. @throws SettingError */
export class OutboxKey {
  constructor(text: string)
}

/**
 * Returns a query of `pg` that enqueues a push into an outbox in PostgreSQL, in your transaction (Docs/PostgreSQL.md). Its one row has
 * one column, `enqueue`: "enqueued", or the reason why not.
 * @param device The device's name in the outbox, 1 to 128 bytes, and not "." or "..".
 * @param options `key`: an idempotency key for the message, 1 to 256 bytes, such as its ID. For 30 days, a key isn't enqueued
 *   twice. `outboxKey`: the outbox's key, if it has one.
 * @throws SettingError
 */
export function enqueueQuery(
  push: Push | PushJSON,
  device: string,
  options?: { key?: string; outboxKey?: OutboxKey },
): { text: string; values: unknown[] }

/** The stored state of a device, for JSON. It isn't secret, but anyone who can change it decides which keys are sealed to. */
export interface DeviceState {
  enrollment: string
  record: string
  proven?: string[]
  challenges?: { recipient: string; expires: number; hash: string }[]
}

/**
 * A server's state for one device of one account: the pinned enrollment key, the newest record, and the record's proven keys.
 * Store `toJSON()` with the account; read, change, and store it in one transaction. A call that throws changes no state.
 */
export class Device {
  /** Loads a stored device, even if its record has expired. @throws KeyTextError, RecordError */
  static fromJSON(state: DeviceState): Device

  /**
   * Pins the key that signed a device's first record. Call this only within the account's login, and only if no other account has a
   * device with the same `enrollment` that has proven a key (Specification 11.5.8).
   * @throws RecordError, SettingError
   */
  static enroll(record: string, options: { topic: string; now?: number }): Device

  private constructor()

  /**
   * Accepts a newer record, or the same one again. Returns the keys no longer in it.
   * @throws RecordError. After `rolled-back` or `conflicting`, send the device the newest record (Specification 11.4.5).
   */
  update(record: string, options?: { now?: number }): string[]

  /**
   * Returns a challenge, pushchallenge...., that only the holder of a key can answer, within ten minutes. It challenges the newest
   * key that isn't proven, or `recipient`. Store the device before you send the challenge. At most 16 are kept.
   * @throws ChallengeError (`nothing-to-ask`, `not-in-record`), SettingError
   */
  challenge(sender: Sender, options?: { recipient?: string; now?: number }): string

  /**
   * Checks the device's answer, pushanswer...., and returns the key that is now proven. Accept an answer only within the login of
   * the account whose device was challenged.
   * @throws ChallengeError (`malformed`, `wrong-answer`, `not-in-record`, `late`), SettingError
   */
  answer(answer: string, options?: { now?: number }): string

  /**
   * Returns the newest key that is proven, push1... or pushpq....: the key that messages are now sealed to.
   * @throws RecordError (`unproven`, `expired`, `not-yet-valid`)
   */
  recipient(options?: { now?: number }): string

  /** The pinned key, pushenrollment1.... */
  readonly enrollment: string
  /** The newest record. Send it to a device whose record is refused as `rolled-back` or `conflicting`. */
  readonly record: string
  readonly topic: string
  readonly counter: bigint
  /** The time at which the record expires, in Unix seconds. After that, messages can't be sealed to this device. */
  readonly expires: number
  /** The number of days for which the device keeps a retired key. Messages must not expire later (Specification 11.4.6). */
  readonly keeps: number
  /** The record's keys, newest first: all, those that have answered a challenge, and those that haven't. */
  readonly recipients: string[]
  readonly proven: string[]
  readonly unproven: string[]

  toJSON(): Required<DeviceState>
}

/** A device's signed notice that it leaves its accounts at one service, pushleaving.... No login is needed (EnrollmentHTTP 6). */
export class Leaving {
  /**
   * Checks the form, the signature for the app with this bundle ID, and the name of the service: the name that the app uses for
   * this server, by default the topic. An app with a second service, such as for staging, gives each a name, so that a leaving
   * for one doesn't count at the other.
   * @throws RecordError (`malformed`, `bad-signature`, `other-service`), SettingError
   */
  constructor(text: string, options: { topic: string; service?: string })

  /** The key that signed it, pushenrollment1.... */
  readonly enrollment: string
  readonly counter: bigint
  readonly topic: string
  readonly service: string

  /** Whether to delete this device, of whichever account: it has the same key, and its newest record is older. */
  ends(device: Device): boolean
}

/** What Apple's response to a push means, or that there was none. */
export interface APNsAnswer {
  /**
   * - `accepted`: delete the push.
   * - `gone`: delete the push, and the token unless the app has sent it again since `timestamp`.
   * - `refused`: don't use the token until the app sends it again. If a hundred in a row are refused, stop: `environment` or the
   *   topic is wrong.
   * - `retry`: send the same push again later, after 2 seconds, 4, 8, up to 10 minutes; if `status` is 500 or more, after 15 minutes.
   * - `stop`: send nothing until the provider key, the IDs, or the topic is corrected. The pushes can wait.
   * - `wrong`: the request is wrong; keep the push for inspection.
   * - `unknown`: Apple doesn't document the response. Retry twice; then keep the push for inspection, and the token.
   */
  readonly outcome: 'accepted' | 'gone' | 'refused' | 'retry' | 'stop' | 'wrong' | 'unknown'
  /** The HTTP status, or undefined without a response. */
  readonly status?: number
  /** Apple's reason, such as `BadDeviceToken`. Without a response: `unreachable`, `timed-out`, or `connection-lost`. */
  readonly reason?: string
  /** With `gone`: since when the token is invalid, in milliseconds since 1970. */
  readonly timestamp?: number
  /** Without a response: the system's code, such as `ECONNREFUSED`, if there is one. */
  readonly detail?: string
}

/**
 * Sends pushes to Apple over one HTTP/2 connection, which it opens when needed and replaces when it ends. Keep one for the life of
 * the process. It never retries by itself.
 */
export class APNs {
  /**
   * @param settings `key`: the text of Apple's .p8 file. `keyID` and `teamID`: 10 characters each. `environment`: "production", or
   *   "sandbox" for builds from Xcode. `timeoutSeconds`: how long to wait for a response, 1 to 600; 30 by default. `server` and `ca`:
   *   another server's https URL and certificate authority in PEM, for tests with `device-simulator apns`.
   * @throws SettingError
   */
  constructor(settings: {
    key: string | Buffer
    keyID: string
    teamID: string
    environment?: 'production' | 'sandbox'
    server?: string
    ca?: string | Buffer
    timeoutSeconds?: number
  })

  readonly environment?: 'production' | 'sandbox'

  /**
   * Sends a push to a device's token, in hexadecimal. Without a response, the outcome is `retry`: the push may have arrived, and is
   * shown once even if it's sent again. Send at most some hundred at once.
   * @throws SettingError (`push`, `device-token`); nothing else
   */
  send(push: { readonly payload: Uint8Array | string; readonly headers: Readonly<Record<string, string>> }, token: string): Promise<APNsAnswer>

  /** Closes the connection after the responses to the pushes in transit. A later push opens another one. */
  close(): void
}

/** Returns a new sender's secret, PUSH-SENDER-SECRET-KEY-1.... Anyone who has it can send in your name: keep it in a secret store. */
export function generateSenderSecret(): string

/** `code` is stable and for programs; `message` and `hint` are for people. None contains a secret or a value of the input. */
export class SealedPushError extends Error {
  readonly code: string
  readonly hint: string
}
export class KeyTextError extends SealedPushError {}
/** `member` is the path of the wrong member, such as `data.order.createdAt`, if there is one. */
export class ContentError extends SealedPushError {
  readonly member?: string
}
/** `excess` is the number of bytes of JSON by which the content is too large. */
export class TooLargeError extends SealedPushError {
  readonly excess: number
}
export class SettingError extends SealedPushError {}
export class RecordError extends SealedPushError {}
export class ChallengeError extends SealedPushError {}
export class ReceiptError extends SealedPushError {}
export class FileError extends SealedPushError {}
