// Receipts and the outbox: what a server asks a device for, and what it hands to `sealedpush work`.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { enqueueQuery, generateSenderSecret, OutboxKey, ReceiptReceiver, Sender } from 'sealed-push'
import { codeOf, enrolled, NINA, now, TOPIC } from './support.js'

const secret = generateSenderSecret()
const url = 'https://push.example.com/receipts'
const sender = new Sender(secret, { topic: TOPIC, receipts: url })
const { phone, device } = enrolled(sender)
const receiver = new ReceiptReceiver([generateSenderSecret(), secret], { topic: TOPIC })

describe('Receipts', () => {
  it('are asked for, made, and taken', () => {
    const push = sender.seal(NINA, device)
    for (const code of ['replayed', 'replayed', 'malformed']) {
      if (code === 'replayed') phone.open(sender.seal(NINA, device).payload)
      assert.equal(codeOf(() => phone.open('{}')), 'malformed')
    }
    const content = phone.open(push.payload)
    assert.equal(content.receipt.url, url)
    assert.equal(codeOf(() => phone.open(push.payload)), 'replayed')
    const at = now()
    const body = phone.receipt(content, { elapsedMilliseconds: 412, now: at })
    const said = receiver.check(body, { now: at })
    assert.deepEqual({ ...said, number: '' }, {
      device: sender.receiptDevice(push.recipient), number: '', shownAt: at, elapsedMilliseconds: 412,
      failures: { malformed: 3, replayed: 1 }, otherFailures: 0,
    })
    // Each receipt counts what failed since the last; the number is the message's.
    const again = receiver.check(phone.receipt(content, { now: at }))
    assert.deepEqual([again.number, again.failures], [said.number, {}])
    assert.notEqual(receiver.check(phone.receipt(phone.open(sender.seal(NINA, device).payload))).number, said.number)
    for (const index of [0, 1, 20, 40, 60, 127]) {
      const wrong = Buffer.from(body)
      wrong[index] ^= 1
      assert.equal(codeOf(() => receiver.check(wrong, { now: at })), index === 0 ? 'unknown-version' : 'rejected')
    }
    const code = (given, options) => codeOf(() => receiver.check(given, options))
    assert.deepEqual([body.subarray(1), Buffer.concat([body, body]), 'x', undefined, body.toString('hex')].map((each) => code(each)), Array(5).fill('wrong-size'))
    assert.equal(code(body, { now: at + 604_801 }), 'too-old')
    assert.equal(code(body, { now: at - 93_601 }), 'clock')
    assert.equal(codeOf(() => new ReceiptReceiver([secret], { topic: 'com.example.other' }).check(body)), 'rejected')
    assert.equal(inspect(receiver), 'ReceiptReceiver(2 senders)')
  })

  it('are the content\'s own, and are not asked for by a withdrawal or without a URL', () => {
    const { receipt } = phone.open(sender.seal(NINA, device).payload)
    const own = { ...receipt, url: 'https://other.example.com/' }
    assert.deepEqual(phone.open(sender.seal({ ...NINA, receipt: own }, device).payload).receipt, own)
    const withdrawal = phone.open(sender.seal({ withdraw: { thread: 'nina' } }, device).payload)
    const plain = phone.open(new Sender(secret, { topic: TOPIC }).seal(NINA, device).payload)
    for (const content of [withdrawal, plain]) {
      assert.ok(!('receipt' in content))
      assert.equal(phone.receipt(content), undefined)
    }
    for (const receipts of ['http://example.com', '', 7, `https://${'x'.repeat(256)}`, null]) {
      assert.equal(codeOf(() => new Sender(secret, { topic: TOPIC, receipts })), 'receipts', inspect(receipts))
    }
    assert.equal(codeOf(() => new ReceiptReceiver(secret, { topic: TOPIC })), 'not-a-key')
    assert.equal(codeOf(() => new ReceiptReceiver([secret])), 'topic')
    assert.equal(codeOf(() => new ReceiptReceiver([7], { topic: TOPIC })), 'not-a-key')
  })
})

describe('enqueueQuery', () => {
  const text = 'sealed-push-outbox-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n'

  it('makes the code of an entry that Swift makes', () => {
    // The same value as in Swift's ForgeryTests.
    const headers = {
      'apns-topic': TOPIC, 'apns-priority': '10', 'apns-id': '00000000-0000-4000-8000-000000000000', 'apns-collapse-id': 'c',
    }
    const push = { payload: '{}', headers, recipient: 'push1', sender: 'anonymous' }
    const { values } = enqueueQuery(push, 'phone', { outboxKey: new OutboxKey(`\ufeff${text}\r\n`) })
    assert.equal(values.at(-1).toString('hex'), '12c3e575657b57289fce8f6565edf4ed6c1022a3db3875962e3f92f6a17b0d8c')
  })

  it('has the values in the order of the statement', () => {
    const expiration = now() + 86400
    const push = sender.seal(NINA, device, { priority: 5, expiration })
    const { text: statement, values } = enqueueQuery(push, 'phone', { key: 'message 4711', outboxKey: new OutboxKey(text) })
    assert.match(statement, /^SELECT sealed_push.enqueue\(device => \$1, .*, code => \$10\)$/)
    const { headers } = push
    const expected = ['phone', device.recipient(), push.payload.toString(), headers['apns-id'], headers['apns-collapse-id'], 5, expiration, sender.publicKey, 'message 4711']
    assert.deepEqual(values.slice(0, -1), expected)
    assert.equal(values.at(-1).length, 32)
    const stored = JSON.parse(JSON.stringify(push))
    assert.deepEqual(enqueueQuery(stored, 'phone').values, [...expected.slice(0, 8), null, null])
    assert.equal(enqueueQuery(new Sender(secret, { topic: TOPIC }).seal(NINA, device), '...').values[6], null)
  })

  it('refuses wrong names, keys, and pushes', () => {
    const push = sender.seal(NINA, device)
    for (const name of ['.', '..', '', 7, 'a\0', 'é'.repeat(65), '\ud800']) assert.equal(codeOf(() => enqueueQuery(push, name)), 'device-name', inspect(name))
    for (const key of ['', 7, 'é'.repeat(129)]) assert.equal(codeOf(() => enqueueQuery(push, 'phone', { key })), 'idempotency-key')
    for (const wrong of [undefined, {}, 'x', { ...push, sender: undefined }]) assert.equal(codeOf(() => enqueueQuery(wrong, 'phone')), 'push')
    assert.equal(codeOf(() => enqueueQuery(push, 'phone', { outboxKey: text })), 'outbox-key')
    for (const wrong of ['sealed-push-outbox-key', text.slice(0, -3), text.toUpperCase(), 'push-outbox AAAA', `${text} more`, null, Buffer.from(text)]) {
      assert.equal(codeOf(() => new OutboxKey(wrong)), 'outbox-key', inspect(wrong))
    }
    assert.equal(inspect(new OutboxKey(text), { showHidden: true }), 'OutboxKey()')
  })
})
