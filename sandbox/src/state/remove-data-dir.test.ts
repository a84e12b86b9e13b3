import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { removeDataDir } from './remove-data-dir.ts'
import { openState } from './sandbox-state.ts'
import { takeDataDir } from './take-data-dir.ts'

const folder = mkdtempSync(join(tmpdir(), 'bursar-remove-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const nothing = (): Promise<void> => Promise.resolve()

function makeDataDir(name: string): string {
  const dataDir = join(folder, name)
  takeDataDir(dataDir).release()
  openState(dataDir)
  mkdirSync(join(dataDir, 'logs'))
  return dataDir
}

it('removes a data directory, after stopping the processes that were still running', async () => {
  const dataDir = makeDataDir('whole')
  let stoppedIn = ''
  const isRemoved = await removeDataDir(dataDir, async (dir) => {
    assert.ok(existsSync(join(dir, 'logs')))
    stoppedIn = dir
  })
  assert.equal(isRemoved, true)
  assert.equal(stoppedIn, dataDir)
  assert.equal(existsSync(dataDir), false)
})

it('keeps files that the sandbox did not create', async () => {
  const dataDir = makeDataDir('shared')
  writeFileSync(join(dataDir, 'notes.txt'), 'mine')
  await removeDataDir(dataDir, nothing)
  assert.deepEqual(readdirSync(dataDir), ['notes.txt'])
})

it("rejects somebody else's folder, and does nothing if the folder does not exist", async () => {
  const stranger = join(folder, 'stranger')
  mkdirSync(join(stranger, 'logs'), { recursive: true })
  await assert.rejects(removeDataDir(stranger, nothing), { message: /not the data directory of a sandbox/ })
  assert.ok(existsSync(join(stranger, 'logs')))
  assert.equal(await removeDataDir(join(folder, 'none'), nothing), false)
})

it('rejects a directory while a sandbox is running on it', async () => {
  const dataDir = makeDataDir('running')
  const taken = takeDataDir(dataDir)
  await assert.rejects(removeDataDir(dataDir, nothing), { message: /Another sandbox/ })
  assert.ok(existsSync(join(dataDir, 'logs')))
  taken.release()
})
