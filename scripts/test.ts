// `npm test [file, folder or glob …]` runs all tests, or the selected ones, on a throw-away PostgreSQL. Without arguments
// it also runs the static checks beside them.
//
// The test files of one folder run in one process, one after the other, in the order of their names. So they load the
// sources once, and share sandboxes (`test/support/sandbox/share.ts`).
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { makeDataDir } from '../sandbox/src/throw-away-sandbox.ts'
import { endLeftProcesses } from './left-processes.ts'
import { startTestDatabase } from './test-database.ts'
import { findTestFiles } from './test-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** How many processes run at once: a few more than cores, because many tests wait for a program. */
const PROCESSES_AT_ONCE = availableParallelism() + 2
const TEST_TIMEOUT_MS = 600_000
const FOLDER_TIMEOUT_MS = 1_800_000
const OUTPUT_BYTES_MAX = 16 * 1024 ** 2
/** The checks that run beside the tests. They do not depend on each other. */
const CHECKS = [
  'oxfmt --check',
  'tsc -p .',
  'tsc -p dashboard',
  'tsc -p signer',
  'tsc -p sdk',
  'tsc -p sdk/tsconfig.test.json',
  'tsc -p cli',
  'knip',
  'oxlint .',
]

const { files, unmatched } = findTestFiles(ROOT, process.argv.slice(2))
if (unmatched !== undefined) {
  process.stderr.write(`No test file matches ${unmatched}\n`)
  process.exit(1)
}
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stop.abort())
/** The folder that the tests write to. All processes of this run have its path in their environment. */
const scratch = await makeDataDir()
Object.assign(process.env, {
  TMPDIR: scratch,
  // An older Node on the path could not run the tests.
  PATH: [dirname(process.execPath), join(ROOT, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --disable-warning=ExperimentalWarning`.trim(),
})
try {
  const passed = await Promise.all([runTests(), process.argv.length > 2 || runChecks()])
  process.exitCode = passed.every(Boolean) ? 0 : 1
} finally {
  for (const command of await endLeftProcesses(`TMPDIR=${scratch}`)) {
    process.stdout.write(`A test left a process behind: ${command}\n`)
    process.exitCode = 1
  }
  await rm(scratch, { recursive: true, force: true })
}

/** Builds what the tests use, and runs the tests. Returns whether all have passed. */
async function runTests(): Promise<boolean> {
  if (!(await runCheck('node scripts/build.ts'))) return false
  const given = process.env['BURSAR_TEST_DATABASE_URL']
  const database = given === undefined ? await startTestDatabase(join(scratch, 'postgres')) : null
  if (database !== null) process.env['BURSAR_TEST_DATABASE_URL'] = database.url
  let passed = false
  try {
    const events = run({
      files: await writeModules(),
      concurrency: PROCESSES_AT_ONCE,
      timeout: FOLDER_TIMEOUT_MS,
      execArgv: [`--test-timeout=${TEST_TIMEOUT_MS}`],
      signal: stop.signal,
    })
    // The event without a file is the summary of the whole run.
    events.on('test:summary', ({ file, success }) => {
      if (file === undefined) passed = success
    })
    for await (const text of events.compose(spec)) process.stdout.write(String(text))
  } finally {
    await database?.stop()
  }
  return passed
}

/** Writes one module for each folder, which imports the test files of the folder. Folders with many files start first. */
async function writeModules(): Promise<readonly string[]> {
  const folders = [...Map.groupBy(files, dirname)].toSorted(([, a], [, b]) => b.length - a.length)
  const modules = folders.map(([folder, members]) => ({
    path: join(scratch, `${folder.replaceAll('/', '.')}.mjs`),
    text: members.map((file) => `import '${pathToFileURL(join(ROOT, file)).href}'\n`).join(''),
  }))
  for (const { path, text } of modules) await writeFile(path, text)
  return modules.map(({ path }) => path)
}

/** Runs the static checks, and returns whether all have passed. */
async function runChecks(): Promise<boolean> {
  const failed: string[] = []
  for (const check of CHECKS) if (!(await runCheck(check))) failed.push(check)
  return failed.length === 0
}

/** Runs a command, prints its output if it fails, and returns whether it has passed. */
async function runCheck(check: string): Promise<boolean> {
  const [command = '', ...args] = check.split(' ')
  const options = { cwd: ROOT, signal: stop.signal, maxBuffer: OUTPUT_BYTES_MAX }
  try {
    await promisify(execFile)(command, args, options)
    process.stdout.write(`✔ ${check}\n`)
    return true
  } catch (error) {
    // The message of the error contains what the command wrote to stderr.
    const { stdout = '', message } = error as Error & { stdout?: string }
    process.stdout.write(`✖ ${check}\n${stdout}${message}\n`)
    return false
  }
}
