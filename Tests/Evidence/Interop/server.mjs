#!/usr/bin/env node
// A server in Node, one step per run, with the commands of server.py. The file STATE has its state for the device.

import { readFileSync, writeFileSync } from 'node:fs'
import { Device, SealedPushError, Sender } from '../../../Clients/Node/src/index.js'

const [state, secretFile, topic, command, value] = process.argv.slice(2)

/** Returns the changed device, and the text to print. */
function run(sender) {
  if (command === 'enroll') return [Device.enroll(value, { topic })]
  const device = Device.fromJSON(JSON.parse(readFileSync(state, 'utf8')))
  switch (command) {
    case 'update':
      return [device, device.update(value).join('\n')]
    case 'challenge':
      return [device, device.challenge(sender)]
    case 'check':
      return [device, device.answer(value)]
    default: {
      const push = sender.seal(JSON.parse(readFileSync(value, 'utf8')), device)
      return [device, `${push.payload}\n${JSON.stringify(push.headers)}`]
    }
  }
}

try {
  // A keyring's private file has lines `kind: ...`, `created: ...`, `secret: PUSH-...`.
  const secret = readFileSync(secretFile, 'utf8').split('secret: ')[1].split(/\s/)[0]
  const [device, said] = run(new Sender(secret, { topic }))
  writeFileSync(state, JSON.stringify(device))
  if (said) console.log(said)
} catch (error) {
  if (!(error instanceof SealedPushError)) throw error
  console.error(error.code)
  process.exitCode = 65
}
