// Receipts, in which a device states that it has shown a message (ContentParts 16). index.d.ts documents the members.

import { inspect } from 'node:util'
import { KeyTextError, ReceiptError, SettingError } from './errors.js'
import { decodeSecret, SENDER_SECRET } from './protocol/key-text.js'
import { check, REASONS, serverKey } from './protocol/receipts.js'
import { encodeBase64, isTopic, options, seconds } from './protocol/text.js'

const MOST_SENDERS = 16

/** Checks the receipts of an app's devices. */
export class ReceiptReceiver {
  #servers

  constructor(secrets, settings) {
    const { topic } = options(settings, 'topic')
    if (!Array.isArray(secrets)) throw new KeyTextError('not-a-key')
    if (!isTopic(topic)) throw new SettingError('topic')
    this.#servers = secrets.slice(0, MOST_SENDERS).map((secret) => {
      const seed = decodeSecret(SENDER_SECRET, secret)
      const key = serverKey(seed, topic)
      seed.fill(0)
      return key
    })
  }

  check(body, settings) {
    const now = seconds(options(settings, 'now').now)
    if (!(body instanceof Uint8Array)) throw new ReceiptError('wrong-size')
    const { id, number, created, elapsed, counts } = check(Buffer.from(body), this.#servers, now)
    const known = counts.slice(0, REASONS.length).map((count, index) => [REASONS[index], count])
    return {
      device: encodeBase64(id),
      number: encodeBase64(number),
      shownAt: created,
      elapsedMilliseconds: elapsed,
      failures: Object.fromEntries(known.filter(([, count]) => count > 0)),
      otherFailures: counts.slice(REASONS.length).reduce((sum, count) => sum + count, 0),
    }
  }

  [inspect.custom]() {
    return `ReceiptReceiver(${this.#servers.length} senders)`
  }
}
