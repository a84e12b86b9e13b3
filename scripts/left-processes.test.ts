import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { endLeftProcesses } from './left-processes.ts'

const isLinux = process.platform === 'linux'

test('a process with the mark is killed, whatever its group is', { skip: !isLinux }, async () => {
  const value = randomUUID()
  const env = { ...process.env, BURSAR_LEFT_PROCESS: value }
  const program = 'setInterval(() => {}, 1000); console.log()'
  const child = spawn(process.execPath, ['-e', program], { env, detached: true })
  await once(child.stdout, 'data')
  const exit = once(child, 'exit')
  assert.deepEqual(await endLeftProcesses(`BURSAR_LEFT_PROCESS=${value}`), [`${process.execPath} -e ${program}`])
  assert.deepEqual(await exit, [null, 'SIGKILL'])
  assert.deepEqual(await endLeftProcesses(`BURSAR_LEFT_PROCESS=${value}`), [])
})
