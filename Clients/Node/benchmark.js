// Measures the CPU time to seal a message: `node benchmark.js [COUNT]`.

import { Device, generateSenderSecret, Sender } from 'sealed-push'
import { Phone } from 'sealed-push/testing'

const count = Number(process.argv[2] ?? 5_000)
const sender = new Sender(generateSenderSecret(), { topic: 'com.example.app' })
const phone = new Phone({ topic: 'com.example.app' })
// A device with a proven key, as a database stores it.
const state = JSON.stringify({ ...Device.enroll(phone.record, { topic: 'com.example.app' }).toJSON(), proven: phone.recipients })
const device = Device.fromJSON(JSON.parse(state))
const content = { alert: { title: 'Nina', body: 'Lunch at one?' } }

function time(name, work) {
  for (let turn = 0; turn < count / 10; turn += 1) work()
  const before = process.cpuUsage()
  for (let turn = 0; turn < count; turn += 1) work()
  const { user, system } = process.cpuUsage(before)
  const each = (user + system) / count
  console.log(`Node    ${name.padEnd(32)} ${each.toFixed(0).padStart(6)} µs ${(1e6 / each).toFixed(0).padStart(8)} a second`)
}

time('seal', () => sender.seal(content, device))
time('load the device and seal', () => sender.seal(content, Device.fromJSON(JSON.parse(state))))
