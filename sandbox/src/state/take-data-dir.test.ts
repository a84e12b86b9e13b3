import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { readCommand } from '../lib/process-facts.ts'
import { findHolder, LOCK_FILE_NAME, takeDataDir } from './take-data-dir.ts'

const folder = mkdtempSync(join(tmpdir(), 'bursar-lock-'))
after(() => rmSync(folder, { recursive: true, force: true }))

it('a directory is locked until it is released', () => {
  const dataDir = join(folder, 'held')
  const taken = takeDataDir(dataDir)
  assert.equal(findHolder(dataDir), process.pid)
  assert.throws(() => takeDataDir(dataDir), { message: new RegExp(`Another sandbox \\(process ${process.pid}\\)`) })
  taken.release()
  assert.equal(findHolder(dataDir), null)
  takeDataDir(dataDir).release()
  assert.equal(existsSync(join(dataDir, LOCK_FILE_NAME)), false)
})

it('a directory is rejected while another running process has locked it, and accepted after that process exited', async () => {
  const dataDir = join(folder, 'other')
  takeDataDir(dataDir).release()
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); process.stdout.write("up")'])
  await once(other.stdout, 'data')
  const pid = Number(other.pid)
  writeFileSync(join(dataDir, LOCK_FILE_NAME), JSON.stringify({ pid, command: readCommand(pid) }))
  assert.throws(() => takeDataDir(dataDir), { message: new RegExp(`process ${pid}`) })
  other.kill('SIGKILL')
  await once(other, 'exit')
  takeDataDir(dataDir).release()
})

it('a directory is not locked by another process that only has the same id', () => {
  const dataDir = join(folder, 'reused')
  takeDataDir(dataDir).release()
  writeFileSync(join(dataDir, LOCK_FILE_NAME), JSON.stringify({ pid: process.ppid, command: 'another program' }))
  takeDataDir(dataDir).release()
  writeFileSync(join(dataDir, LOCK_FILE_NAME), '{"pid":')
  takeDataDir(dataDir).release()
})

it('a directory that cannot be written is rejected with a message', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.throws(() => takeDataDir(join(file, 'below')), { message: /cannot be written .*BURSAR_DATA_DIR/ })
})
