import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { isProcessAlive } from '../lib/process-facts.ts'
import { openState } from '../state/sandbox-state.ts'
import { CLOCK_ACK_MS_MAX } from './start-program.ts'
import { openProcessRecord, PROCESSES_FILE_NAME } from '../state/process-record.ts'
import { Supervisor } from './supervisor.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'bursar-supervisor-'))

describe('the supervisor', () => {
  after(() => rmSync(dataDir, { recursive: true }))

  test('ends a program that does not confirm its clock, because nobody else could', async (t) => {
    const file = join(dataDir, 'deaf.mjs')
    writeFileSync(file, "process.send({ ready: true }); process.on('message', () => undefined)")
    const record = openProcessRecord(dataDir)
    const started = Promise.withResolvers<number>()
    const supervisor = new Supervisor({
      state: openState(dataDir),
      record: {
        ...record,
        add(pid) {
          record.add(pid)
          started.resolve(pid)
        },
      },
      memory: 'small',
      onExit: (detail) => assert.fail(detail),
    })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const starting = supervisor.start({
      name: 'deaf program',
      file: pathToFileURL(file),
      logFile: join(dataDir, 'deaf.log'),
      env: {},
    })
    const pid = await started.promise
    assert.equal(isProcessAlive(pid), true)
    t.mock.timers.tick(CLOCK_ACK_MS_MAX)
    await assert.rejects(starting, { message: 'The deaf program did not confirm its new clock in time.' })
    assert.equal(isProcessAlive(pid), false)
    assert.deepEqual(JSON.parse(readFileSync(join(dataDir, PROCESSES_FILE_NAME), 'utf8')), [])
  })
})
