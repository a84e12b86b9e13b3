import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresBinaries } from './find-binaries.ts'
import { INITDB_TIMEOUT_MS, PASSWORD_BYTES } from './limit.ts'
import { giveTo, invocation, type RunAs } from './run-as.ts'

export const SUPERUSER = 'bursar'

type InitClusterOptions = {
  readonly dataDir: string
  readonly binaries: PostgresBinaries
  readonly runAs: RunAs
  readonly durable: boolean
}

/**
 * Creates the database cluster unless it exists, and returns the password of its superuser.
 *
 * The password is stored in `<dataDir>.password` (0600), next to the data. The cluster is created under another name
 * and then renamed. So an interrupted first start leaves nothing that looks like a complete cluster.
 */
export const initCluster = async (options: InitClusterOptions): Promise<string> => {
  const { dataDir, runAs } = options
  const passwordFile = `${dataDir}.password`
  if (existsSync(join(dataDir, 'PG_VERSION'))) {
    if (!existsSync(passwordFile)) throw new Error(`${passwordFile} is missing: restore it, or remove ${dataDir}`)
    giveTo(runAs, dataDir)
    return readFileSync(passwordFile, 'utf8').trim()
  }
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  rmSync(passwordFile, { force: true })
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  giveTo(runAs, passwordFile)
  const freshDir = `${dataDir}.new`
  rmSync(freshDir, { recursive: true, force: true })
  mkdirSync(freshDir, { mode: 0o700 })
  giveTo(runAs, freshDir)
  await runInitdb(options, freshDir, passwordFile)
  if (existsSync(dataDir)) rmSync(dataDir, { recursive: true })
  renameSync(freshDir, dataDir)
  return password
}

const DURABLE = ['--auth=scram-sha-256']
/**
 * Tests open thousands of connections on loopback. By default, the password is hashed thousands of times for each
 * connection, which would take most of the connection's time. These hashes would protect nothing, because the password
 * is random and stays on this machine.
 */
const THROW_AWAY = ['--no-sync', '--auth=password', '--set=scram_iterations=1']

const runInitdb = async (options: InitClusterOptions, freshDir: string, passwordFile: string): Promise<void> => {
  const args = [
    `--pgdata=${freshDir}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    ...(options.durable ? DURABLE : THROW_AWAY),
  ]
  const { file, args: argv, ...identity } = invocation(options.runAs, options.binaries.initdb, args)
  await new Promise<void>((resolve, reject) => {
    const child = spawn(file, argv, {
      ...identity,
      cwd: '/',
      env: { ...process.env, LC_ALL: 'C', ...options.binaries.env },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: INITDB_TIMEOUT_MS,
    })
    const complaints: string[] = []
    child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`initdb failed (${signal ?? String(code)}): ${complaints.join('').trim()}`))
    })
  })
}
