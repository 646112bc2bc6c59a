// Reads, checks, and opens grants (Docs/Grants.md), for their test vectors. Nothing uses grants yet, so the package has none of this.

import { createDecipheriv, diffieHellman, verify } from 'node:crypto'
import { RecordError } from '../src/errors.js'
import { hmac, privateKey, publicBytes, publicKey } from '../src/protocol/hpke.js'
import { isPublicKey } from '../src/protocol/key-text.js'
import { isOfLowOrder, isSigningKey } from '../src/protocol/points.js'
import { checksum, signedMessage } from '../src/protocol/records.js'
import { isTopic, LATEST, unarmor } from '../src/protocol/text.js'

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^${LABEL}(\\.${LABEL})*$`)

const require = (holds, code) => {
  if (!holds) throw new RecordError(code)
}

export function readGrant(text) {
  const all = unarmor('pushgrant.', text, 141, 8196)
  require(all !== null, 'malformed')
  const data = all.subarray(0, -4)
  require(checksum(data).equals(all.subarray(-4)), 'wrong-checksum')
  require(data[0] === 3, 'wrong-type')
  require(data[1] === 3, 'unsupported')
  let at = 58
  const take = (count) => {
    require(at + count <= data.length, 'malformed')
    at += count
    return data.subarray(at - count, at)
  }
  const takeNumber = (count) => take(count).readUIntBE(0, count)
  const takeKey = () => ({ algorithm: takeNumber(1), bytes: take(takeNumber(2)) })
  const signer = data.subarray(2, 34)
  const [counter, created, expires] = [34, 42, 50].map((place) => data.readBigUInt64BE(place))
  const keeps = takeNumber(1)
  const [topic, host] = [0, 0].map(() => take(takeNumber(1)).toString('latin1'))
  const [relay, sender] = [takeKey(), takeKey()]
  const sealed = take(takeNumber(2))
  const signature = take(64)
  const isKey = ({ algorithm, bytes }) => bytes.length > 0 && (algorithm !== 1 || isPublicKey(bytes))
  require(at === data.length && keeps === 0 && counter < 2n ** 62n, 'malformed')
  require(created < expires && expires <= LATEST && expires - created <= 34560000n, 'malformed')
  require(isTopic(topic) && host.length <= 253 && HOST.test(host), 'malformed')
  require(isKey(relay) && isKey(sender) && !(relay.algorithm === sender.algorithm && relay.bytes.equals(sender.bytes)), 'malformed')
  require(relay.algorithm !== 1 || [0, 150].includes(sealed.length), 'malformed')
  require(isSigningKey(signer), 'malformed')
  const message = signedMessage(data.subarray(0, -64))
  const isSigned = !isOfLowOrder(signature.subarray(0, 32)) && verify(null, message, publicKey(signer, 'ed25519'), signature)
  require(isSigned, 'bad-signature')
  require(relay.algorithm === 1 && sender.algorithm === 1, 'unsupported')
  return {
    signer, counter, created: Number(created), expires: Number(expires), topic, host, relay: relay.bytes, sender: sender.bytes, sealed,
    data, unsealed: data.subarray(0, -64 - sealed.length),
  }
}

export function checkGrant(grant, { pinned, host, relay, sender, topic, known, now }) {
  require(pinned === undefined || grant.signer.equals(pinned), 'foreign-signer')
  require(grant.host === host && grant.relay.equals(relay), 'foreign-relay')
  require(grant.sender.equals(sender), 'foreign-sender')
  require(grant.topic === topic, 'other-topic')
  require(now <= grant.expires, 'expired')
  require(grant.created - now <= 93600, 'not-yet-valid')
  if (known !== undefined && known.signer.equals(grant.signer) && known.topic === grant.topic && known.sender.equals(grant.sender)) {
    require(grant.counter >= known.counter, 'rolled-back')
    require(grant.counter > known.counter || grant.data.equals(known.data), 'conflicting')
  }
  require(grant.sealed.length > 0, 'revoked')
}

const KEM = Buffer.from('KEM\x00\x20', 'latin1')
const HPKE = Buffer.from('HPKE\x00\x20\x00\x01\x00\x03', 'latin1')

// One block of HKDF is enough for each value.
const extract = (suite, salt, label, input) => hmac(salt, Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label), input]))
const expand = (suite, key, label, info, length) =>
  hmac(key, Buffer.concat([Buffer.of(0, length), Buffer.from('HPKE-v1'), suite, Buffer.from(label), info, Buffer.of(1)])).subarray(0, length)

/** Opens the sealed token, and returns its values and those of 23.2. */
export function openToken(grant, secretBytes) {
  const secret = privateKey(secretBytes)
  const enc = grant.sealed.subarray(0, 32)
  require(isPublicKey(enc), 'rejected')
  const dh = diffieHellman({ privateKey: secret, publicKey: publicKey(enc) })
  const none = Buffer.alloc(0)
  const prk = extract(KEM, '', 'eae_prk', dh)
  const sharedSecret = expand(KEM, prk, 'shared_secret', Buffer.concat([enc, publicBytes(secret)]), 32)
  const info = Buffer.from(`sealedpush/v1 grant\0${grant.topic}`)
  const context = Buffer.concat([Buffer.of(0), extract(HPKE, '', 'psk_id_hash', none), extract(HPKE, '', 'info_hash', info)])
  const agreed = extract(HPKE, sharedSecret, 'secret', none)
  const key = expand(HPKE, agreed, 'key', context, 32)
  const baseNonce = expand(HPKE, agreed, 'base_nonce', context, 12)
  const cipher = createDecipheriv('chacha20-poly1305', key, baseNonce, { authTagLength: 16 })
  cipher.setAAD(grant.unsealed, { plaintextLength: 102 })
  cipher.setAuthTag(grant.sealed.subarray(-16))
  let plaintext
  try {
    plaintext = Buffer.concat([cipher.update(grant.sealed.subarray(32, -16)), cipher.final()])
  } catch {
    throw new RecordError('rejected')
  }
  const [environment, length] = plaintext
  require([1, 2].includes(environment) && length >= 1 && length <= 100, 'rejected')
  require(plaintext.subarray(2 + length).every((byte) => byte === 0), 'rejected')
  const token = plaintext.subarray(2, 2 + length)
  return { environment: ['production', 'sandbox'][environment - 1], token, plaintext, enc, sharedSecret, key, baseNonce }
}
