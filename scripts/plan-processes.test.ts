import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { planProcesses } from './plan-processes.ts'

const MANY = Array.from(
  { length: 49 },
  (_, index) => `server/src/domain/many/${String(index).padStart(2, '0')}.test.ts`,
)
const BROWSER = Array.from({ length: 13 }, (_, index) => `test/browser/${String(index).padStart(2, '0')}.test.ts`)
const JOURNEYS = ['test/browser/journeys-of-money.test.ts', 'test/browser/pages-of-money.test.ts']
const FLOWS = MANY.slice(0, 9).map((file) => file.replace('server/src/domain/many', 'test/flows'))
const OTHERS = [
  'server/src/chain/a.sandbox.test.ts',
  'server/src/chain/b.test.ts',
  'server/src/db/a.test.ts',
  'test/api/a.test.ts',
]
const HOOKED = 'server/src/values/hooked.test.ts'
const KILLING = 'test/chaos/a.test.ts'

const QUIET = 'test/flows/parallel-clients.test.ts'

describe('the processes that run the tests', () => {
  let root: string
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'bursar-plan-'))
    for (const file of [...MANY, ...FLOWS, ...BROWSER, ...JOURNEYS, HOOKED, KILLING, ...OTHERS]) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      const hook = file === HOOKED ? 'afterEach(() => {})\n' : 'after(() => {})\n  afterEach(() => {})\n'
      writeFileSync(join(root, file), hook)
    }
  })
  after(() => rmSync(root, { recursive: true }))

  const plan = (...files: string[]) => planProcesses(root, files).map((process) => process.files)

  test('a file whose test needs a processor at once runs when the others have ended', () => {
    const processes = planProcesses(root, [QUIET, ...OTHERS])
    assert.deepEqual(
      processes.filter(({ isQuiet }) => isQuiet).map(({ files }) => files),
      [[QUIET]],
    )
  })

  test('files of a folder share a process, and more than forty-eight are split evenly', () => {
    assert.deepEqual(plan(...MANY), [MANY.slice(0, 25), MANY.slice(25)])
  })

  test('the browser tests share two processes, which start first', () => {
    assert.deepEqual(plan('test/api/a.test.ts', ...BROWSER, ...JOURNEYS), [BROWSER, JOURNEYS, ['test/api/a.test.ts']])
  })

  test('a file that stops processes, or has a hook for each test at the top level, runs alone', () => {
    const others = MANY.slice(0, 2)
    assert.deepEqual(plan(KILLING, HOOKED, ...others), [[KILLING], [HOOKED], others])
  })

  test('files that start programs share a process too, but at most eight of them', () => {
    assert.deepEqual(plan(...FLOWS), [FLOWS.slice(0, 5), FLOWS.slice(5)])
    const [sandbox = '', other = ''] = OTHERS
    assert.deepEqual(plan(sandbox, other), [[sandbox], [other]])
  })

  test('files that share a sandbox run in an order of their own, not in the order of their paths', () => {
    const [client, doctor, seller] = ['client', 'doctor', 'seller'].map((name) => `test/flows/${name}.test.ts`)
    assert.deepEqual(plan(client ?? '', doctor ?? '', seller ?? ''), [[doctor, seller, client]])
  })

  test('every file runs exactly once', () => {
    const files = [...MANY, ...FLOWS, ...BROWSER, ...JOURNEYS, HOOKED, KILLING, ...OTHERS]
    assert.deepEqual(
      plan(...files)
        .flat()
        .toSorted(),
      files.toSorted(),
    )
  })
})
