/** A finished push. Store `payload` and `headers` with it, and send the same of both in each retry. */
export interface Push {
  /** The request's body: at most 4,096 bytes. Send it unchanged. */
  readonly payload: Buffer
  /** apns-topic, apns-push-type, apns-priority, apns-id, apns-collapse-id, and apns-expiration if there is one. */
  readonly headers: Readonly<Record<string, string>>
  /** The sealed message's own ID. */
  readonly messageID: string
  /** The key it is sealed to, push1... or pushpq1.... */
  readonly recipient: string
  /** The payload as an object, for clients that write the JSON themselves. */
  readonly message: Record<string, unknown>
}

/** Text in the clear: visible, or Apple's texts and loc-keys; at most 1,024 bytes of JSON. */
export type SafeDefault =
  | string
  | {
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

/**
 * What is sealed: Specification 4.6 has all members. `id`, `topic` and `sent` are filled in if they are missing, and `expires` if the
 * device keeps keys for less than 30 days. What the app keeps for itself beside these goes into `data`.
 */
export interface Content {
  id?: string
  topic?: string
  sent?: number
  expires?: number
  'collapse-id'?: string
  alert: { title?: string; subtitle?: string; body?: string }
  badge?: number
  /** Added to the number that the device has counted: 1 to 99, without `badge`. */
  'badge-add'?: number
  sound?: string | { critical?: 0 | 1; name?: string; volume?: number }
  'thread-id'?: string
  category?: string
  'interruption-level'?: 'passive' | 'active' | 'time-sensitive' | 'critical'
  'relevance-score'?: number
  chart?: {
    kind: 'line' | 'area' | 'bar' | 'sparkline'
    points: (number | null)[]
    labels?: string[]
    prefix?: string
    suffix?: string
    color?: string
    axes?: boolean
  }
  person?: { name: string; id: string; 'image-data'?: string }
  template?: true
  data?: unknown
}

/** Content that removes notifications (Specification 21). */
export interface Withdrawal {
  id?: string
  topic?: string
  sent?: number
  expires?: number
  'collapse-id'?: string
  badge?: number
  data?: unknown
  withdraw: { message: string; filtered?: boolean } | { thread: string; filtered?: boolean }
}

export interface SealOptions {
  /** 10, at once, or 5, when it suits the device's battery. */
  priority?: 10 | 5
  /**
   * Until when Apple keeps it for a device that is away: whole Unix seconds, not a lifetime, or 0 for a single attempt. Without it
   * the content's `expires` counts.
   */
  expiration?: number
  /** Unix seconds; without it the clock's. */
  now?: number
}

/**
 * Seals the messages of one server for one app. Keep one for as long as the server runs.
 *
 * Each message has a context of its own (Specification 3.5.8), so one Sender is right in workers, forks and clones, too.
 */
export class Sender {
  /**
   * @param secret PUSH-SENDER-SECRET-KEY-1..., whose public half the app trusts.
   * @param settings `topic`: the app's bundle ID. `safeDefault`: what travels in the clear, and what is shown where the app's
   *   extension could not run. `padding`: how much an observer learns about lengths: "buckets" (256, 512, 1,024, 2,048 or all that
   *   fits), "full" (nothing) or "none" (the length). `requireHybrid`: seals to hybrid keys alone, pushpq1...; off by default.
   *   Other settings are refused.
   * @throws KeyTextError, SettingError
   */
  constructor(
    secret: string,
    settings: { topic: string; safeDefault?: SafeDefault; padding?: 'buckets' | 'full' | 'none'; requireHybrid?: boolean },
  )

  /** The app that it seals for. */
  readonly topic: string
  /** What the app trusts, pushsender1.... */
  readonly publicKey: string
  /**
   * How many bytes of content JSON fit into one push, what is filled in among them; 1,088 less for a hybrid key. With `requireHybrid`
   * it is the figure for hybrid keys.
   */
  readonly maxContentBytes: number

  /**
   * Seals content for a device: to the newest of its keys that is proven. The content is not changed.
   * @throws RecordError (`unproven`, `expired`, `not-hybrid`, `expires-too-late`), ContentError, TooLargeError, SettingError
   */
  seal(content: Content | Withdrawal, device: Device, options?: SealOptions): Push

  /**
   * Seals content to a key, push1... or pushpq1..., that no record vouches for: whoever put it into your list reads the message.
   * Nothing says how long the device keeps that key, so `expires` is neither filled in nor compared with it.
   * @throws KeyTextError (`unsupported`: a hybrid key, on a Node without ML-KEM), RecordError (`not-hybrid`), ContentError,
   *   TooLargeError, SettingError
   */
  sealUnverified(content: Content | Withdrawal, recipient: string, options?: SealOptions): Push
}

/** What is stored of a device: JSON. Nothing in it is secret, but whoever can change it decides what is sealed to. */
export interface DeviceState {
  enrollment: string
  record: string
  proven?: string[]
  challenges?: { recipient: string; expires: number; hash: string }[]
}

/**
 * What a server knows of one device of one account: whose records are believed, the newest of them, and which of its keys are
 * proven. Keep `toJSON()` with the account: read, change and store it in one transaction. A call that throws has changed nothing.
 */
export class Device {
  /** A device as it was stored; a record that has expired since is taken. @throws KeyTextError, RecordError */
  static fromJSON(state: DeviceState): Device

  /**
   * Pins the key that has signed a device's first record. Only inside the account's own login; and only where no other account
   * has a device with the same `enrollment` that has proven a key (Specification 11.5.8).
   * @throws RecordError, SettingError
   */
  static enroll(record: string, options: { topic: string; now?: number }): Device

  private constructor()

  /**
   * Takes a newer record, or the same once more. Returns the keys that are no longer in it.
   * @throws RecordError; for `rolled-back` and `conflicting` give the device the newest record (Specification 11.4.5).
   */
  update(record: string, options?: { now?: number }): string[]

  /**
   * A question to the device, pushchallenge...., which only the holder of a key can answer within ten minutes. It asks for the
   * newest key that is not proven, or for `recipient`. Store the device before the question goes out. 16 wait at most.
   * @throws ChallengeError (`nothing-to-ask`, `not-in-record`), SettingError
   */
  challenge(sender: Sender, options?: { recipient?: string; now?: number }): string

  /**
   * Takes the device's answer, pushanswer...., and returns the key that is now proven. It counts only inside the login of the
   * account whose device was asked.
   * @throws ChallengeError (`malformed`, `wrong-answer`, `not-in-record`, `late`), SettingError
   */
  answer(answer: string, options?: { now?: number }): string

  /**
   * What is sealed to now: the newest key that is proven, push1... or pushpq1....
   * @throws RecordError (`unproven`, `expired`, `not-yet-valid`)
   */
  recipient(options?: { now?: number }): string

  /** The pinned key, pushenrollment1.... */
  readonly enrollment: string
  /** The newest record, for a device whose own was refused as `rolled-back` or `conflicting`. */
  readonly record: string
  readonly topic: string
  readonly counter: bigint
  /** When the record ends, in Unix seconds: afterwards nothing is sealed to this device. */
  readonly expires: number
  /** How many days the device keeps a retired key, by its record: nothing sealed to it may expire later (Specification 11.4.6). */
  readonly keeps: number
  /** The record's keys, newest first; those that have answered a challenge, and those that have not. */
  readonly recipients: string[]
  readonly proven: string[]
  readonly unproven: string[]

  toJSON(): Required<DeviceState>
}

/** A new sender's secret, PUSH-SENDER-SECRET-KEY-1...: whoever has it can send in your name. Keep it in a secret store. */
export function generateSenderSecret(): string

/** All errors: `code` is stable and for programs, `message` and `hint` are for people. None holds a secret or any of the input. */
export class SealedPushError extends Error {
  readonly code: string
  readonly hint: string
}
export class KeyTextError extends SealedPushError {}
/** `member` is the wrong member's name, such as `alert.titel`, if it is about one. */
export class ContentError extends SealedPushError {
  readonly member?: string
}
/** `excess` is by how many bytes of JSON. */
export class TooLargeError extends SealedPushError {
  readonly excess: number
}
export class SettingError extends SealedPushError {}
export class RecordError extends SealedPushError {}
export class ChallengeError extends SealedPushError {}
