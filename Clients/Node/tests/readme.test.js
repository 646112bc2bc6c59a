// Runs the README's blocks as they are.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { describe, it } from 'node:test'
import * as sealedPush from 'sealed-push'
import { Phone } from 'sealed-push/testing'
import { enrolled, TOPIC } from './support.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1])
const secret = sealedPush.generateSenderSecret()
const { phone, device } = enrolled(new sealedPush.Sender(secret, { topic: TOPIC }))

const [minute, ...others] = blocks.map((block) => block.replace(/^import .*$/gm, ''))
const names = 'sender, push, send, connect, enroll, answered, updated, left'
const shown = new Function('Device', 'Leaving', 'Sender', 'http2', 'stored', 'process', `${others.join('\n')}; return { ${names} }`)(
  sealedPush.Device, sealedPush.Leaving, sealedPush.Sender, http2, device.toJSON(), { env: { SENDER_SECRET: secret } })

describe('README.md', () => {
  it('seals and opens in its first block', () => {
    assert.ok(blocks[0].split('\n').length <= 13)
    const printed = []
    const names = [...Object.keys(sealedPush), 'Phone', 'console']
    new Function(...names, minute)(...Object.values(sealedPush), Phone, { log: (text) => printed.push(text) })
    assert.deepEqual(printed, ['Lunch at one?'])
  })

  it('seals in ten lines', () => {
    assert.equal(blocks.length, 4)
    assert.ok(blocks[1].split('\n').length <= 10)
    assert.equal(phone.open(shown.push.payload).alert.body, 'Lunch at one?')
  })

  it('sends, and returns the response', async () => {
    const server = http2.createServer()
    const seen = []
    server.on('stream', async (stream, headers) => {
      const chunks = []
      for await (const chunk of stream) chunks.push(chunk)
      seen.push([headers, Buffer.concat(chunks)])
      const status = headers[':path'].endsWith('/00ff') ? 200 : 400
      stream.respond({ ':status': status })
      stream.end(status === 200 ? '' : '{"reason":"BadDeviceToken"}')
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const apple = http2.connect(`http://127.0.0.1:${server.address().port}`)
    assert.deepEqual(await shown.send(apple, '00ff', 'token', shown.push), { status: 200, reason: '' })
    assert.deepEqual(await shown.send(apple, '11', 'token', shown.push), { status: 400, reason: 'BadDeviceToken' })
    const [[headers, body]] = seen
    assert.ok(body.equals(shown.push.payload))
    assert.equal(JSON.stringify(shown.push.message), shown.push.payload.toString())
    assert.equal(headers.authorization, 'bearer token')
    for (const [name, value] of Object.entries(shown.push.headers)) assert.equal(headers[name], value)
    apple.close()
    await new Promise((resolve) => server.close(resolve))
  })

  it('enrolls and rotates', () => {
    const other = new Phone({ topic: TOPIC, trusting: [shown.sender.publicKey] })
    let [stored, question] = shown.enroll(other.record)
    stored = shown.answered(stored, other.answer(question))
    other.rotate()
    ;[stored, question] = shown.updated(stored, other.record)
    stored = shown.answered(stored, other.answer(question))
    other.retire()
    ;[stored, question] = shown.updated(stored, other.record)
    assert.equal(question, undefined)
    assert.equal(sealedPush.Device.fromJSON(JSON.parse(stored)).recipient(), other.recipients[0])
  })

  it('forgets the devices that a leaving ends', () => {
    const { phone, device } = enrolled(shown.sender)
    const leaving = phone.leave()
    const asked = []
    assert.deepEqual(shown.left(leaving, (enrollment) => (asked.push(enrollment), [device])), [device])
    assert.deepEqual(asked, [device.enrollment])
    assert.deepEqual(shown.left(leaving, () => [enrolled(shown.sender, phone).device]), [])
  })

  it('lists every error', () => {
    for (const [name, type] of Object.entries(sealedPush)) {
      if (name !== 'SealedPushError' && type.prototype instanceof sealedPush.SealedPushError) assert.ok(readme.includes(`- \`${name}\`: `), name)
    }
  })
})
