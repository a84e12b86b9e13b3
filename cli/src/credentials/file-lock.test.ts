import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { LOCK_AGE_MS_MAX, withFileLock } from './file-lock.ts'

const WAIT_MS_MAX = 20_000
const NOT_DONE = async (): Promise<boolean> => false

describe('the lock of a session', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-lock-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('one holder works at a time', async () => {
    const path = join(folder, 'one.lock')
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise(setImmediate)
      inside -= 1
    }
    const all = Array.from({ length: 12 }, () => withFileLock(path, { work, isDone: NOT_DONE, waitMsMax: WAIT_MS_MAX }))
    await Promise.all(all)
    assert.equal(most, 1)
    assert.deepEqual(await readdir(folder), [], 'nothing is left behind')
  })

  test('a waiter leaves when the holder has done its work', async () => {
    const path = join(folder, 'done.lock')
    await writeFile(path, JSON.stringify({ host: hostname(), pid: process.pid }))
    let looks = 0
    const isDone = async (): Promise<boolean> => (looks += 1) > 2
    const result = await withFileLock(path, { work: async () => 'mine', isDone, waitMsMax: WAIT_MS_MAX })
    assert.equal(result, null)
    await rm(path)
  })

  test('the lock of a process that has died is removed, by one of many waiters', async () => {
    const path = join(folder, 'dead.lock')
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    await writeFile(path, JSON.stringify({ host: hostname(), pid }))
    const all = Array.from({ length: 6 }, () =>
      withFileLock(path, { work: async () => 'mine', isDone: NOT_DONE, waitMsMax: WAIT_MS_MAX }),
    )
    assert.deepEqual(await Promise.all(all), Array(6).fill('mine'))
    assert.deepEqual(await readdir(folder), [])
  })

  test('a lock of another machine is removed only when it is old', async () => {
    const path = join(folder, 'foreign.lock')
    await writeFile(path, JSON.stringify({ host: `not-${hostname()}`, pid: 1 }))
    const take = (waitMsMax: number) => withFileLock(path, { work: async () => 'mine', isDone: NOT_DONE, waitMsMax })
    await assert.rejects(take(0), /another process holds/)
    const old = new Date(Date.now() - LOCK_AGE_MS_MAX - 1_000)
    await utimes(path, old, old)
    assert.equal(await take(WAIT_MS_MAX), 'mine')
  })

  test('an error of the work frees the lock', async () => {
    const path = join(folder, 'error.lock')
    const work = async (): Promise<never> => {
      throw new Error('broken')
    }
    await assert.rejects(withFileLock(path, { work, isDone: NOT_DONE, waitMsMax: 0 }), /broken/)
    assert.deepEqual(await readdir(folder), [])
  })
})
