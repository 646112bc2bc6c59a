// Tests/Vectors: sealing, byte for byte; opening by the phone; and records and challenges.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { Device, Leaving, openFile, ReceiptReceiver, Sender } from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import { blake2b } from '../src/protocol/blake2b.js'
import { forSealing, isChart, pad, plain, plainObject, suspects } from '../src/protocol/content.js'
import * as files from '../src/protocol/files.js'
import * as hpke from '../src/protocol/hpke.js'
import * as keyText from '../src/protocol/key-text.js'
import * as receipts from '../src/protocol/receipts.js'
import { checkRecord, readRecord, signLeaving, signRecord } from '../src/protocol/records.js'
import { armor, encodeBase64 } from '../src/protocol/text.js'
import { isVisible } from '../src/protocol/visible.js'
import {
  codeOf, hasMLKEM, phoneOf, pythonsBlake2b, readVectors, TOPIC, valuesOf, VECTORS,
} from './support.js'

/** Faults that a parsed object no longer shows: a duplicate name, or bytes around the JSON. */
const BEFORE_PARSING = [
  'byte-order-mark', 'json-name-twice-escaped', 'json-name-twice-inside', 'json-name-twice-not-ascii', 'json-name-twice', 'padding-byte-after',
].map(
  (name) => `malformed-content-${name}`,
)

const bytes = (hex) => Buffer.from(hex, 'hex')

describe('Tests/Vectors', () => {
  it('has pushes to X25519 keys, which are sealed byte for byte', () => {
    const vectors = readVectors('.')
    assert.equal(vectors.length, 427)
    let count = 0
    for (const [name, values] of vectors) {
      if (values.outcome !== 'opened' || !('number' in values)) continue
      count += 1
      sealed(name, values)
    }
    assert.equal(count, 94)
  })

  it('has pushes to hybrid keys, which are sealed byte for byte', () => {
    const vectors = readVectors('Hybrid/').filter(([, values]) => values.outcome === 'opened')
    assert.equal(vectors.length, 7)
    for (const [name, values] of vectors) sealed(name, values)
  })

  it('has pushes, which a phone opens once or refuses with the reason', () => {
    const vectors = [...readVectors('.'), ...(hasMLKEM ? readVectors('Hybrid/') : [])].filter(([, values]) => 'field' in values || 'payload' in values)
    assert.equal(vectors.length, hasMLKEM ? 451 : 427)
    for (const [name, values] of vectors) {
      const phone = phoneOf(values)
      const open = () => phone.open(values.payload ?? { 'custom-encrypted-message': values.field }, { now: Number(values.now) })
      let content
      const code = codeOf(() => { content = open() })
      assert.equal(code ?? 'opened', values.outcome, name)
      if (code !== undefined) continue
      assert.deepEqual(content, JSON.parse(values.content), name)
      assert.equal(codeOf(open), 'replayed', name)
    }
  })

  it('has malformed contents, which are never sealed', () => {
    let count = 0
    for (const [name, values] of readVectors('.')) {
      if (values.outcome !== 'malformed-content' || BEFORE_PARSING.includes(name) || !values.plaintext) continue
      const plaintext = bytes(values.plaintext)
      const code = codeOf(() => {
        let content
        try {
          content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plaintext.subarray(0, plaintext.lastIndexOf(0x80))))
        } catch {
          return
        }
        count += 1
        forSealing(plainObject(content), values.topic, 0)
        assert.fail(`${name} was taken`)
      })
      assert.ok(code === undefined || code === 'malformed-content', name)
    }
    assert.equal(count, 141)
  })

  it('has records, which are accepted or refused with the code, and signed byte for byte', () => {
    const vectors = ['Records/', 'Hybrid/'].flatMap(readVectors).filter(([, { kind }]) => ['device', 'senders'].includes(kind))
    assert.equal(vectors.length, 121)
    for (const [name, values] of vectors) {
      const isDevice = values.kind === 'device'
      const [type, kind] = isDevice ? [1, keyText.ENROLLMENT] : [2, keyText.AUTHORITY]
      let read
      const code = codeOf(() => {
        const known = 'known' in values ? readRecord(type, values.known) : undefined
        read = readRecord(type, values.record)
        checkRecord(read, keyText.decode(kind, values.pinned), values.topic, known, Number(values.now))
      })
      const isUnsupported = !hasMLKEM && values.key?.startsWith('pushpq.')
      assert.equal(code ?? 'accepted', isUnsupported ? 'unsupported' : values.outcome, name)
      if (!('key' in values) || isUnsupported) continue
      const text = (key) => (isDevice ? keyText.encodeRecipient(key) : keyText.encode(keyText.SENDER, key))
      assert.deepEqual(read.keys.map(text), valuesOf(values, 'key'), name)
      // A record with keys of unknown algorithms isn't signed here.
      if (!('signer-secret' in values)) continue
      const secretKind = isDevice ? keyText.ENROLLMENT_SECRET : keyText.AUTHORITY_SECRET
      const secret = hpke.privateKey(keyText.decode(secretKind, values['signer-secret']), 'ed25519')
      assert.equal(signRecord(type, secret, read), values.record, name)
    }
  })

  it('has leavings, which are accepted or refused with the code, and signed byte for byte', () => {
    const vectors = readVectors('Leavings/')
    assert.equal(vectors.length, 46)
    for (const [name, values] of vectors) {
      const { leaving: text, topic, service } = values
      let leaving
      assert.equal(codeOf(() => { leaving = new Leaving(text, { topic, service }) }) ?? 'accepted', values.outcome, name)
      if (leaving === undefined) continue
      assert.deepEqual([leaving.enrollment, String(leaving.counter), leaving.topic], [values.enrollment, values.counter, topic], name)
      const secret = hpke.privateKey(keyText.decode(keyText.ENROLLMENT_SECRET, values['signer-secret']), 'ed25519')
      assert.equal(signLeaving(secret, leaving.counter, topic, service), text, name)
      if (!('record' in values)) continue
      const enrollment = keyText.encode(keyText.ENROLLMENT, readRecord(1, values.record).signer)
      assert.equal(leaving.ends(Device.fromJSON({ enrollment, record: values.record })), values.ends === 'yes', name)
    }
  })

  it('has challenges, which a phone opens or refuses with the reason', () => {
    const vectors = readVectors('Records/').filter(([, values]) => values.kind === 'challenge')
    assert.equal(vectors.length, 21)
    for (const [name, values] of vectors) {
      // The phone's enrollment differs from the vector's, so a challenge that opens is refused in the last step (11.5.3).
      const outcome = values.outcome === 'answered' ? 'foreign-enrollment' : values.outcome
      assert.equal(codeOf(() => phoneOf(values).answer(values.challenge)), outcome, name)
    }
  })

  it('has challenges, which are made byte for byte', () => {
    const vectors = readVectors('Records/').filter(([, values]) => values.outcome === 'answered')
    assert.equal(vectors.length, 5)
    for (const [name, values] of vectors) {
      const sender = keyText.decode(keyText.SENDER_SECRET, values['sender-secret'])
      const recipient = keyText.decode(keyText.RECIPIENT, values.recipient)
      const enrollment = keyText.decode(keyText.ENROLLMENT, values['asked-enrollment'])
      const context = hpke.toSeal(
        hpke.privateKey(hpke.senderScalar(sender)), recipient, values.topic, hpke.CHALLENGE, hpke.privateKey(bytes(values['ephemeral-secret'])))
      const text = armor('pushchallenge.', hpke.seal(context, Buffer.concat([bytes(values.random), enrollment]), bytes(values.number)))
      assert.equal(text, values.challenge, name)
      const message = Buffer.concat([Buffer.from('sealedpush/v1 answer\0'), recipient, enrollment])
      assert.equal(armor('pushanswer.', blake2b(32, message, bytes(values.random))), values.answer, name)
    }
  })

  it('has contents that a sender seals, or refuses with the name of a member', () => {
    const made = { id: '5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09', topic: TOPIC, sent: 0 }
    const vectors = readVectors('Sealing/')
    assert.equal(vectors.length, 413)
    for (const [name, values] of vectors) {
      if ('start' in values) {
        assert.equal(codeOf(() => files.checkStart(values.type, bytes(values.start))), values.outcome === 'sealed' ? undefined : 'wrong-type', name)
        continue
      }
      const content = JSON.parse(values.content)
      let [outcome, member] = ['sealed', undefined]
      try {
        forSealing(plain({ ...made, ...content }), TOPIC, 0)
      } catch (error) {
        ;[outcome, member] = ['refused', error.member]
      }
      // This client also refuses numbers that JavaScript has rounded. The long integer becomes 1e21.
      if (name === 'refused-integer-long') continue
      const isRounded = /[0-9]{17}/.test(values.content)
      // Swift reads JSON, and names the place of such an integer instead of the member.
      const integer = isRounded ? (name === 'refused-integer-unknown-key' ? 'new' : 'data.n[0]') : undefined
      // This client names the member of the content that contains the one at fault.
      if (name.includes('-part-') && member !== undefined && /^[.[]/.test(values.member?.slice(member.length))) member = values.member
      assert.deepEqual([outcome, member], isRounded ? ['refused', integer] : [values.outcome, values.member], name)
    }
  })

  it('has receipts and requests for them, which are made byte for byte, taken, or refused with the code', () => {
    const vectors = readVectors('Receipts/')
    assert.equal(vectors.length, 201)
    for (const [name, values] of vectors) {
      if ('receipt' in values) {
        assert.equal(receipts.readRequest(plain(JSON.parse(values.receipt))) === null ? 'unreadable' : 'reads', values.outcome, name)
        continue
      }
      const receiver = new ReceiptReceiver(valuesOf(values, 'sender-secret'), { topic: values.topic })
      let said
      const code = codeOf(() => { said = receiver.check(bytes(values.body), { now: Number(values.now) }) })
      assert.equal(code ?? 'taken', values.outcome, name)
      if (!('number' in values)) continue
      const base64 = (hex) => encodeBase64(bytes(hex))
      assert.deepEqual([said.device, said.number], [base64(values.id), base64(values.number)], name)
      assert.deepEqual([said.shownAt, said.elapsedMilliseconds], [Number(values.created), Number(values.elapsed)], name)
      const counts = new Map(values.counts.split(' ').filter(Boolean).map((pair) => pair.split('=').map(Number)))
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
      assert.equal(Object.values(said.failures).reduce((sum, count) => sum + count, 0) + said.otherFailures, total, name)
      const [server, id] = [bytes(values['server-key']), bytes(values.id)]
      assert.equal(receipts.deviceKey(server, id).toString('hex'), values.key, name)
      const made = receipts.make(bytes(values.key), id, values.message, said.shownAt, said.elapsedMilliseconds, counts)
      assert.equal(made.toString('hex'), values.body, name)
      if (hasMLKEM || !values.recipient.startsWith('pushpq.')) {
        assert.ok(receipts.deviceID(server, keyText.decodeRecipient(values.recipient)).equals(id), name)
      }
    }
  })

  it('has attachments, which open or are refused with the code', async () => {
    const vectors = readVectors('Attachments/')
    assert.equal(vectors.length, 153)
    for (const [name, values] of vectors) {
      const entry = JSON.parse(values.entry)
      for (const size of [1 << 20, 1000]) {
        const stored = bytes(values.stored)
        const parts = Array.from({ length: Math.ceil(stored.length / size) }, (_, index) => stored.subarray(index * size, (index + 1) * size))
        const opened = new PassThrough({ highWaterMark: 1 << 24 })
        const outcome = await openFile(entry, parts, opened).then(() => 'opens', ({ code }) => code)
        assert.equal(outcome, values.outcome, name)
        if (outcome === 'opens') assert.equal(opened.read()?.toString('hex'), values.plaintext, name)
      }
    }
  })

  it('has texts of keys, which are decoded or refused', () => {
    const lines = readFileSync(new URL('Text/keys.tsv', VECTORS), 'utf8').trimEnd().split('\n').slice(2)
    assert.equal(lines.length, 201)
    for (const [kind, expected, quoted, sentence] of lines.map((line) => line.split('\t'))) {
      let found = 'refused'
      codeOf(() => { found = keyText.decode(kind, JSON.parse(quoted)).toString('hex') })
      assert.equal(found, expected, `${kind}: ${sentence}`)
    }
  })

  it('has the scalars that are invisible; all others are visible', () => {
    const ranges = readFileSync(new URL('Text/invisible.txt', VECTORS), 'utf8').trimEnd().split('\n').slice(1).map((line) => line.split('-').map((end) => parseInt(end, 16)))
    assert.equal(ranges.length, 62)
    let [wrong, count] = [[], 0]
    for (let scalar = 0; scalar < 0x110000; scalar += 1) {
      if (scalar === 0xd800) scalar = 0xe000
      const isInvisible = ranges.some(([first, last = first]) => first <= scalar && scalar <= last)
      count += isInvisible
      if (isVisible(String.fromCodePoint(scalar)) === isInvisible) wrong.push(scalar.toString(16))
    }
    assert.deepEqual(wrong, [])
    assert.ok(count > 4000)
  })

  it('has alerts in the clear, which a sender writes or refuses', () => {
    const lines = readFileSync(new URL('Text/alerts.tsv', VECTORS), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'))
    const counts = { allowed: 0, 'other-form': 0, refused: 0 }
    const secret = keyText.encode(keyText.SENDER_SECRET, randomBytes(32))
    const [recipient] = new Phone({ topic: TOPIC }).recipients
    for (const line of lines) {
      const [kind, given] = line.split('\t')
      let sender
      const code = codeOf(() => {
        let safeDefault
        try {
          safeDefault = JSON.parse(given)
        } catch {
          return
        }
        sender = new Sender(secret, { topic: TOPIC, safeDefault })
      })
      if (sender === undefined) {
        assert.ok([undefined, 'safe-default'].includes(code) && kind !== 'allowed', given)
        continue
      }
      counts[kind] += 1
      const { payload } = sender.sealUnverified({ alert: { body: 'x' } }, recipient)
      assert.equal(payload.includes(`"alert":${given},"mutable-content"`), kind === 'allowed', given)
    }
    assert.equal(lines.length, 98)
    assert.deepEqual(counts, { allowed: 22, 'other-form': 11, refused: 0 })
  })

  it('has contents with members that look misspelled', () => {
    const lines = readFileSync(new URL('Members/suspects.tsv', VECTORS), 'utf8').trimEnd().split('\n').slice(1)
    for (const [given, paths] of lines.map((line) => line.split('\t'))) assert.deepEqual(suspects(plain(JSON.parse(given))), paths.split(' ').filter(Boolean), given)
  })

  it('has charts, which are accepted or not', () => {
    const vectors = readVectors('Charts/')
    assert.equal(vectors.length, 43)
    for (const [name, values] of vectors) {
      assert.equal(isChart(plain(JSON.parse(values.chart))) ? 'reads' : 'unreadable', values.outcome, name)
    }
  })
})

function sealed(name, values) {
  const sender = bytes(values['sender-secret'])
  const isHybrid = 'psk' in values
  const recipients = isHybrid
    ? [keyText.decode(keyText.HYBRID_RECIPIENT, values.recipient)]
    : phoneOf(values).recipients.map((each) => keyText.decode(keyText.RECIPIENT, each))
  const contexts = recipients.map((recipient) =>
    hpke.toSeal(
      hpke.privateKey(hpke.senderScalar(sender)), recipient, values.topic, hpke.MESSAGE, hpke.privateKey(bytes(values['ephemeral-secret'])),
      isHybrid ? [bytes(values.psk), bytes(values['psk-id'])] : undefined))
  const at = contexts.findIndex((each) => each.sharedSecret.toString('hex') === values['shared-secret'])
  const [context, recipient] = [contexts[at], recipients[at]]
  assert.equal(context.key.toString('hex'), values.key, name)
  assert.equal(context.baseNonce.toString('hex'), values['base-nonce'], name)
  assert.equal(context.numberKey.toString('hex'), values['number-key'], name)
  if ('number-random' in values) {
    const number = hpke.numberFor(context, bytes(values.plaintext), bytes(values['number-random']))
    assert.equal(number.toString('hex'), values.number, name)
  }
  const envelope = hpke.seal(context, bytes(values.plaintext), bytes(values.number))
  assert.equal(envelope.toString('hex'), values.aad + values.ciphertext + values.tag, name)
  assert.ok(context.key.every((byte) => byte === 0), 'the key is wiped')
  if ('field' in values) assert.equal(encodeBase64(envelope), values.field, name)
  const headerKey = hpke.derive(sender, 'sealedpush/v1 ids', values.topic)
  if (!isHybrid) assert.equal(headerKey.toString('hex'), values['header-key'], name)
  identifiers(name, values, sender, recipient)
}

/** Checks that the headers are the same as those of all other implementations. */
function identifiers(name, values, secret, recipient) {
  const content = JSON.parse(values.content)
  if (codeOf(() => forSealing(plain(content), values.topic, 0)) !== undefined) return
  const text = keyText.encode(keyText.SENDER_SECRET, secret)
  const now = Math.min(Number(values.now), content.expires ?? Infinity)
  const push = () => new Sender(text, { topic: values.topic }).sealUnverified(content, keyText.encodeRecipient(recipient), { now })
  if (keyText.isHybrid(recipient) && !hasMLKEM) return assert.equal(codeOf(push), 'unsupported')
  const { headers, recipient: to } = push()
  assert.equal(to, keyText.encodeRecipient(recipient), name)
  assert.equal(headers['apns-id'], values['apns-id'], name)
  assert.equal(headers['apns-collapse-id'], values['apns-collapse-id'], name)
}

describe('BLAKE2b', () => {
  it('matches RFC 7693, appendixes A and E', () => {
    const hash = createHash('blake2b512').update('abc').digest()
    assert.ok(blake2b(64, Buffer.from('abc')).equals(hash))
    assert.equal(hash.toString('hex', 0, 8), 'ba80a53f981c4d0d')
    const sequence = (length) => {
      let [a, b] = [Math.imul(0xdead4bad, length) >>> 0, 1]
      return Buffer.from(Array.from({ length }, () => ([a, b] = [b, (a + b) >>> 0])[1] >>> 24))
    }
    const hashes = []
    for (const length of [20, 32, 48, 64]) {
      for (const count of [0, 3, 128, 129, 255, 1024]) {
        hashes.push(blake2b(length, sequence(count)), blake2b(length, sequence(count), sequence(length)))
      }
    }
    assert.equal(blake2b(32, Buffer.concat(hashes)).toString('hex'), 'c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475')
  })

  it("matches Python's for lengths around a block, and doesn't change its arguments", () => {
    for (const [length, count, keyLength] of [[16, 0, 0], [16, 60, 32], [32, 127, 64], [32, 128, 1], [1, 129, 32], [64, 256, 0], [32, 300, 32]]) {
      const [message, key] = [randomBytes(count), randomBytes(keyLength)]
      const before = [Buffer.from(message), Buffer.from(key)]
      assert.deepEqual(blake2b(length, message, key), pythonsBlake2b(length, message, key))
      assert.deepEqual([message, key], before)
    }
  })
})

describe('The padding', () => {
  it('matches Specification 4.2 and 5.5', () => {
    const lengths = (policy) => [1, 255, 256, 511, 2047, 2048, 2932].map((count) => pad(Buffer.alloc(count, 'x'), policy, 2933).length)
    assert.deepEqual(lengths('buckets'), [256, 256, 512, 512, 2048, 2933, 2933])
    assert.deepEqual(lengths('none'), [2, 256, 257, 512, 2048, 2049, 2933])
    assert.deepEqual(lengths('full'), Array(7).fill(2933))
    const digest = createHash('sha256').update(pad(Buffer.from('a'), 'buckets', 2933)).digest('hex')
    assert.equal(digest, createHash('sha256').update(Buffer.concat([Buffer.from('a\x80', 'latin1'), Buffer.alloc(254)])).digest('hex'))
  })
})
