// HPKE (RFC 9180) in mode_auth, or mode_auth_psk for hybrid keys, and the envelopes made with it (Specification, section 3). Each
// message has its own context.

import { createCipheriv, createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, randomBytes } from 'node:crypto'
import { blake2b } from './blake2b.js'
import { isHybrid } from './key-text.js'
import { CIPHERTEXT, encapsulate, PUBLIC } from './mlkem.js'
import { encodeBase64 } from './text.js'

/** The length of the header of an envelope to this recipient (3.1), and of everything except the plaintext. */
export const headerLength = (recipient) => 53 + (isHybrid(recipient) ? CIPHERTEXT : 0)
export const overhead = (recipient) => headerLength(recipient) + 16
export const MESSAGE = 'sealedpush/v1'
export const CHALLENGE = 'sealedpush/v1 challenge'

const KEM = Buffer.from('KEM\x00\x20', 'latin1')
const HPKE = Buffer.from('HPKE\x00\x20\x00\x01\x00\x03', 'latin1')
// The bytes before a secret's 32 bytes in PKCS #8 (RFC 8410), and a curve's name in a JWK (RFC 8037).
const CURVES = {
  x25519: [Buffer.from('302e020100300506032b656e04220420', 'hex'), 'X25519'],
  ed25519: [Buffer.from('302e020100300506032b657004220420', 'hex'), 'Ed25519'],
}

/** Returns a private key for a secret's 32 bytes. Takes about 0.3 ms, because OpenSSL reads it slowly. */
export function privateKey(bytes, curve = 'x25519') {
  const key = Buffer.concat([CURVES[curve][0], bytes])
  const made = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  key.fill(0)
  return made
}

export const publicKey = (bytes, curve = 'x25519') =>
  createPublicKey({ key: { kty: 'OKP', crv: CURVES[curve][1], x: encodeBase64(bytes) }, format: 'jwk' })

/** Returns the 32 bytes of a secret's public key. */
export const publicBytes = (secret) => Buffer.from(createPublicKey(secret).export({ format: 'jwk' }).x, 'base64url')

export const hmac = (key, message) => createHmac('sha256', key).update(message).digest()
export const hkdfExtract = (salt, keyMaterial) => hmac(salt, keyMaterial)

/** One block of HKDF-SHA256: at most 32 bytes, which is enough here. */
export const hkdfExpand = (key, info, length) => hmac(key, Buffer.concat([Buffer.from(info), Buffer.of(1)])).subarray(0, length)

/** Derives a key for one purpose from a seed, bound to the texts (3.7). */
export function derive(seed, label, ...texts) {
  const parts = texts.flatMap((text) => {
    const length = Buffer.alloc(8)
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)))
    return [length, Buffer.from(text)]
  })
  return hkdfExpand(hkdfExtract('', seed), Buffer.concat([Buffer.from(`${label}\0`), ...parts]), 32)
}

export const senderScalar = (seed) => derive(seed, 'sealedpush/v1 sender scalar')

const suiteOf = (recipient) => (isHybrid(recipient) ? 3 : 1)

function hint(label, suite, ...keys) {
  const message = Buffer.concat([Buffer.from(`${label}\0`), Buffer.of(suite), ...keys])
  return createHash('sha256').update(message).digest().subarray(0, 4)
}

// The two hints of the header (3.2).
export const recipientHint = (suite, enc, recipient) => hint('sealedpush/v1 recipient hint', suite, enc, recipient)
export const senderHint = (suite, enc, recipient, sender) => hint('sealedpush/v1 sender hint', suite, enc, recipient, sender)

const labeledExtract = (suite, salt, label, keyMaterial) =>
  hkdfExtract(salt, Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label), keyMaterial]))

const labeledExpand = (suite, key, label, info, length) =>
  hkdfExpand(key, Buffer.concat([Buffer.of(0, length), Buffer.from('HPKE-v1'), suite, Buffer.from(label), info]), length)

const NOTHING = Buffer.alloc(0)

/**
 * Returns the keys that a sender, a recipient, a topic, and an ephemeral key agree on (3.4.2 to 3.4.4). For a hybrid recipient, `psk`
 * and `pskID` are ML-KEM's secret and ciphertext (3.8.3). Wipes `dh` and `psk`.
 */
export function keySchedule(dh, enc, recipient, sender, topic, purpose, psk = NOTHING, pskID = NOTHING) {
  const eaePRK = labeledExtract(KEM, '', 'eae_prk', dh)
  const sharedSecret = labeledExpand(KEM, eaePRK, 'shared_secret', Buffer.concat([enc, recipient.subarray(-32), sender]), 32)
  const [mode, name] = isHybrid(recipient) ? [3, `${purpose} hybrid`] : [2, purpose]
  const info = Buffer.concat([Buffer.from(`${name}\0${topic}`), pskID])
  const hashes = [labeledExtract(HPKE, '', 'psk_id_hash', pskID), labeledExtract(HPKE, '', 'info_hash', info)]
  const schedule = Buffer.concat([Buffer.of(mode), ...hashes])
  const secret = labeledExtract(HPKE, sharedSecret, 'secret', psk)
  const key = labeledExpand(HPKE, secret, 'key', schedule, 32)
  const baseNonce = labeledExpand(HPKE, secret, 'base_nonce', schedule, 12)
  const exporter = labeledExpand(HPKE, secret, 'exp', schedule, 32)
  const numberKey = labeledExpand(HPKE, exporter, 'sec', Buffer.from('sealedpush/v1 number'), 32)
  for (const each of [dh, psk, eaePRK, secret, exporter]) each.fill(0)
  return { sharedSecret, key, baseNonce, numberKey }
}

/**
 * Returns a new private key and its public key's 32 bytes. Node encodes the public key while it makes the pair: to export it later
 * may block the process forever, because Node 20 collects garbage while it holds the key's lock, which the pair's own disposal takes.
 */
function newEphemeral() {
  const { privateKey: secret, publicKey: encoded } = generateKeyPairSync('x25519', { publicKeyEncoding: { type: 'spki', format: 'der' } })
  return [secret, encoded.subarray(-32)]
}

/** Makes a context with new ephemeral keys. Only test vectors pass them. `sender` is a private key. */
export function toSeal(sender, recipient, topic, purpose = MESSAGE, given, encapsulated) {
  const peer = publicKey(recipient.subarray(-32))
  const [psk, pskID] = encapsulated ?? (isHybrid(recipient) ? encapsulate(recipient.subarray(0, PUBLIC)) : [NOTHING, NOTHING])
  const [ephemeral, enc] = given ? [given, publicBytes(given)] : newEphemeral()
  const from = publicBytes(sender)
  const dh = agreed([ephemeral, peer], [sender, peer])
  const suite = suiteOf(recipient)
  const header = Buffer.concat([Buffer.of(suite), recipientHint(suite, enc, recipient), senderHint(suite, enc, recipient, from), enc])
  return { header, pskID, ...keySchedule(dh, enc, recipient, from, topic, purpose, psk, pskID) }
}

/** Returns the X25519 results of all pairs, concatenated. OpenSSL refuses a result of zero (3.3.3). */
export function agreed(...pairs) {
  const parts = pairs.map(([secret, peer]) => diffieHellman({ privateKey: secret, publicKey: peer }))
  const joined = Buffer.concat(parts)
  parts.forEach((part) => part.fill(0))
  return joined
}

/** Returns a new number for a plaintext (3.5.3). Only test vectors pass the random bytes. */
export const numberFor = (context, plaintext, random = randomBytes(16)) =>
  blake2b(16, Buffer.concat([random, plaintext]), context.numberKey).subarray(0, 12)

/** Returns base_nonce XOR the number (3.4.5). */
export const nonce = (baseNonce, number) => Buffer.from(baseNonce.map((byte, index) => byte ^ number[index]))

/** Returns the envelope of a plaintext (3.4.7), and wipes the single-use context. Only test vectors pass the number. */
export function seal(context, plaintext, number = numberFor(context, plaintext)) {
  const aad = Buffer.concat([context.header, number, context.pskID])
  const cipher = createCipheriv('chacha20-poly1305', context.key, nonce(context.baseNonce, number), { authTagLength: 16 })
  cipher.setAAD(aad, { plaintextLength: plaintext.length })
  const sealed = Buffer.concat([aad, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  for (const each of [context.sharedSecret, context.key, context.baseNonce, context.numberKey]) each.fill(0)
  return sealed
}
