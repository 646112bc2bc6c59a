// Files that appear once they are complete, and never replace another.

import { randomBytes } from 'node:crypto'
import { link, lstat, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FileError } from './errors.js'

export class NewFile {
  /** Gives a file its name after `work` has written it. Until then, and after an error, it has a temporary one or none. */
  static async write(destination, mode, work) {
    let temporary
    try {
      const path = typeof destination === 'string' ? destination : fileURLToPath(destination)
      if (await exists(path)) throw new FileError('exists')
      const name = join(dirname(path), `.sealing-${randomBytes(8).toString('hex')}`)
      const file = await open(name, 'wx', mode)
      temporary = name
      try {
        await work((bytes) => file.writeFile(bytes))
        await file.sync()
      } finally {
        await file.close()
      }
      await place(name, path)
    } catch (error) {
      if (error instanceof FileError) throw error
      throw new FileError(error?.code === 'EEXIST' ? 'exists' : 'not-writable', { cause: error })
    } finally {
      if (temporary !== undefined) await unlink(temporary).catch(() => {})
    }
  }
}

const exists = (path) => lstat(path).then(() => true, (error) => {
  if (error.code === 'ENOENT') return false
  throw error
})

/** Gives a written file its name. The temporary name may remain. */
async function place(temporary, path) {
  try {
    await link(temporary, path)
  } catch (error) {
    if (error.code === 'EEXIST') throw error
    // exFAT, SMB, and many mounts of containers have no hard links. The empty file keeps the name for this one.
    await (await open(path, 'wx', 0o600)).close()
    await rename(temporary, path).catch(async (error) => {
      await unlink(path)
      throw error
    })
  }
}
