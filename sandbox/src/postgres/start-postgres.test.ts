import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync, existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { pollUntil } from '../lib/process-poll.ts'
import { isProcessAlive } from '../lib/process-facts.ts'
import { type Postgres, startPostgres, type StartPostgresOptions } from './start-postgres.ts'
import { findFreePort } from '../../../test/support/free-port.ts'

const WAIT_MS = 20_000

const folders: string[] = []

// The folders are deleted when the process exits, after all servers have stopped. A test's own hooks would delete them
// too early, because hooks run in the order in which they were registered.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const makeFolder = (mode = 0o711): string => {
  const folder = mkdtempSync(join(tmpdir(), 'bursar pg '))
  chmodSync(folder, mode)
  folders.push(folder)
  return folder
}

const start = async (
  t: TestContext,
  dataDir: string,
  port: number,
  more: Partial<StartPostgresOptions> = {},
): Promise<Postgres> => {
  const server = await startPostgres({ durable: false, ...more, dataDir, port })
  t.after(() => server.stop())
  return server
}

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: url })
  // Some tests kill the server on purpose, which ends its sessions with an error.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

for (const [name, mode] of [
  ['a folder with a space in its name', 0o711],
  ['a folder that only its owner can enter', 0o700],
] as const) {
  test(`a cluster in ${name} starts for the first time, stops, starts again, and keeps its rows`, async (t) => {
    const dataDir = join(makeFolder(mode), 'data of mine')
    const port = await findFreePort()
    const first = await start(t, dataDir, port)
    assert.match(first.url, new RegExp(`^postgres://bursar:[\\w-]{32}@127\\.0\\.0\\.1:${port}/postgres$`))
    await query(first.url, 'create table facts as select 42 as answer')
    await first.stop()
    assert.equal(isProcessAlive(first.pid), false)
    await first.stop()

    const second = await start(t, dataDir, port)
    assert.equal(second.url, first.url)
    assert.deepEqual(await query(second.url, 'select answer from facts'), [{ answer: 42 }])
    assert.equal(statSync(`${dataDir}.password`).mode & 0o777, 0o600)
  })
}

test('the password is required', async (t) => {
  const server = await start(t, join(makeFolder(), 'data'), await findFreePort())
  await assert.rejects(query(server.url.replace(/bursar:[^@]*/, 'bursar:wrong'), 'select 1'), { code: '28P01' })
})

test('no acknowledged row is lost if the server is killed on purpose, and onExit is not called', async (t) => {
  const dataDir = join(makeFolder(), 'data')
  const port = await findFreePort()
  const details: string[] = []
  const first = await start(t, dataDir, port, { durable: true, onExit: (detail) => details.push(detail) })
  await query(first.url, 'create table rows (id integer primary key)')
  const client = new Client({ connectionString: first.url })
  client.on('error', () => undefined)
  await client.connect()
  let acknowledged = 0
  const write = async (): Promise<void> => {
    for (;;) {
      await client.query('insert into rows values ($1)', [acknowledged])
      acknowledged += 1
      if (acknowledged === 200) first.kill()
    }
  }
  await assert.rejects(write())
  await client.end().catch(() => undefined)

  const second = await start(t, dataDir, port, { durable: true })
  const [row] = (await query(second.url, 'select count(*)::int as count from rows')) as [{ count: number }]
  assert.ok(acknowledged >= 200)
  assert.ok(row.count === acknowledged || row.count === acknowledged + 1)
  assert.deepEqual(details, [])
})

test('a server that exits is reported once, and leaves no shared memory outside of its cluster', async (t) => {
  const details: string[] = []
  const dataDir = join(makeFolder(), 'data')
  const server = await start(t, dataDir, await findFreePort(), {
    onExit: (detail) => details.push(detail),
  })
  process.kill(server.pid, 'SIGKILL')
  assert.ok(await pollUntil(() => details.length > 0, WAIT_MS))
  await server.stop()
  assert.equal(details.length, 1)
  assert.match(details[0] ?? '', /^PostgreSQL ended \(SIGKILL\), see .*data\.log$/)
  assert.notDeepEqual(readdirSync(join(dataDir, 'pg_dynshmem')), [])
})

test('a port that is in use causes one clear message', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const address = other.address()
  assert.ok(typeof address === 'object' && address !== null)
  await assert.rejects(start(t, join(makeFolder(), 'data'), address.port), {
    message: `port ${address.port} is in use: PostgreSQL cannot listen on it`,
  })
})

test('a lock file that contains the id of another program does not prevent a start', async (t) => {
  const dataDir = join(makeFolder(), 'data')
  const port = await findFreePort()
  const first = await start(t, dataDir, port)
  await first.stop()
  writeFileSync(join(dataDir, 'postmaster.pid'), `${process.pid}\n${dataDir}\n`)
  const second = await start(t, dataDir, port)
  assert.deepEqual(await query(second.url, 'select 1 as one'), [{ one: 1 }])
})

test('an interrupted first start leaves nothing that looks like a cluster', async (t) => {
  const dataDir = join(makeFolder(), 'data')
  writeFileSync(`${dataDir}.password`, 'of another time\n')
  writeFileSync(`${dataDir}.new`, 'half of a cluster')
  const server = await start(t, dataDir, await findFreePort())
  assert.deepEqual(await query(server.url, 'select 1 as one'), [{ one: 1 }])
  assert.equal(existsSync(`${dataDir}.new`), false)
})

test('a server is not stopped while its sandbox is running, and the next start stops it after that sandbox was killed', async (t) => {
  const dataDir = join(makeFolder(), 'data')
  const port = await findFreePort()
  const module = new URL('start-postgres.ts', import.meta.url).href
  const options = JSON.stringify({ dataDir, port, durable: false })
  const code = `const { startPostgres } = await import(${JSON.stringify(module)})
    const server = await startPostgres(${options}); process.stdout.write(String(server.pid))`
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd, stdio: [...stdio] })
  assert.ok(parent.stdout)
  const [bytes] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(bytes.toString())
  await assert.rejects(start(t, dataDir, port), /in use by another sandbox \(process \d+\)/)
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  assert.equal(isProcessAlive(pid), true)

  const server = await start(t, dataDir, port)
  assert.equal(isProcessAlive(pid), false)
  assert.deepEqual(await query(server.url, 'select 1 as one'), [{ one: 1 }])
})
