import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Only this user may read and write the files. */
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
/** The bits of a file mode that give other users any permission. */
const OTHERS = 0o077

/**
 * Writes a file that only this user can read. Another process sees the old content or the new one, never a part: the
 * content is written to a second file, which then takes the place of the first.
 */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await makePrivateFolder(dirname(path))
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    const file = await open(temporary, 'wx', FILE_MODE)
    try {
      await file.writeFile(content)
      // A crash of the machine must not leave an empty file, because the old refresh token no longer works.
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  if (await isOpenToOthers(folder)) await chmod(folder, FOLDER_MODE)
}

/** Reads a file. Returns null if it does not exist. Takes the rights of other users away, if they had any. */
export async function readPrivateFile(path: string): Promise<string | null> {
  try {
    if (await isOpenToOthers(path)) await chmod(path, FILE_MODE)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Returns whether other users of the machine may read or write the file or folder. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  return process.platform !== 'win32' && ((await stat(path)).mode & OTHERS) !== 0
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
