// `npm test [file, folder or glob …]` runs every test on a throw-away PostgreSQL, and the static checks beside them. If
// a check fails, the tests are stopped. With arguments, it runs only the selected tests. The last output is Node's own
// summary.
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { availableParallelism, constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ChildProcesses } from './child-processes.ts'
import { findLeftProcesses, type LeftProcess } from './left-processes.ts'
import { planProcesses, type TestProcess } from './plan-processes.ts'
import { makeScratchFolder } from './scratch-folder.ts'
import { runStaticChecks } from './static-checks.ts'
import { startTestDatabase, type TestDatabase } from './test-database.ts'
import { findTestFiles } from './test-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/**
 * The number of processes that run at once, in addition to one per core. Most tests start servers and browsers of their
 * own, so a few processes use all cores. More of them would only make each wait longer.
 */
const CONCURRENCY_BEYOND_CORES = 2
/** The folder for compiled sources of the programs that build the tests and run them. It remains after the run. */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'bursar', 'compiled')
/** The time limit of a test. */
const TEST_TIMEOUT_MS = 300_000
/** The time limit of a process. A process runs many files, so its limit is longer than that of a test. */
const PROCESS_TIMEOUT_MS = 1_200_000
/** A mark in the environment of every process of this run. With it, we find processes that a test has left running. */
const RUN_MARK = { name: 'BURSAR_TEST_RUN', value: randomUUID() }
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const children = new ChildProcesses()
let database: Promise<TestDatabase> | null = null
/** The folder that the tests write to. It is deleted at the end of the run. */
let scratch: string | null = null
let isStopping = false

for (const signal of STOP_SIGNALS) process.on(signal, () => void stopBy(signal))
process.exitCode = await run(process.argv.slice(2))

/** Runs the selected tests and returns the exit code. */
async function run(patterns: readonly string[]): Promise<number> {
  const { files, unmatched } = findTestFiles(ROOT, patterns)
  if (unmatched !== undefined) {
    process.stdout.write(`No test file matches ${unmatched}\n`)
    return 1
  }
  const env = createEnvironment()
  scratch = makeScratchFolder()
  try {
    const exitCodes = await Promise.all([
      buildAndTest(files, scratch, env),
      patterns.length === 0 ? checkStatically(env) : 0,
    ])
    const left = isStopping ? [] : await endLeftProcesses()
    for (const { pid, command } of left) process.stdout.write(`A test left a process behind (${pid}): ${command}\n`)
    return left.length > 0 ? 1 : Math.max(...exitCodes)
  } finally {
    if (!isStopping) await removeScratch()
  }
}

/** Builds the tests and what they use, runs them, and returns the exit code. */
async function buildAndTest(files: readonly string[], folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  // Tests import the SDK's build, so it must exist before they are bundled.
  if (!(await build(env))) return 1
  const processes = planProcesses(ROOT, files)
  const entries = await bundle(processes, folder, env)
  if (entries === null) return 1
  const isQuiet = (_: string, index: number): boolean => processes[index]?.isQuiet === true
  const quiet = entries.filter(isQuiet)
  const others = entries.filter((entry) => !quiet.includes(entry))
  return await runTests([others, quiet], folder, env)
}

/** Runs the static checks and returns the exit code. If one fails, everything else is stopped. */
async function checkStatically(env: NodeJS.ProcessEnv): Promise<number> {
  const failures = await runStaticChecks(children, { root: ROOT, env })
  if (failures.length === 0) return 0
  if (isStopping) return 1
  await stop()
  process.stdout.write(`${failures.join('\n')}\nThe tests were stopped, because a static check failed.\n`)
  return 1
}

/** Builds the dashboard and the signer page, which the servers in the tests serve, and the programs of the sandbox. */
async function build(env: NodeJS.ProcessEnv): Promise<boolean> {
  const program = join(ROOT, 'scripts', 'build.ts')
  const { exitCode, output } = await children.run(process.execPath, [program], { cwd: ROOT, env, output: 'keep' })
  if (exitCode !== 0) process.stdout.write(output)
  return exitCode === 0
}

/** Runs groups of test processes, one group after the other, and returns the exit code. */
async function runTests(
  groups: readonly (readonly string[])[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const givenUrl = env['BURSAR_TEST_DATABASE_URL']
  if (givenUrl === undefined) database = startTestDatabase(join(folder, 'postgres'))
  try {
    const url = givenUrl ?? (await database)?.url
    const args = [
      join(ROOT, 'scripts', 'run-processes.ts'),
      `--concurrency=${availableParallelism() + CONCURRENCY_BEYOND_CORES}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--process-timeout=${PROCESS_TIMEOUT_MS}`,
    ]
    // The bundles are different in each run, so their compiled code is deleted with them.
    const cache = join(folder, 'compiled')
    const testEnv = { ...env, TMPDIR: folder, BURSAR_TEST_DATABASE_URL: url, NODE_COMPILE_CACHE: cache }
    const exitCodes: number[] = []
    for (const entries of groups) {
      if (isStopping) return 1
      if (entries.length === 0) continue
      const options = { cwd: ROOT, env: testEnv, output: 'pass' } as const
      exitCodes.push((await children.run(process.execPath, [...args, ...entries], options)).exitCode)
    }
    return Math.max(...exitCodes)
  } finally {
    if (!isStopping) await stopDatabase()
  }
}

/**
 * Builds a module for each process. The module runs the process's test files. Returns the paths of the modules in the
 * order of the processes, or null if they cannot be built.
 */
async function bundle(
  processes: readonly TestProcess[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<string[] | null> {
  const named = processes.map(({ name, files }) => [
    name.replaceAll(/[^\w.-]+/g, '-'),
    files.map((file) => join(ROOT, file)),
  ])
  const list = join(folder, 'processes.json')
  const bundles = join(folder, 'bundles')
  await writeFile(list, JSON.stringify(Object.fromEntries(named)))
  const args = [join(ROOT, 'scripts', 'bundle-tests.ts'), list, bundles]
  const { exitCode, output } = await children.run(process.execPath, args, { cwd: ROOT, env, output: 'keep' })
  if (exitCode === 0) return named.map(([name]) => join(bundles, `${String(name)}.mjs`))
  process.stdout.write(output)
  return null
}

/**
 * Returns the environment of the test processes. In its `PATH`, the running Node and the installed tools are first,
 * because an older `node` could not run the tests.
 */
function createEnvironment(): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), join(ROOT, 'node_modules', '.bin'), process.env['PATH'] ?? '']
  return {
    ...process.env,
    PATH: path.join(delimiter),
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --disable-warning=ExperimentalWarning`.trim(),
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    [RUN_MARK.name]: RUN_MARK.value,
  }
}

async function stopBy(signal: (typeof STOP_SIGNALS)[number]): Promise<void> {
  if (isStopping) return
  await stop()
  process.exit(128 + constants.signals[signal])
}

/** Stops all processes of this run, and deletes its files. */
async function stop(): Promise<void> {
  isStopping = true
  await children.stopAll()
  await stopDatabase()
  await endLeftProcesses()
  await removeScratch()
}

async function stopDatabase(): Promise<void> {
  const started = database
  database = null
  await (await started?.catch(() => null))?.stop()
}

async function removeScratch(): Promise<void> {
  if (scratch !== null) await rm(scratch, { recursive: true, force: true })
}

/** Kills all processes of this run that are still running, and returns them. */
async function endLeftProcesses(): Promise<readonly LeftProcess[]> {
  const left = await findLeftProcesses(`${RUN_MARK.name}=${RUN_MARK.value}`)
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has already exited.
    }
  }
  return left
}
