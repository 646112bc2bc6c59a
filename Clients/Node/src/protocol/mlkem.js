// The part of ML-KEM-768 (FIPS 203) that sealing needs, from node:crypto in Node 24.7 or later, with OpenSSL 3.5.

import crypto from 'node:crypto'

export const PUBLIC = 1184
export const CIPHERTEXT = 1088

// The bytes before a public key in its SubjectPublicKeyInfo, with ML-KEM-768's OID, 2.16.840.1.101.3.4.4.2.
const SPKI = Buffer.from('308204b2300b0609608648016503040402038204a100', 'hex')

/** Returns a new shared secret and its ciphertext. */
export function encapsulate(key) {
  const { sharedKey, ciphertext } = crypto.encapsulate({ key: Buffer.concat([SPKI, key]), format: 'der', type: 'spki' })
  return [sharedKey, ciphertext]
}

export const isAvailable = works()

/** Whether a key with coefficients of zero can be used. With an older OpenSSL, Node's function exists but fails. */
function works() {
  try {
    return encapsulate(Buffer.alloc(PUBLIC))[1].length === CIPHERTEXT
  } catch {
    return false
  }
}
