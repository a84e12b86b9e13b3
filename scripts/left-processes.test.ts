import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { findLeftProcesses } from './left-processes.ts'

const isLinux = process.platform === 'linux'

test('a process with the mark is found until it ends, whatever its group is', { skip: !isLinux }, async () => {
  const value = randomUUID()
  const env = { ...process.env, BURSAR_LEFT_PROCESS: value }
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env, detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const found = await findLeftProcesses(`BURSAR_LEFT_PROCESS=${value}`)
  assert.deepEqual(
    found.map(({ pid }) => pid),
    [child.pid],
  )
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.deepEqual(await findLeftProcesses(`BURSAR_LEFT_PROCESS=${value}`), [])
})
