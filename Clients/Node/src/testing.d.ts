import { SealedPushError } from './index.js'

/**
 * A phone for trials and for a back end's own tests: one app on one device, as Specification 6, 7.2, 11, and 13.3 describe it. Never
 * ship it in an app: its keys and ledger exist only in memory, unprotected, and it doesn't show notifications.
 */
export class Phone {
  /**
   * @param settings `topic`: the app's bundle ID. `trusting`: the senders' public keys, pushsender1.... `hybrid`: whether new
   *   keys are hybrid, which needs ML-KEM; off by default. `keeps`: the number of days, from 1 to 31, for which the record promises to
   *   keep a retired key; 30 by default. `allowAnonymous`: whether anonymous messages open. `identities`, newest first, and
   *   `enrollmentSecret`: the keys' secrets, for a test that needs the same keys in each run; by default, the phone creates keys.
   * @throws KeyTextError (`unsupported`: a hybrid key without ML-KEM), SettingError
   */
  constructor(settings: {
    topic: string
    trusting?: string[]
    hybrid?: boolean
    keeps?: number
    allowAnonymous?: boolean
    identities?: string[]
    enrollmentSecret?: string
  })

  /** The senders' public keys that the phone trusts, pushsender1.... A test may change the list. */
  trusting: string[]
  /** The app's bundle ID. */
  readonly topic: string
  /** The most recently signed record, pushrecord....: pass it to `Device.enroll` and `Device.update`. */
  readonly record: string
  /** The public key that verifies the phone's records, pushenrollment1.... */
  readonly enrollment: string
  /** The public keys in use, push1... or pushpq...., newest first. */
  readonly recipients: string[]

  /**
   * Adds a new key, signs a record, and returns the public key. `hybrid` overrides the phone's setting.
   * @throws KeyTextError (`unsupported`)
   */
  rotate(options?: { hybrid?: boolean }): string

  /** Retires all keys but the newest, as a device does once a message has opened under the newest, and signs a record. */
  retire(options?: { now?: number }): void

  /**
   * Signs and returns a new record. The options are for tests of records that a server refuses. Without them, the record has the
   * next counter, begins now, lasts 400 days, and names the keys in use.
   */
  signRecord(options?: { counter?: number | bigint; created?: number; lifetime?: number; keeps?: number; recipients?: string[] }): string

  /**
   * Leaves its accounts, as a device does at logout: destroys its keys, makes a new one, signs a record, and returns the leaving,
   * pushleaving...., for the service with this name; by default, the topic.
   */
  leave(options?: { service?: string }): string

  /**
   * Returns the answer to a challenge, pushanswer....
   * @throws ChallengeError (`malformed`, `unknown-recipient`, `unknown-sender`, `rejected`, `foreign-enrollment`)
   */
  answer(challenge: string): string

  /**
   * Opens a push and returns its content. Each call counts as a separate delivery: the same push again is `replayed`.
   * @param payload The body of the request to Apple, as it was sent or as an object.
   * @param options `now`: Unix seconds; by default, the current time.
   * @throws OpenError: its `code` is the reason of Specification 6.1 and 6.4, such as `rejected`
   */
  open(payload: Uint8Array | string | object, options?: { now?: number }): Record<string, any>

  /**
   * Returns the receipt that opened content requests, or undefined. Post it to `content.receipt.url`. It counts the pushes that have
   * not opened since the last one.
   */
  receipt(content: Record<string, any>, options?: { elapsedMilliseconds?: number; now?: number }): Buffer | undefined
}

/** A push doesn't open (Specification 6.1). */
export class OpenError extends SealedPushError {}
