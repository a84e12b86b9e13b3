import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { listFiles } from '../sandbox/src/processes/hash-sources.ts'
import { createFreshDatabase } from '../test/support/database/fresh-database.ts'
import { send } from '../test/support/http-client.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
const BYTES_MAX = 250 * 1024 * 1024
const run = promisify(execFile)

/** What an operator installs: a folder that works with Node alone. */
describe('the package', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'bursar-package-'))
  const folder = join(temporary, 'package')
  let database: Awaited<ReturnType<typeof createFreshDatabase>>
  before(async () => {
    database = await createFreshDatabase({ empty: true })
    await run(process.execPath, [join(PROJECT, 'scripts/package.ts'), folder])
  })
  after(async () => {
    rmSync(temporary, { recursive: true, force: true })
    await database.drop()
  })

  test('has no npm packages and at most 250 MiB, and lists the SHA-256 of each file', () => {
    const files = listFiles(`${folder}/`, '').filter((file) => file !== 'SHA256SUMS')
    assert.deepEqual(
      files.filter((file) => file.includes('node_modules')),
      [],
    )
    assert.ok(files.reduce((bytes, file) => bytes + statSync(join(folder, file)).size, 0) < BYTES_MAX)
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
    const expected = files.map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    assert.equal(sums, expected.join(''))
  })

  test('names the packages in its programs, with their licenses', () => {
    const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
      components: readonly { name: string; version: string; licenses: readonly { expression: string }[] }[]
    }
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>
    }
    const licenses = readFileSync(join(folder, 'THIRD_PARTY_LICENSES'), 'utf8')
    for (const name of ['fastify', 'pg', 'viem', 'react-dom', '@privy-io/node', 'postgres-array']) {
      const version = Object.entries(lock.packages).find(([path]) => path.endsWith(`node_modules/${name}`))?.[1].version
      const found = components.find((one) => one.name === name && one.version === version)
      assert.notEqual(found, undefined, name)
      assert.ok(licenses.includes(`${name} ${version} (${found?.licenses[0]?.expression})`), name)
    }
    for (const name of ['typescript', 'oxlint', 'playwright-core']) {
      assert.ok(!components.some((one) => one.name === name), name)
    }
  })

  test('migrates a database, and serves the API, the dashboard, the documentation and the signer page', async (t) => {
    const environment = settings(database.url)
    const migrated = await run(process.execPath, [join(folder, 'server/dist/migrate.js')], { env: environment })
    assert.match(migrated.stdout, /^Applied the migrations 0001, /)
    const invited = await run(process.execPath, [join(folder, 'server/dist/invite.js'), 'Northwind'], {
      env: environment,
    })
    assert.match(invited.stdout, /\nhttps:\/\/auth\.example\.com\/invite\/\w+\n$/)
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const [, , ...args] = scripts['server']?.split(' ') ?? []
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    t.after(() => child.kill('SIGKILL'))
    const [{ ports }] = (await once(child, 'message')) as [{ ports: readonly number[] }]
    const get = async (path: string, host: string) => {
      const headers = ['x-forwarded-proto', 'https']
      const answer = await send(`http://127.0.0.1:${ports[0]}`, { path, host, headers })
      return [answer.status, answer.headers['content-type']?.split(';')[0]]
    }
    assert.deepEqual(await get('/readyz', 'api.example.com'), [200, 'application/json'])
    assert.deepEqual(await get('/llms.txt', 'api.example.com'), [200, 'text/plain'])
    assert.deepEqual(await get('/docs/', 'api.example.com'), [200, 'text/html'])
    assert.deepEqual(await get('/sign-in', 'auth.example.com'), [200, 'text/html'])
    assert.deepEqual(await get('/', 'sign.example.net'), [200, 'text/html'])
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  test('is what the image and the unit start', () => {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const command = scripts['server']?.replace(/^exec node /, '')
    const image = readFileSync(join(PROJECT, 'deploy/Dockerfile'), 'utf8')
    assert.deepEqual(image.match(/(?<=^RUN ).*/gm), [
      ...['npm ci', 'npm run package -- /package'],
      'install --directory --owner=node --group=node /var/lib/bursar',
    ])
    assert.equal(
      image.match(/^CMD (\[.*\])$/m)?.[1],
      JSON.stringify(['node', ...(command?.split(' ') ?? [])]).replaceAll(',', ', '),
    )
    const unit = readFileSync(join(PROJECT, 'deploy/bursar.service'), 'utf8')
    assert.equal(unit.match(/(?<=^ExecStart=\/usr\/bin\/node ).*/m)?.[0], command)
    const compose = readFileSync(join(PROJECT, 'deploy/compose.yaml'), 'utf8')
    assert.match(compose, /\[node, server\/dist\/migrate\.js\]/)
    // The volume is in a folder that the user of the image may write to.
    assert.match(
      compose,
      / {6}LOG_CHECKPOINT_FILE: \/var\/lib\/bursar\/log-checkpoint\n {4}volumes:\n {6}- state:\/var\/lib\/bursar\n/,
    )
    statSync(join(folder, 'server/dist/migrate.js'))
  })

  /** Production settings. Nothing listens at the addresses of the enclave and the chains. */
  function settings(databaseUrl: string): Record<string, string> {
    return {
      BURSAR_ENV: 'production',
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://auth.example.com',
      SIGNER_URL: 'https://sign.example.net',
      SIGNER_DIR: join(folder, 'signer/dist'),
      TRUSTED_PROXIES: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: databaseUrl,
      DATABASE_CONNECTIONS: '5',
      MIGRATE: 'off',
      STOP_DELAY_SECONDS: '0',
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      PRIVY_APP_ID: 'app',
      PRIVY_APP_SECRET: 'secret',
      PRIVY_API_URL: 'https://127.0.0.1:9',
      TEST_RPC_URLS: 'http://127.0.0.1:9',
      LIVE_RPC_URLS: 'http://127.0.0.1:9',
      LOG_LEVEL: 'error',
    }
  }
})
