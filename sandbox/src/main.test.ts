import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { addressesFrom } from './addresses.ts'
import { isProcessAlive } from './lib/process-facts.ts'
import { checkPorts } from './processes/check-ports.ts'
import { findProgram } from './processes/programs.ts'
import type { SandboxFacts } from './state/sandbox-facts.ts'
import { findFreePorts, makeDataDir } from './throw-away-sandbox.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { prepareSandbox } from '../../test/support/sandbox/prepared-sandbox.ts'

/** The time limit for the start of a whole sandbox, on a machine that may be busy. */
const START_MS_MAX = 120_000
const running = new Set<ChildProcess>()
const folders: string[] = []
after(async () => {
  for (const child of running) child.kill('SIGTERM')
  await Promise.all([...running].map((child) => once(child, 'exit')))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

async function makeFolder(prepared?: string): Promise<string> {
  const folder = await makeDataDir(prepared)
  folders.push(folder)
  return folder
}

interface Run {
  readonly child: ChildProcess
  readonly exit: Promise<number | null>
  readonly output: () => string
}

/** The program of `npm start`. */
const MAIN = findProgram('sandbox')
const RESET = new URL('reset.ts', import.meta.url)
const DEMO = new URL('demo/main.ts', import.meta.url)

function run(program: URL, env: Record<string, string>, args: readonly string[] = []): Run {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fileURLToPath(program), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const exit = once(child, 'close').then(([code]) => {
    running.delete(child)
    return code as number | null
  })
  return { child, exit, output: () => output }
}

function startMain(port: number, dataDir: string): Run {
  return run(MAIN, { BURSAR_PORT: String(port), BURSAR_DATA_DIR: dataDir })
}

async function awaitFacts({ child, output }: Run, dataDir: string): Promise<SandboxFacts> {
  const file = join(dataDir, 'sandbox.json')
  const look = (): boolean => {
    assert.ok(child.exitCode === null, output())
    return existsSync(file)
  }
  await waitFor('sandbox.json', look, START_MS_MAX)
  return JSON.parse(readFileSync(file, 'utf8')) as SandboxFacts
}

/** Returns the ids of the processes that a sandbox has started: its programs, its chain nodes and PostgreSQL. */
function readPids(dataDir: string): number[] {
  const programs = JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as { pid: number }[]
  const nodes = ['test', 'live'].map((mode) => {
    return JSON.parse(readFileSync(join(dataDir, 'chains', `${mode}.pid`), 'utf8')) as { pid: number }
  })
  const [postgres] = readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')
  return [...programs, ...nodes].map(({ pid }) => pid).concat(Number(postgres))
}

async function awaitEnd(pids: readonly number[]): Promise<void> {
  await waitFor('the processes to end', () => !pids.some(isProcessAlive))
}

it('runs once on a data directory, can start again after it was killed, and leaves no process behind', async () => {
  const dataDir = await makeFolder()
  const port = await findFreePorts()
  const first = startMain(port, dataDir)
  const facts = await awaitFacts(first, dataDir)

  const rival = startMain(await findFreePorts(), dataDir)
  assert.equal(await rival.exit, 1)
  assert.match(rival.output(), /Another sandbox \(process \d+\) runs on/)
  const reset = run(RESET, { BURSAR_DATA_DIR: dataDir })
  assert.equal(await reset.exit, 1)
  assert.match(reset.output(), /Another sandbox/)

  const orphans = readPids(dataDir)
  assert.equal(orphans.length, 6)
  first.child.kill('SIGKILL')
  await first.exit

  const second = startMain(port, dataDir)
  const isReady = (): boolean => {
    assert.ok(second.child.exitCode === null, second.output())
    return second.output().includes('Ready after')
  }
  await waitFor('the second start', isReady, START_MS_MAX)
  assert.deepEqual(await awaitFacts(second, dataDir), facts)
  await awaitEnd(orphans)
  const pids = readPids(dataDir)
  second.child.kill('SIGINT')
  second.child.kill('SIGINT')
  second.child.kill('SIGTERM')
  assert.equal(await second.exit, 0, second.output())
  assert.deepEqual(pids.filter(isProcessAlive), [])
  await checkPorts(addressesFrom(port).ports)

  const removed = run(RESET, { BURSAR_DATA_DIR: dataDir })
  assert.equal(await removed.exit, 0, removed.output())
  assert.equal(existsSync(dataDir), false)
})

it('if a part exits, ends with one message and stops the other parts', async () => {
  const dataDir = await makeFolder(await prepareSandbox())
  const sandbox = startMain(await findFreePorts(), dataDir)
  await awaitFacts(sandbox, dataDir)
  const pids = readPids(dataDir)
  const [enclave] = pids
  assert.ok(enclave)
  process.kill(enclave, 'SIGKILL')
  assert.equal(await sandbox.exit, 1)
  assert.match(sandbox.output(), /The enclave ended \(SIGKILL\), see .*enclave\.log/)
  assert.deepEqual(pids.filter(isProcessAlive), [])
})

it('can be stopped while it starts', async () => {
  const dataDir = await makeFolder()
  const port = await findFreePorts()
  const sandbox = startMain(port, dataDir)
  await waitFor('a chain', () => sandbox.output().includes('chain on port'), START_MS_MAX)
  sandbox.child.kill('SIGTERM')
  assert.equal(await sandbox.exit, 0, sandbox.output())
  await checkPorts(addressesFrom(port).ports)
  assert.equal(existsSync(join(dataDir, 'sandbox.pid')), false)
})

it('names a port that is in use, and the setting to change', async () => {
  const dataDir = await makeFolder()
  const port = await findFreePorts()
  const blocker = createServer().listen(port + 4, '127.0.0.1')
  await once(blocker, 'listening')
  const sandbox = startMain(port, dataDir)
  assert.equal(await sandbox.exit, 1)
  assert.match(sandbox.output(), new RegExp(`^Port ${port + 4} \\(test chain\\) is in use.*BURSAR_PORT`, 'm'))
  blocker.close()
  await checkPorts(addressesFrom(port).ports)
})

it('says in one line why it cannot start', async () => {
  const dataDir = await makeFolder()
  const cases = [
    [{ BURSAR_ENV: 'production', BURSAR_DATA_DIR: dataDir }, /does not run with BURSAR_ENV=production/],
    [{ BURSAR_PORT: '99999', BURSAR_DATA_DIR: dataDir }, /BURSAR_PORT must be/],
    [{ BURSAR_DATA_DIR: fileURLToPath(import.meta.url) }, /cannot be written .*BURSAR_DATA_DIR/],
  ] as const
  for (const [env, message] of cases) {
    const sandbox = run(MAIN, env)
    assert.equal(await sandbox.exit, 1)
    assert.match(sandbox.output(), message)
  }
  assert.deepEqual(readdirSync(dataDir), [])
})

it('rejects the data of another version with one sentence, and reset deletes it', async () => {
  const dataDir = await makeFolder()
  writeFileSync(join(dataDir, 'sandbox-state.json'), '{"version":1}')
  const sandbox = startMain(await findFreePorts(), dataDir)
  assert.equal(await sandbox.exit, 1)
  const said = `${dataDir} has the data of another version of the sandbox: delete it with npm run reset, and start again\n`
  assert.ok(sandbox.output().endsWith(said), sandbox.output())
  const reset = run(RESET, { BURSAR_DATA_DIR: dataDir })
  assert.equal(await reset.exit, 0, reset.output())
  assert.equal(existsSync(dataDir), false)
})

it('refuses arguments instead of ignoring them, and deletes nothing', async () => {
  const dataDir = await makeFolder()
  for (const program of [RESET, MAIN, DEMO]) {
    const refused = run(program, { BURSAR_DATA_DIR: dataDir }, ['/another/folder'])
    assert.equal(await refused.exit, 1, refused.output())
    assert.match(refused.output(), /^This command takes no arguments\. .*BURSAR_DATA_DIR.*\n$/)
  }
  assert.equal(existsSync(dataDir), true)
})

it('runs the whole demo, in which every response is as expected', async () => {
  const demo = run(DEMO, {})
  assert.equal(await demo.exit, 0, demo.output())
  assert.match(demo.output(), /Every response was as expected\.\n$/)
})
