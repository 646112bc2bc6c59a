// Shared by the tests: reading vectors, another BLAKE2b, random values, and enrolled phones.

import { spawnSync } from 'node:child_process'
import crypto, { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Device, SealedPushError } from 'sealed-push'
import { Phone } from 'sealed-push/testing'

export const TOPIC = 'com.example.app'
export const NINA = { alert: { title: 'Nina', body: 'Lunch at one?' } }
export const isThorough = process.env.THOROUGH === '1'

/** Whether this Node can seal to hybrid keys, determined in another way than in `mlkem.js`. */
export const hasMLKEM = (() => {
  try {
    return crypto.generateKeyPairSync('ml-kem-768') && 'encapsulate' in crypto
  } catch {
    return false
  }
})()

export const now = () => Math.floor(Date.now() / 1000)

export const VECTORS = new URL('../../../Tests/Vectors/', import.meta.url)

/** Returns the values of each vector by its name (Tests/Vectors/README.md). */
export function readVectors(folder) {
  const url = new URL(folder, VECTORS)
  const names = readdirSync(url).filter((name) => name.endsWith('.txt'))
  return names.map((name) => {
    const lines = readFileSync(new URL(name, url), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'))
    const pairs = lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])
    return [name.slice(0, -4), Object.fromEntries(pairs)]
  })
}

export const valuesOf = (values, name) =>
  Object.entries(values).filter(([each]) => each.replace(/\d+$/, '') === name).map(([, value]) => value)

/** BLAKE2b of Python's standard library, for comparison. */
export function pythonsBlake2b(length, message, key = Buffer.alloc(0)) {
  const script = 'import hashlib, sys; d = sys.stdin.buffer.read(); n = d[0]; sys.stdout.buffer.write(hashlib.blake2b(d[1 + n:], digest_size=int(sys.argv[1]), key=d[1:1 + n]).digest())'
  const input = Buffer.concat([Buffer.of(key.length), key, message])
  const { status, stdout } = spawnSync('/usr/bin/python3', ['-I', '-S', '-c', script, String(length)], { input })
  if (status !== 0) throw new Error('python3 failed')
  return stdout
}

/** Returns a random generator (mulberry32). The report has its seed; set SEED=... to repeat it. */
export function seeded(context) {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 32))
  context.diagnostic(`SEED=${seed}`)
  let state = seed
  const next = (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return { next, pick: (list) => list[next(list.length)] }
}

/** Returns the code of the error that a call throws. An error of another package fails the test. */
export function codeOf(call) {
  try {
    call()
    return undefined
  } catch (error) {
    if (!(error instanceof SealedPushError) || !error.code || !error.hint || !error.message) throw error
    return error.code
  }
}

/** Returns a phone that trusts the sender, and the server's device, with the phone's key proven. */
export function enrolled(sender, phone = new Phone({ topic: sender.topic })) {
  if (!phone.trusting.includes(sender.publicKey)) phone.trusting.push(sender.publicKey)
  const device = Device.enroll(phone.record, { topic: phone.topic })
  device.answer(phone.answer(device.challenge(sender)))
  return { phone, device }
}

/** Returns the phone of a vector. */
export const phoneOf = (values) =>
  new Phone({
    topic: values.topic,
    trusting: valuesOf(values, 'sender'),
    identities: valuesOf(values, 'identity'),
    enrollmentSecret: values['enrollment-secret'],
    allowAnonymous: values['allow-anonymous'] === 'yes',
  })
