// Opens a push as a device does (Specification, section 6, steps 1 to 5). Only `sealed-push/testing` uses this.

import crypto, { createDecipheriv, createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto'
import { ContentError, KeyTextError, OpenError } from '../errors.js'
import { isWithdrawing, parse } from './content.js'
import * as hpke from './hpke.js'
import { decode, HYBRID_IDENTITY, IDENTITY, isHybrid, isPublicKey } from './key-text.js'
import { CIPHERTEXT, isAvailable, PUBLIC } from './mlkem.js'
import { openSealedBox } from './sealed-box.js'
import { decodeBase64 } from './text.js'

const [AUTHENTICATED, ANONYMOUS, HYBRID] = [1, 2, 3]
const HEADERS = { [AUTHENTICATED]: 53, [ANONYMOUS]: 5, [HYBRID]: 53 + CIPHERTEXT }
const OVERHEADS = { [AUTHENTICATED]: 69, [ANONYMOUS]: 53, [HYBRID]: 69 + CIPHERTEXT }
const MOST_TRIES = 16

/** A device's key: the X25519 private key, the ML-KEM private key if it is hybrid (3.8.2), and the public key. */
export class Identity {
  constructor(seed, hybrid = false) {
    if (hybrid && !isAvailable) throw new KeyTextError('unsupported')
    this.scalar = hpke.privateKey(hybrid ? hpke.derive(seed, 'sealedpush/v1 device scalar') : seed)
    this.recipient = hpke.publicBytes(this.scalar)
    if (!hybrid) return
    const expanded = hkdfSync('sha256', seed, '', 'sealedpush/v1 device ml-kem\0', 64)
    // PKCS #8 for an ML-KEM-768 key given as a seed.
    const key = Buffer.concat([Buffer.from('3054020100300b060960864801650304040204428040', 'hex'), Buffer.from(expanded)])
    this.mlkem = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    const encapsulationKey = createPublicKey(this.mlkem).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC)
    this.recipient = Buffer.concat([encapsulationKey, this.recipient])
  }

  /** Reads either kind of identity from its text. */
  static read(text) {
    const hybrid = typeof text === 'string' && /^push-pq-secret-key-1/i.test(text)
    return new Identity(decode(hybrid ? HYBRID_IDENTITY : IDENTITY, text), hybrid)
  }
}

/** Returns the value of a payload's field, which may be anything. */
export function fieldOf(payload) {
  try {
    const text = payload instanceof Uint8Array ? decodeUTF8(payload) : payload
    const field = (typeof text === 'string' ? JSON.parse(text) : text)['custom-encrypted-message']
    if (field !== undefined) return field
  } catch {}
  throw new OpenError('malformed')
}

/** Opens a field's text. Returns the content, the envelope, and the identity and the sender that opened it. */
export function openField(text, { identities, senders, topic, now, allowAnonymous = false }) {
  const envelope = decodeBase64(text)
  if (envelope === null) throw new OpenError('malformed')
  const suite = envelope[0]
  if (!(suite in OVERHEADS)) throw new OpenError('unknown-suite')
  if (envelope.length <= OVERHEADS[suite]) throw new OpenError('malformed')
  const isAnonymous = suite === ANONYMOUS
  if (!isAnonymous && !isPublicKey(envelope.subarray(9, 41))) throw new OpenError('malformed')
  const { plaintext, ...opened } = openEnvelope(envelope, { identities, senders, topic, allowAnonymous }, OpenError)
  const content = checked(plaintext, topic, now, isAnonymous, opened.identity.retired)
  return { content, envelope, ...opened }
}

/** Steps 2 to 4, for challenges as well. Errors are of the given type. */
export function openEnvelope(envelope, { identities, senders, topic, allowAnonymous, purpose }, Failure) {
  const suite = envelope[0]
  const isAnonymous = suite === ANONYMOUS
  const enc = isAnonymous ? envelope.subarray(5, 37) : envelope.subarray(9, 41)
  const found = identities.filter(
    ({ recipient }) =>
      isHybrid(recipient) === (suite === HYBRID) && hpke.recipientHint(suite, enc, recipient).equals(envelope.subarray(1, 5)),
  )
  if (found.length === 0) throw new Failure('unknown-recipient')
  if (isAnonymous && !allowAnonymous) throw new Failure('anonymous-not-allowed')
  const isNamed = (recipient, sender) => hpke.senderHint(suite, enc, recipient, sender).equals(envelope.subarray(5, 9))
  const pairs = isAnonymous
    ? found.map((identity) => ({ identity }))
    : found.flatMap((identity) =>
        senders.filter((each) => isNamed(identity.recipient, each)).map((sender) => ({ identity, sender })))
  if (pairs.length === 0) throw new Failure('unknown-sender')
  for (const { identity, sender } of pairs.slice(0, MOST_TRIES)) {
    try {
      const plaintext = isAnonymous
        ? openSealedBox(identity.scalar, envelope.subarray(5))
        : decrypted(envelope, identity, sender, topic, purpose)
      if (plaintext !== null) return { plaintext, identity, sender }
    } catch {
      continue
    }
  }
  throw new Failure('rejected')
}

/** Opens an envelope (3.4, 3.8). Throws if it doesn't open. */
function decrypted(envelope, { scalar, mlkem, recipient }, sender, topic, purpose = hpke.MESSAGE) {
  const header = envelope.subarray(0, HEADERS[envelope[0]])
  const [enc, pskID] = [header.subarray(9, 41), header.subarray(53)]
  const dh = hpke.agreed([scalar, hpke.publicKey(enc)], [scalar, hpke.publicKey(sender)])
  const psk = mlkem && crypto.decapsulate(mlkem, pskID)
  const { key, baseNonce } = hpke.keySchedule(dh, enc, recipient, sender, topic, purpose, psk, pskID)
  const cipher = createDecipheriv('chacha20-poly1305', key, hpke.nonce(baseNonce, header.subarray(41, 53)), { authTagLength: 16 })
  cipher.setAAD(header, { plaintextLength: envelope.length - header.length - 16 })
  cipher.setAuthTag(envelope.subarray(-16))
  return Buffer.concat([cipher.update(envelope.subarray(header.length, -16)), cipher.final()])
}

/** Step 5, in the order of 6.4. `retired` is the time at which the identity retired, or undefined. */
function checked(plaintext, topic, now, isAnonymous, retired) {
  const content = parsed(plaintext)
  if (isAnonymous && isWithdrawing(content)) throw new OpenError('malformed-content')
  if (content.topic !== topic) throw new OpenError('topic')
  if (content.sent > retired + 7200) throw new OpenError('key-retired')
  if (content.sent - now > (isAnonymous ? 600 : 93600)) throw new OpenError('clock')
  if (now - content.sent > 2592000) throw new OpenError('too-old')
  if (now > content.expires + 600) throw new OpenError('expired')
  return content
}

function parsed(plaintext) {
  const end = plaintext.findLastIndex((byte) => byte !== 0)
  if (end < 1 || plaintext[end] !== 0x80) throw new OpenError('malformed-content')
  try {
    return parse(decodeUTF8(plaintext.subarray(0, end)))
  } catch (error) {
    const isExpected = [ContentError, SyntaxError, TypeError].some((type) => error instanceof type)
    throw isExpected ? new OpenError('malformed-content') : error
  }
}

/** Returns the text of UTF-8, or throws a TypeError. A byte order mark stays, so that JSON.parse refuses it. */
const decodeUTF8 = (bytes) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
