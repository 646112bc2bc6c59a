// A TypeScript compiler finds the types, in its older and newer ways to resolve modules.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const compiler = process.env.TSC ?? 'tsc'
const version = Number(spawnSync(compiler, ['--version'], { encoding: 'utf8' }).stdout?.match(/Version (\d+)/)?.[1] ?? 0)

const program = `
import { APNs, Device, Leaving, Sender, generateSenderSecret, type APNsAnswer } from 'sealed-push'
import { bearerToken, PhoneRouter, PostgresStore, SQLiteStore, type Entry } from 'sealed-push/server'
import { OpenError, Phone } from 'sealed-push/testing'
const topic = 'com.example.app'
const sender = new Sender(generateSenderSecret(), { topic })
const phone = new Phone({ topic, trusting: [sender.publicKey] })
const device: Device = Device.enroll(phone.record, { topic })
const push = sender.seal({ alert: { title: 'Nina' } }, device)
export const ends: boolean = new Leaving(phone.leave(), { topic }).ends(device)
export const answer = (apns: APNs): Promise<APNsAnswer> => apns.send(JSON.parse(JSON.stringify(push)), '00ff')
export const stored: string = push.toJSON().payload
const rows = { query: async (statement: string, values: unknown[]) => ({ rows: [{ statement, values }] }) }
const store = new PostgresStore(rows)
export const local = (database: ConstructorParameters<typeof SQLiteStore>[0]) => new SQLiteStore(database).devices('alice')
const router = new PhoneRouter<{ user?: string }>({
  sender, load: store.load, save: store.save,
  account: (request, { user }) => user ?? bearerToken(request),
  test: async (entry: Entry, push) => { push.headers; return entry.token === null ? 'no-token' : undefined },
})
router.sender = undefined
export const response: Promise<{ status: number }> = router.fetch(null as any, {})
export const middleware: Function = router.middleware
export const isOpenError = (error: unknown): boolean => error instanceof OpenError && error.code === 'rejected'
`

describe('TypeScript', () => {
  it('finds the types of both modules, and a misspelled name, with each way to resolve modules', (context) => {
    if (version === 0) return context.skip("needs tsc, as in Debian's node-typescript, or TSC=...")
    const folder = mkdtempSync(join(tmpdir(), 'types'))
    try {
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(fileURLToPath(new URL('..', import.meta.url)), join(folder, 'node_modules/sealed-push'))
      const compile = (name, text, [module, resolution]) => {
        writeFileSync(join(folder, name), text)
        const words = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', module, '--moduleResolution', resolution]
        const { stdout } = spawnSync(compiler, [...words, name], { cwd: folder, encoding: 'utf8' })
        return stdout
      }
      const ways = [['commonjs', version < 5 ? 'node' : 'node10'], ['node16', 'node16'], ['nodenext', 'nodenext'], ...(version < 5 ? [] : [['esnext', 'bundler']])]
      for (const way of ways) {
        const name = way[1].includes('node') && way[1] !== 'node' && way[1] !== 'node10' ? 'a.mts' : 'a.ts'
        assert.equal(compile(name, program, way), '', way.join())
        const wrong = [["{ title: 'Nina' }", "{ titel: 'Nina' }"], ["'00ff'", '7'], ['phone.leave()', '7'], ['{ OpenError, Phone }', '{ OpenError, Phone, Device }'], ["'no-token'", '7'], ['save: store.save', 'save: store.devices']]
        const errors = compile(name, wrong.reduce((text, [from, to]) => text.replace(from, to), program), way)
        assert.ok(errors.split('error TS').length > wrong.length, `${way}: ${errors}`)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
