// HPKE (RFC 9180) in mode_auth, and the envelopes made with it (Specification, section 3). One context a message (3.5.8).

import { createCipheriv, createHmac, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto'
import { keyID } from './key-text.js'
import { encodeBase64 } from './text.js'

export const AUTHENTICATED = 1
export const OVERHEAD = 61
export const MESSAGE = 'sealedpush/v1'
export const CHALLENGE = 'sealedpush/v1 challenge'

const KEM = Buffer.from('KEM\x00\x20', 'latin1')
const HPKE = Buffer.from('HPKE\x00\x20\x00\x01\x00\x03', 'latin1')
// What stands before a secret's 32 bytes in PKCS #8 (RFC 8410), and a curve's name in a JWK (RFC 8037).
const CURVES = {
  x25519: [Buffer.from('302e020100300506032b656e04220420', 'hex'), 'X25519'],
  ed25519: [Buffer.from('302e020100300506032b657004220420', 'hex'), 'Ed25519'],
}

/** A secret's 32 bytes as node:crypto holds them. About 0.3 ms: OpenSSL is slow to read them. */
export function privateKey(bytes, curve = 'x25519') {
  const key = Buffer.concat([CURVES[curve][0], bytes])
  const made = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  key.fill(0)
  return made
}

export const publicKey = (bytes, curve = 'x25519') =>
  createPublicKey({ key: { kty: 'OKP', crv: CURVES[curve][1], x: encodeBase64(bytes) }, format: 'jwk' })

/** The 32 bytes of a secret's public half. */
export const publicBytes = (secret) => Buffer.from(createPublicKey(secret).export({ format: 'jwk' }).x, 'base64url')

export const hmac = (key, message) => createHmac('sha256', key).update(message).digest()
export const hkdfExtract = (salt, keyMaterial) => hmac(salt, keyMaterial)

/** One block of HKDF-SHA256: at most 32 bytes, and nothing here needs more. */
export const hkdfExpand = (key, info, length) => hmac(key, Buffer.concat([Buffer.from(info), Buffer.of(1)])).subarray(0, length)

const labeledExtract = (suite, salt, label, keyMaterial) =>
  hkdfExtract(salt, Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label), keyMaterial]))

const labeledExpand = (suite, key, label, info, length) =>
  hkdfExpand(key, Buffer.concat([Buffer.of(0, length), Buffer.from('HPKE-v1'), suite, Buffer.from(label), info]), length)

const NOTHING = Buffer.alloc(0)
const PSK_ID_HASH = labeledExtract(HPKE, '', 'psk_id_hash', NOTHING)

/** What one sender, one recipient, one topic and one ephemeral key agree on (3.4.2 to 3.4.4). `dh` is wiped. */
export function keySchedule(dh, enc, recipient, sender, topic, purpose) {
  const eaePRK = labeledExtract(KEM, '', 'eae_prk', dh)
  const sharedSecret = labeledExpand(KEM, eaePRK, 'shared_secret', Buffer.concat([enc, recipient, sender]), 32)
  const infoHash = labeledExtract(HPKE, '', 'info_hash', Buffer.from(`${purpose}\0${topic}`))
  const schedule = Buffer.concat([Buffer.of(2), PSK_ID_HASH, infoHash])
  const secret = labeledExtract(HPKE, sharedSecret, 'secret', NOTHING)
  const key = labeledExpand(HPKE, secret, 'key', schedule, 32)
  const baseNonce = labeledExpand(HPKE, secret, 'base_nonce', schedule, 12)
  for (const each of [dh, eaePRK, secret]) each.fill(0)
  return { sharedSecret, key, baseNonce }
}

/** The agreement of a new ephemeral key. Only test vectors give one. `sender` is a private key. */
export function toSeal(sender, recipient, topic, purpose = MESSAGE, ephemeral = generateKeyPairSync('x25519').privateKey) {
  const peer = publicKey(recipient)
  const enc = publicBytes(ephemeral)
  const from = publicBytes(sender)
  const dh = agreed([ephemeral, peer], [sender, peer])
  const header = Buffer.concat([Buffer.of(AUTHENTICATED), keyID(recipient), keyID(from), enc])
  return { header, ...keySchedule(dh, enc, recipient, from, topic, purpose) }
}

/** X25519 of each pair, joined. OpenSSL refuses a result of zero (3.3.3). */
export function agreed(...pairs) {
  const parts = pairs.map(([secret, peer]) => diffieHellman({ privateKey: secret, publicKey: peer }))
  const joined = Buffer.concat(parts)
  parts.forEach((part) => part.fill(0))
  return joined
}

/** base_nonce XOR the number, which changes the last 4 bytes only (3.4.5). */
export function nonce(baseNonce, number) {
  const made = Buffer.from(baseNonce)
  made.writeUInt32BE((made.readUInt32BE(8) ^ number) >>> 0, 8)
  return made
}

/** The envelope of a plaintext (3.4.7). The context is used for this one message, and wiped. */
export function seal(context, plaintext, number = 0) {
  const aad = Buffer.concat([context.header, Buffer.alloc(4)])
  aad.writeUInt32BE(number, 41)
  const cipher = createCipheriv('chacha20-poly1305', context.key, nonce(context.baseNonce, number), { authTagLength: 16 })
  cipher.setAAD(aad, { plaintextLength: plaintext.length })
  const sealed = Buffer.concat([aad, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  for (const each of [context.sharedSecret, context.key, context.baseNonce]) each.fill(0)
  return sealed
}
