// `npm run citus -- --sources DIR --pg-config FILE [test file or folder …]` shows that the service works on Citus. It
// builds Citus from its sources and installs it into the PostgreSQL of `pg_config`. Then it starts a coordinator and two
// workers in a temporary folder, runs tests with a cell on a worker for each test file, and moves a cell to the other
// worker while payments are made. Nothing is downloaded. docs/site/pages/operate/citus.md says what it needs.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeDataDir } from '../sandbox/src/throw-away-sandbox.ts'
import { buildCitus } from './citus/build-citus.ts'
import { startCitus } from './citus/start-citus.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** What is tested if nothing else is named: payments of several processes at once. */
const TESTS = ['server/src/domain/payment-requests/create-payment.test.ts']

const { values, positionals } = parseArgs({
  options: { sources: { type: 'string' }, 'pg-config': { type: 'string', default: 'pg_config' } },
  allowPositionals: true,
})
const pgConfig = values['pg-config']
if (values.sources !== undefined) buildCitus({ sources: resolve(values.sources), pgConfig })
const binaries = execFileSync(pgConfig, ['--bindir'], { encoding: 'utf8' }).trim()
// What was started ends with this process.
for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
const folder = await makeDataDir()
try {
  const citus = await startCitus({ binaries, folder })
  try {
    say(citus.version)
    Object.assign(process.env, { BURSAR_TEST_DATABASE_URL: citus.url, BURSAR_TEST_CITUS: 'yes' })
    await runTests(positionals.length > 0 ? positionals : TESTS)
    // It reads the environment when it is loaded.
    const { moveCell } = await import('./citus/move-cell.ts')
    for (const line of await moveCell(citus.workers)) say(line)
  } finally {
    await citus.stop()
    const crashes = citus.listCrashes()
    for (const line of crashes) say(line)
    if (crashes.length > 0) process.exitCode = 1
  }
} finally {
  await rm(folder, { recursive: true })
}

async function runTests(paths: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['scripts/run.mjs', 'scripts/test.ts', ...paths], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
