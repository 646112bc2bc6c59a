// Encrypts files of any size and makes their entries for the content (ContentParts 14). index.d.ts documents the functions.

import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { FileError } from './errors.js'
import { NewFile } from './new-file.js'
import { Blake2b } from './protocol/blake2b.js'
import * as files from './protocol/files.js'
import { HEADER } from './protocol/secretstream.js'
import { encodeBase64, options } from './protocol/text.js'

export async function sealAttachment(source, destination, settings) {
  const { url, id, type = typeof source === 'string' ? files.typeOfName(source) : undefined, thumbnail, plain } =
    options(settings, 'url', 'id', 'type', 'thumbnail', 'plain')
  files.checkType(type)
  if (!files.isIdentifier(id)) throw new FileError('id')
  if (thumbnail !== undefined && !files.isThumbnail(thumbnail)) throw new FileError('thumbnail')
  const entry = await seal(source, destination, url, plain, type)
  return { ...entry, id, type, ...(thumbnail && { thumbnail: structuredClone(thumbnail) }) }
}

export async function sealFile(source, destination, settings) {
  const { url, plain } = options(settings, 'url', 'plain')
  return seal(source, destination, url, plain)
}

export async function openFile(entry, source, destination) {
  const isRead = entry?.type === undefined ? files.isFile(entry) : files.isAttachment(entry)
  if (!isRead) throw new FileError('unreadable')
  await writing(destination, 0o600, async (write) => {
    let isFirst = true
    for await (const piece of files.openedPieces(entry, reading(source))) {
      if (isFirst && entry.type !== undefined) files.checkStart(entry.type, piece)
      isFirst = false
      await write(piece)
    }
  })
}

/** `type` is undefined for a file that iOS doesn't show. */
async function seal(source, destination, url, plain = false, type) {
  if (!files.isFileURL(url)) throw new FileError('url')
  const key = plain === true ? undefined : randomBytes(32)
  const hash = new Blake2b(32)
  let size = 0
  await writing(destination, 0o666, async (write) => {
    const chunks = checked(files.pieces(reading(source), files.CHUNK), type)
    for await (const piece of key === undefined ? chunks : files.sealedPieces(chunks, key, randomBytes(HEADER))) {
      hash.update(piece)
      size += piece.length
      if (size > files.LARGEST) throw new FileError('too-large')
      await write(piece)
    }
  })
  const entry = { url, size, hash: encodeBase64(hash.digest()), ...(key === undefined ? { plain: true } : { key: encodeBase64(key) }) }
  key?.fill(0)
  return entry
}

async function* checked(chunks, type) {
  let length = 0
  for await (const chunk of chunks) {
    if (length === 0 && type !== undefined) files.checkStart(type, chunk)
    length += chunk.length
    if (type !== undefined && length > files.TYPES[type][0]) throw new FileError('too-large')
    yield chunk
  }
  if (length === 0) throw new FileError('empty')
}

/** Yields the bytes of a file, an array of bytes, or anything that can be iterated. */
async function* reading(source) {
  try {
    if (source instanceof Uint8Array) yield source
    else yield* typeof source === 'string' || source instanceof URL ? createReadStream(source, { highWaterMark: files.CHUNK }) : source
  } catch (error) {
    // The caller's own error, or the system's.
    throw error instanceof FileError ? error : new FileError('unreadable', { cause: error })
  }
}

/** Gives `work` a function that writes. A file appears once `work` has ended; `mode` is that of a new file before the umask. */
async function writing(destination, mode, work) {
  if (typeof destination === 'string' || destination instanceof URL) return NewFile.write(destination, mode, work)
  if (typeof destination?.write !== 'function' || typeof destination.once !== 'function') throw new FileError('not-writable')
  let failure
  const fail = (error) => { failure = error ?? new Error('closed') }
  destination.on('error', fail)
  try {
    await work(async (piece) => {
      if (failure === undefined && !destination.destroyed) {
        await new Promise((resolve) => destination.write(piece, (error) => resolve(error && fail(error))))
      }
      if (failure !== undefined || destination.destroyed) throw new FileError('not-writable', { cause: failure })
    })
  } finally {
    destination.off('error', fail)
  }
}
