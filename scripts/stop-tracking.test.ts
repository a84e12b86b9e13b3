import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const BUNDLE_TESTS = fileURLToPath(new URL('bundle-tests.ts', import.meta.url))
const RUN_PROCESSES = fileURLToPath(new URL('run-processes.ts', import.meta.url))
const LIMITS = ['--concurrency=1', '--test-timeout=20000', '--process-timeout=20000']
const HEAD = "import { describe, test } from 'node:test'\nimport asyncHooks from 'node:async_hooks'\n"

describe('a test process that no longer tracks asynchronous operations', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-tracking-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  test('still finds the suite of each test', () => {
    const { status, stdout } = run(
      'suites',
      "describe('outer', () => { describe('inner', () => test('one', () => {})) })",
    )
    assert.match(stdout, /▶ outer\n {2}▶ inner\n {4}✔ one /)
    assert.equal(status, 0, stdout)
  })

  test('gives operations no number any more, because nothing needs it', () => {
    const { status, stdout } = run(
      'numbers',
      "test('one', async () => { await null; console.log(asyncHooks.executionAsyncId()) })",
    )
    assert.match(stdout, /^0$/m)
    assert.equal(status, 0, stdout)
  })

  test('still fails if an error is thrown outside of any test', () => {
    const { status, stdout } = run(
      'errors',
      "test('one', () => { setTimeout(() => { throw new Error('thrown late') }, 1) })",
    )
    assert.match(stdout, /thrown late/)
    assert.equal(status, 1, stdout)
  })

  test('does not end the hook of a library', () => {
    const { status, stdout } = run('hooks', "test('one', () => {})\nasyncHooks.createHook({}).enable()")
    assert.match(stdout, /2 asynchronous hooks were created/)
    assert.equal(status, 1, stdout)
  })

  function run(name: string, source: string): { status: number | null; stdout: string } {
    const file = join(folder, `${name}.test.ts`)
    const list = join(folder, `${name}.json`)
    const bundles = join(folder, name)
    mkdirSync(bundles)
    writeFileSync(file, HEAD + source)
    writeFileSync(list, JSON.stringify({ [name]: [file] }))
    start(BUNDLE_TESTS, list, bundles)
    return start(RUN_PROCESSES, ...LIMITS, join(bundles, `${name}.mjs`))
  }
})

function start(...args: readonly string[]): { status: number | null; stdout: string } {
  // With this variable, a run would report to the run that started it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' })
}
