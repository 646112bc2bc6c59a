import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FileError, generateSenderSecret, openFile, sealAttachment, sealFile, Sender } from 'sealed-push'
import { NewFile } from '../src/new-file.js'
import { enrolled, isThorough, NINA, seeded, TOPIC } from './support.js'

const url = 'https://files.example.com/9f2c'
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const folders = []
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

/** Returns a function that returns paths in a new folder. */
function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'files'))
  folders.push(folder)
  return (name = '') => join(folder, name)
}

function written(path, data) {
  writeFileSync(path, data)
  return path
}

/** A stream that keeps what it gets. */
function sink() {
  const parts = []
  return Object.assign(new Writable({ write: (part, coding, done) => done(null, parts.push(part)) }), { bytes: () => Buffer.concat(parts) })
}

const codeOf = (work) => work.then(() => undefined, (error) => {
  if (!(error instanceof FileError) || !error.hint) throw error
  return error.code
})

describe('Files', () => {
  it('come back in every length', async () => {
    for (const length of [1, 7, 8, 12, 16, 65535, 65536, 65537, 131072, 200_001]) {
      const plaintext = randomBytes(length)
      const stored = sink()
      const entry = await sealFile(plaintext, stored, { url })
      assert.equal(entry.size, stored.bytes().length)
      assert.equal(entry.size, 24 + length + 17 * Math.ceil(length / 65536))
      assert.deepEqual(JSON.parse(JSON.stringify(entry)), entry)
      const opened = sink()
      await openFile(entry, Readable.from([stored.bytes()]), opened)
      assert.ok(opened.bytes().equals(plaintext), `${length}`)
      const again = await sealFile(plaintext, sink(), { url })
      assert.ok(again.key !== entry.key && again.hash !== entry.hash)
    }
  })

  it('go with a message as attachments', async () => {
    const path = newFolder()
    const photo = written(path('photo.png'), Buffer.concat([PNG, randomBytes(150_000)]))
    const thumbnail = { hidden: true, clip: [0, 0, 0.5, 1] }
    const entry = await sealAttachment(photo, path('stored'), { url, id: 'photo', thumbnail })
    assert.deepEqual([entry.type, entry.id, entry.thumbnail], ['image/png', 'photo', thumbnail])
    const sender = new Sender(generateSenderSecret(), { topic: TOPIC })
    const { phone, device } = enrolled(sender)
    const push = sender.seal({ ...NINA, attachments: [entry], person: { name: 'Nina', id: 'n', image: 'photo' } }, device)
    const [received] = phone.open(push.payload).attachments
    await openFile(received, pathToFileURL(path('stored')), path('opened'))
    assert.ok(readFileSync(path('opened')).equals(readFileSync(photo)))
    assert.equal(statSync(path('opened')).mode & 0o777, 0o600)
    assert.equal(statSync(path('stored')).mode & 0o777, 0o666 & ~process.umask())
    assert.deepEqual(readdirSync(path()).sort(), ['opened', 'photo.png', 'stored'])
  })

  it('open with libsodium in Clients/Python, and the other way around', async (context) => {
    const python = (script, ...values) => spawnSync('/usr/bin/python3', ['-B', '-c', script, ...values], {
      encoding: 'utf8', env: { ...process.env, PYTHONPATH: fileURLToPath(new URL('../../Python/src', import.meta.url)) },
    })
    if (python('import sealed_push').status !== 0) return context.skip("needs Debian's python3-nacl and python3-cryptography")
    const path = newFolder()
    for (const length of [1, 8, 15, 65536, 65545, 140_007]) {
      const plaintext = randomBytes(length)
      const entry = await sealFile(plaintext, path(`${length}`), { url })
      const { status, stderr } = python('import json, sys, sealed_push; sealed_push.open_file(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3])', JSON.stringify(entry), path(`${length}`), path(`${length}.opened`))
      assert.equal(status, 0, stderr)
      assert.ok(readFileSync(path(`${length}.opened`)).equals(plaintext))
      const sealed = python('import json, sys, sealed_push; print(json.dumps(sealed_push.seal_file(sys.argv[1], sys.argv[2], url=sys.argv[3])))', path(`${length}.opened`), path(`${length}.again`), url)
      const again = sink()
      await openFile(JSON.parse(sealed.stdout), path(`${length}.again`), again)
      assert.ok(again.bytes().equals(plaintext))
    }
  })

  it('are checked if they are plain, too', async () => {
    const path = newFolder()
    const entry = await sealAttachment(Buffer.from('GIF89a and so on'), path('stored'), { url, id: 'a', type: 'image/gif', plain: true })
    assert.equal(readFileSync(path('stored'), 'utf8'), 'GIF89a and so on')
    assert.ok(!('key' in entry) && entry.plain)
    await openFile(entry, path('stored'), sink())
    writeFileSync(path('stored'), 'GIF89a and so of')
    assert.equal(await codeOf(openFile(entry, path('stored'), sink())), 'altered')
    writeFileSync(path('stored'), 'GIF89a')
    assert.equal(await codeOf(openFile(entry, path('stored'), sink())), 'cut')
  })

  it('of any size take little memory', async () => {
    const path = newFolder()
    const length = isThorough ? 200_000_000 : 5_000_000
    function* endless() {
      for (let left = length; left > 0; left -= 50_000) yield new Uint8Array(Math.min(left, 50_000))
    }
    let [held, most] = [0, 0]
    const gauge = new Writable({ write: (part, coding, done) => { held = part.length; most = Math.max(most, held); setImmediate(done) } })
    const entry = await sealFile(endless(), gauge, { url })
    // No piece is larger than a chunk, and the next one waits until the last is written.
    assert.ok(most <= 65536 + 17 && entry.size > length)
    await sealFile(endless(), path('stored'), { url })
    assert.equal(statSync(path('stored')).size, entry.size)
  })

  it('leave nothing of what failed', async () => {
    const path = newFolder()
    written(path('there'), 'x')
    const source = written(path('a.png'), PNG)
    const seal = (from, to, settings) => codeOf(sealFile(from, to, { url, ...settings }))
    const attach = (from, to, settings) => codeOf(sealAttachment(from, to, { url, id: 'a', ...settings }))
    const calls = [
      ['exists', seal(source, path('there'))], ['empty', seal(Buffer.alloc(0), path('out'))], ['unreadable', seal(path('absent'), path('out'))],
      ['not-writable', seal(source, path('no/out'))], ['wrong-type', attach(source, path('out'), { type: 'image/gif' })],
      ['too-large', attach(Buffer.concat([PNG, Buffer.alloc(10_000_000)]), path('out'), { type: 'image/png' })],
      ['url', seal(source, path('out'), { url: 'ftp://example.com/a' })], ['id', attach(source, path('out'), { id: '' })],
      ['thumbnail', attach(source, path('out'), { thumbnail: { clip: [1] } })], ['wrong-type', attach(source, path('out'), { type: 7 })],
      ['wrong-type', attach(PNG, path('out'))], ['wrong-type', attach(source, path('out'), { type: 'constructor' })],
      ['unreadable', seal(null, path('out'))], ['unreadable', seal(['text'], path('out'))], ['unreadable', seal(path(), path('out'))],
      ['unreadable', seal((function* () { yield PNG; throw new Error('secret') })(), path('out'))], ['not-writable', seal(source, 7.5)],
      ['not-writable', seal(source, '\0')], ['not-writable', seal(source, createWriteStream(path('no/out')))],
      ['not-writable', seal(source, new PassThrough().destroy())], ['unreadable', codeOf(openFile({}, source, path('out')))],
      ['unreadable', codeOf(openFile(undefined, source, path('out')))],
    ]
    for (const [index, [code, call]] of calls.entries()) assert.equal(await call, code, `${index}`)
    assert.deepEqual(readdirSync(path()).sort(), ['a.png', 'there'])
    assert.equal(readFileSync(path('there'), 'utf8'), 'x')
    symlinkSync('nowhere', path('link'))
    assert.equal(await seal(source, path('link')), 'exists')
  })

  it('need no hard links, and never replace another file', async (context) => {
    const path = newFolder()
    const source = written(path('a.png'), PNG)
    for (const code of ['EPERM', 'EOPNOTSUPP', 'EXDEV', 'EMLINK']) {
      const { mock } = context.mock.method(fs, 'link', async () => { throw Object.assign(new Error(code), { code }) })
      syncBuiltinESMExports()
      await NewFile.write(path(code), 0o600, (write) => write(PNG))
      assert.ok(readFileSync(path(code)).equals(PNG))
      assert.equal(await codeOf(NewFile.write(path(code), 0o600, (write) => write(PNG))), 'exists')
      // Another program is faster.
      const late = NewFile.write(path(`late ${code}`), 0o600, async (write) => {
        await write(PNG)
        writeFileSync(path(`late ${code}`), 'another')
      })
      assert.equal(await codeOf(late), 'exists')
      assert.equal(readFileSync(path(`late ${code}`), 'utf8'), 'another')
      assert.equal(mock.callCount(), 2)
      mock.restore()
      syncBuiltinESMExports()
    }
    assert.ok(readdirSync(path()).every((name) => !name.startsWith('.')), source)
  })

  it('are refused, whatever is changed', async (context) => {
    const { next } = seeded(context)
    const path = newFolder()
    const stored = sink()
    const entry = await sealFile(randomBytes(70_000), stored, { url })
    for (let round = 0; round < (isThorough ? 200 : 40); round += 1) {
      let wrong = Buffer.from(stored.bytes())
      if (round % 4 === 0) wrong[next(wrong.length)] ^= 1 << next(8)
      else if (round % 4 === 1) wrong = wrong.subarray(0, next(wrong.length))
      else if (round % 4 === 2) wrong = Buffer.concat([wrong, Buffer.alloc(1 + next(100_000))])
      else wrong = randomBytes(wrong.length)
      assert.ok(['altered', 'cut', 'too-large'].includes(await codeOf(openFile(entry, wrong, path('opened')))), `${round}`)
      assert.deepEqual(readdirSync(path()), [])
    }
  })
})
