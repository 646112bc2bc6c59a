// Tests/Vectors/Grants.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signedMessage } from '../src/protocol/records.js'
import * as keyText from '../src/protocol/key-text.js'
import { checkGrant, openToken, readGrant } from './grants.js'
import { codeOf, readVectors } from './support.js'

describe('Tests/Vectors/Grants', () => {
  it('has grants, which are accepted and opened, or refused with the code', () => {
    const vectors = readVectors('Grants/')
    assert.equal(vectors.length, 93)
    for (const [name, values] of vectors) {
      const bytes = (key) => Buffer.from(values[key], 'hex')
      let grant
      let opened
      const code = codeOf(() => {
        const known = 'known' in values ? readGrant(values.known) : undefined
        grant = readGrant(values.grant)
        const pinned = 'pinned' in values ? keyText.decode(keyText.ENROLLMENT, values.pinned) : undefined
        const sender = keyText.decode(keyText.SENDER, values.sender)
        checkGrant(grant, { ...values, pinned, relay: bytes('relay'), sender, known, now: Number(values.now) })
        if (values.role === 'relay') opened = openToken(grant, bytes('relay-secret'))
      })
      assert.equal(code ?? 'accepted', values.outcome, name)
      if (opened === undefined) continue
      assert.equal(opened.environment, values.environment, name)
      const expected = { ...opened, signed: signedMessage(grant.data.subarray(0, -64)) }
      const names = { sharedSecret: 'shared-secret', baseNonce: 'base-nonce' }
      for (const key of ['token', 'plaintext', 'enc', 'sharedSecret', 'key', 'baseNonce', 'signed']) {
        assert.equal(expected[key].toString('hex'), values[names[key] ?? key], `${name}: ${key}`)
      }
    }
  })
})
