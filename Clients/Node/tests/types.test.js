// A TypeScript compiler finds the types, in its older and newer ways to resolve modules.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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

// What the documents' code uses besides these modules. An application has these types from npm.
const others = `
declare const process: { readonly env: Record<string, string | undefined>; readonly argv: string[]; readonly stdout: { write(data: Uint8Array): void } }
declare class Buffer extends Uint8Array {}
declare namespace NodeJS { interface WritableStream { write(data: Uint8Array): boolean } }
declare module 'node:fs' { export function readFileSync(path: string | URL): Buffer }
declare module 'express' { const express: any; export default express }
declare module 'pg' {
  class Pool { constructor(settings: { connectionString?: string }); query(statement: string, values?: unknown[]): Promise<{ rows: any[] }> }
  const pg: { Pool: typeof Pool }
  export default pg
}
declare const stored: import('sealed-push').DeviceState
declare const push: import('sealed-push').Push
declare const token: string
`

/** Returns the code in the documents, by the names of files. */
function documented() {
  const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
  const blocks = [...read('../README.md').matchAll(/```js\n(.*?)```/gs)].map(([, text]) => text)
  assert.equal(blocks.length, 8)
  // The block about devices continues the one about sealing.
  blocks[5] = blocks[1] + blocks[5]
  const [, sealing] = /\ncat > seal\.mjs <<'END'\n(.*?)\nEND\n/s.exec(read('../../../Docs/OtherLanguages.md'))
  return Object.fromEntries([...blocks.map((text, index) => [`readme${index + 1}.mjs`, text]), ['other-languages.mjs', sealing]])
}

describe('TypeScript', () => {
  it('finds no mistake in the code of the documents, and a misspelled name', (context) => {
    if (version === 0) return context.skip("needs tsc, as in Debian's node-typescript, or TSC=...")
    const folder = mkdtempSync(join(tmpdir(), 'types'))
    try {
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(fileURLToPath(new URL('..', import.meta.url)), join(folder, 'node_modules/sealed-push'))
      const files = { 'others.d.ts': others, ...documented() }
      files['misspelled.mjs'] = files['readme1.mjs'].replace('title:', 'titel:')
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      // JavaScript has no types for parameters. All other rules are strict.
      const words = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--noImplicitAny', 'false', '--skipLibCheck', '--target', 'es2022', '--module', 'node16', '--moduleResolution', 'node16']
      const { stdout } = spawnSync(compiler, [...words, ...Object.keys(files)], { cwd: folder, encoding: 'utf8' })
      assert.equal(stdout.split('\n').filter((line) => !line.startsWith('misspelled.mjs(') && /^\S/.test(line)).join('\n'), '')
      assert.match(stdout, /^misspelled\.mjs\(\d+,\d+\): error TS.*titel/s)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

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
