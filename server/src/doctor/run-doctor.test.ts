import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { after, before, beforeEach, describe, test } from 'node:test'
import { encodeFunctionResult } from 'viem/utils'
import { RpcRefusal, type FakeChain, type RpcCall } from '../../../test/support/wires/fake-chain.ts'
import { answerJson, startFakeServer, type FakeServer } from '../../../test/support/wires/fake-server.ts'
import { seedPayment } from '../../../test/support/context/payment-rows.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { seed, seedWallet, type Seed } from '../../../test/support/context/seed.ts'
import { createSelfSigned } from '../../../test/support/wires/self-signed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { ConfigError, readConfig, type Config } from '../config.ts'
import { createClock } from '../lib/clock.ts'
import { formatFinding, type Finding } from './finding.ts'
import { runDoctor } from './run-doctor.ts'

const DECIMALS_CALL = '0x313ce567'
const SYMBOL_CALL = '0x95d89b41'
const SECRET = 'APP-SECRET'
const CONTACT = { outboundContact: 'abuse@example.com' }
const CHECKPOINT = { logCheckpointFile: 'log-checkpoint' }
const SYMBOL_ABI = [{ type: 'function', name: 'symbol', inputs: [], outputs: [{ type: 'string' }] }] as const

/** What the metadata of the authorization server says by default about client metadata documents. */
const OFFER = { client_id_metadata_document_supported: true }

const HEALTHY = {
  chainId: undefined,
  code: '0x6080',
  decimals: 6,
  symbol: 'USDC',
  headAgeSeconds: 2,
  batchMax: 100,
  logRangeMax: 1_000,
  logsByHash: 'known',
} as const

/** What the fake chain reports. Tests change single fields. */
interface ReportedFacts {
  chainId: string | undefined
  code: string
  decimals: number
  symbol: string
  headAgeSeconds: number
  batchMax: number
  logRangeMax: number
  /** Whether logs are returned by a block's hash: for known blocks, for all, or never. */
  logsByHash: 'known' | 'all' | 'never'
}

describe('the doctor', () => {
  let given: TestContext
  let site: FakeServer
  let answerSite: (path: string) => unknown
  let signer: FakeServer
  /** What the signer page's host has as its `SHA256SUMS`. */
  let signerSums: string
  let reported: ReportedFacts
  let config: Config
  let seeded: Seed
  before(async () => {
    site = await startFakeServer((request, _body, response) => answerJson(response, answerSite(request.url ?? '')))
    signer = await startFakeServer((_request, _body, response) => response.end(signerSums))
    given = await openTestContext((config) => ({
      ...config,
      ...{ baseUrl: site.url, authUrl: site.url, signerUrl: signer.url },
    }))
    for (const [mode, chain] of Object.entries(given.chains)) chain.intercept = (call) => respond(mode, chain, call)
    seeded = await seed(given.context)
    const confirmed = { status: 'confirmed', at: new Date('2026-01-02T03:04:05Z') } as const
    await seedPayment(given.context, seeded, confirmed)
    const live = await seed(given.context, { mode: 'live' })
    await seedPayment(given.context, live, confirmed)
  })
  beforeEach(() => {
    reported = { ...HEALTHY }
    answerSite = (path) => (path === '/openapi.json' ? { openapi: '3.1.0' } : { issuer: site.url, ...OFFER })
    signerSums = `${'0'.repeat(64)}  bytes.js\n${'1'.repeat(64)}  index.html\n`
    config = given.config
    given.chains.test.down = false
    given.chains.test.head = 5_000n
  })
  after(async () => {
    await given.close()
    await site.close()
    await signer.close()
  })

  /** Responds for the test chain with the facts in `reported`, and for the live chain as if all is well. */
  function respond(mode: string, chain: FakeChain, { id, method, params }: RpcCall): unknown {
    const [first] = params as [{ data: string; fromBlock: string; toBlock: string; blockHash?: string } | string]
    const is: ReportedFacts = mode === 'test' ? reported : HEALTHY
    if (typeof id === 'number' && id >= is.batchMax) throw new RpcRefusal(-32_600)
    if (method === 'eth_chainId') return is.chainId
    if (method === 'eth_getCode') return is.code
    if (method === 'eth_getBlockByNumber' && first === 'latest') {
      const timestamp = Math.floor(Date.now() / 1_000) - is.headAgeSeconds
      return { number: `0x${chain.head.toString(16)}`, timestamp: `0x${timestamp.toString(16)}` }
    }
    if (method === 'eth_getLogs' && typeof first !== 'string') {
      if (first.blockHash !== undefined && is.logsByHash === 'never') throw new RpcRefusal(-32_602)
      if (first.blockHash !== undefined) return is.logsByHash === 'all' ? [] : undefined
      if (Number(BigInt(first.toBlock) - BigInt(first.fromBlock)) >= is.logRangeMax) throw new RpcRefusal(-32_005)
      return []
    }
    if (method !== 'eth_call' || typeof first === 'string') return undefined
    if (first.data === DECIMALS_CALL) return `0x${is.decimals.toString(16).padStart(64, '0')}`
    if (first.data !== SYMBOL_CALL) return undefined
    return encodeFunctionResult({ abi: SYMBOL_ABI, functionName: 'symbol', result: is.symbol })
  }

  async function examine({ clock = createClock(), ca }: { clock?: ReturnType<typeof createClock>; ca?: string } = {}) {
    const findings: Finding[] = []
    const report = (finding: Finding) => void findings.push(finding)
    const trusted = ca === undefined ? {} : { ca }
    const exitCode = await runDoctor({ readConfig: () => config, clock, report, ...trusted })
    const text = findings.map(formatFinding).join('')
    for (const secret of [
      SECRET,
      'app:',
      ...config.encryptionKeys.map(({ key }) => key.toString('base64')),
      'KEY-IN-ADDRESS',
    ]) {
      assert.ok(!text.includes(secret), `a secret was printed: ${secret}`)
    }
    return { exitCode, text, bad: findings.filter(({ level }) => level !== 'ok') }
  }

  /** Expects one finding that is not ok, its line, and the matching exit code. */
  async function expectOne(line: RegExp, options: Parameters<typeof examine>[0] = {}): Promise<void> {
    const { exitCode, text, bad } = await examine(options)
    assert.equal(bad.length, 1, text)
    const [finding] = bad
    assert.ok(finding !== undefined)
    assert.match(formatFinding(finding), line)
    assert.ok(finding.advice !== undefined, 'there is no advice')
    assert.equal(exitCode, finding.level === 'fail' ? 1 : 0)
  }

  function changeTest(change: Partial<Config['chains']['test']>): void {
    config = { ...config, chains: { ...config.chains, test: { ...config.chains.test, ...change } } }
  }

  test('reports one line per check if all is well', async () => {
    const { exitCode, text, bad } = await examine()
    assert.deepEqual(bad, [], text)
    assert.equal(exitCode, 0)
    assert.equal(text.split('\n').length - 1, 27)
    assert.match(text, /^ok {4}SIGNER_URL: http:\/\/127\.0\.0\.1:\d+ is served by this service$/m)
    assert.match(text, /^ok {4}test chain, node 1 \(127\.0\.0\.1\): chain 84532$/m)
    assert.match(text, /^ok {4}ENCRYPTION_KEY: it decrypts the stored secrets \(2 checked\)$/m)
    assert.match(text, /^ok {4}test gas: sponsored; a payment was confirmed on 2026-01-02T03:04:07\.000Z$/m)
  })

  describe('reports about the configuration', () => {
    test('everything that is missing or wrong, and runs no other check', async () => {
      const findings: Finding[] = []
      const environment = { BURSAR_ENV: 'production', PRIVY_APP_SECRET: SECRET, TEST_GAS: 'free' }
      const report = (finding: Finding) => void findings.push(finding)
      const read = () => readConfig(environment)
      assert.throws(read, ConfigError)
      assert.equal(await runDoctor({ readConfig: read, clock: createClock(), report }), 1)
      assert.equal(findings.length, 1)
      const text = findings.map(formatFinding).join('')
      assert.match(
        text,
        /^fail {2}configuration: .*missing: .*BASE_URL, AUTH_URL, DATABASE_URL.*TEST_GAS must be one of/,
      )
      assert.ok(!text.includes(SECRET))
    })

    test('that a service with a public address is not set up for production', async () => {
      const gone = await startFakeServer(() => undefined)
      await gone.close()
      config = { ...config, baseUrl: gone.url.replace('http:', 'https:') }
      const { bad } = await examine()
      assert.deepEqual(
        bad.map(({ level, name }) => [level, name]),
        [
          ['warn', 'configuration'],
          ['fail', 'BASE_URL'],
        ],
      )
    })

    test('that a service in production trusts no proxy', async () => {
      config = { ...config, production: true, ...CONTACT, ...CHECKPOINT }
      await expectOne(/^fail {2}TRUSTED_PROXIES: not set\n/)
    })

    test('that a service in production names no contact to other servers', async () => {
      config = { ...config, production: true, trustedProxies: ['10.0.0.1'], ...CHECKPOINT }
      await expectOne(/^warn {2}OUTBOUND_CONTACT: not set\n/)
    })

    test('that a service in production keeps no checkpoint of its log apart from the database', async () => {
      config = { ...config, production: true, trustedProxies: ['10.0.0.1'], ...CONTACT }
      await expectOne(/^warn {2}LOG_CHECKPOINT_FILE: not set\n/)
    })
  })

  describe('reports about a chain', () => {
    test('that an address is dead, without the key in it', async () => {
      const gone = await startFakeServer(() => undefined)
      await gone.close()
      changeTest({ rpcUrls: [...config.chains.test.rpcUrls, `${gone.url}/KEY-IN-ADDRESS`] })
      await expectOne(/^fail {2}test chain, node 2 \(127\.0\.0\.1\): cannot be reached\n/)
    })

    test('that it has another id', async () => {
      reported.chainId = '0x1'
      await expectOne(/^fail {2}test chain, node 1 \(127\.0\.0\.1\): chain 1, not 84532\n/)
    })

    test('that there is no contract at the USDC address', async () => {
      reported.code = '0x'
      await expectOne(/^fail {2}test chain.*USDC: no contract at 0x036CbD/)
    })

    test('that the contract has other decimals, or another symbol', async () => {
      reported.decimals = 18
      await expectOne(/^fail {2}test chain.*USDC: "USDC" with 18 decimals/)
      reported.decimals = 6
      reported.symbol = 'USDbC'
      await expectOne(/^warn {2}test chain.*USDC: "USDbC" with 6 decimals/)
    })

    test('that its head is old', async () => {
      reported.headAgeSeconds = 90
      await expectOne(/^warn {2}test chain.*head: block 5000, (89|90|91) s old\n/)
      reported.headAgeSeconds = 3_600
      await expectOne(/^fail {2}test chain.*head: block 5000, 360\d s old\n/)
    })

    test('how many calls it accepts at once', async () => {
      reported.batchMax = 20
      await expectOne(/^warn {2}test chain.*batches: 20 calls in a request\n/)
    })

    test('how many blocks of logs it returns at once', async () => {
      reported.logRangeMax = 100
      await expectOne(/^warn {2}test chain.*logs: 100 blocks at once\n/)
      for (const [max, observed] of [
        [7, '5 blocks'],
        [1, '1 block'],
      ] as const) {
        reported.logRangeMax = max
        await expectOne(new RegExp(`^warn {2}test chain.*logs: ${observed} at once\n`))
      }
      reported.logRangeMax = 0
      await expectOne(/^fail {2}test chain.*logs: rejected, even for a single block\n/)
    })

    test('that it rejects the hash of a block, or has an empty list for a block that it does not have', async () => {
      reported.logsByHash = 'never'
      await expectOne(/^fail {2}test chain.*logs of one block: rejected for the hash of a block\n/)
      reported.logsByHash = 'all'
      await expectOne(/^warn {2}test chain.*logs of one block: an empty list, also for a block that it does not have\n/)
    })

    test('that wallets that pay their own gas have too little for it', async () => {
      changeTest({ gas: 'self' })
      given.chains.test.coinWei = 0n
      await expectOne(/^warn {2}test gas: 1 cannot pay for gas \(1 wallet checked; a payment needs 0\.0002 ETH\)\n/)
      for (let count = 1; count < 12; count += 1) await seedWallet(given.context, seeded)
      await expectOne(
        /^warn {2}test gas: 12 cannot pay for gas \(12 wallets checked; .*\n.*Send ETH to (0x\w+, ){5}and the others\.\n/,
      )
      given.chains.test.coinWei = 10n ** 18n
      const { text } = await examine()
      assert.match(text, /^ok {4}test gas: wallets pay for themselves, and all of them can/m)
    })
  })

  describe('reports about the enclave', () => {
    test('that it refuses the credentials', async (t) => {
      const strict = await startFakeServer((_request, _body, response) =>
        answerJson(response, { error: 'Invalid app ID or app secret.' }, 401),
      )
      t.after(() => strict.close())
      config = { ...config, enclave: { ...config.enclave, apiUrl: strict.url, appSecret: SECRET } }
      await expectOne(/^fail {2}enclave \(127\.0\.0\.1:\d+\): it rejects the credentials \(401\)\n/)
    })

    test('that it cannot be reached, or is another program', async () => {
      const other = await startFakeServer((_request, _body, response) => answerJson(response, {}, 502))
      config = { ...config, enclave: { ...config.enclave, apiUrl: other.url } }
      await expectOne(/^fail {2}enclave .*: it responds with 502\n/)
      await other.close()
      await expectOne(/^fail {2}enclave .*: it cannot be reached \(\w+\)\n/)
    })

    test('that our clock differs from the enclave’s and the database’s', async () => {
      for (const [offsetMs, level, reported] of [
        [3_200, 'warn', 'ahead'],
        [-9_000, 'fail', 'behind'],
      ] as const) {
        const { bad, text, exitCode } = await examine({ clock: createClock(offsetMs) })
        const names = bad.map(({ level, name }) => [level, name])
        assert.deepEqual(names, [
          [level, 'clock, compared with the database'],
          [level, 'clock, compared with the enclave'],
        ])
        assert.match(text, new RegExp(`this machine's clock is \\d\\.\\d s ${reported}`))
        assert.equal(exitCode, level === 'fail' ? 1 : 0)
      }
    })
  })

  describe('reports about the database', () => {
    const ledger = (text: string) => readRows(given.context.db, text)

    test('that it cannot be reached, and what was therefore not checked', async () => {
      config = { ...config, database: { ...config.database, url: `${site.url.replace('http', 'postgres')}/none` } }
      const { bad, exitCode } = await examine()
      assert.deepEqual(
        bad.map(({ level, name }) => [level, name]),
        [
          ['fail', 'database'],
          ['warn', 'ENCRYPTION_KEY'],
          ['warn', 'test gas'],
          ['warn', 'live gas'],
        ],
      )
      assert.equal(exitCode, 1)
    })

    test('that a migration is not applied yet, was changed, or is not ours', async () => {
      const [last] = await ledger(
        'select version, checksum, applied_at from schema_migrations order by version desc limit 1',
      )
      const version = String(last?.['version'])
      const checksum = String(last?.['checksum'])
      await ledger(`update schema_migrations set checksum = 'other' where version = '${version}'`)
      await expectOne(new RegExp(`^fail {2}schema: migrations were changed after they were applied: ${version}\n`))
      await ledger(`update schema_migrations set version = '9999' where version = '${version}'`)
      await expectOne(/^fail {2}schema: the database has migrations of a newer version: 9999\n/)
      await ledger(`delete from schema_migrations where version = '9999'`)
      await expectOne(new RegExp(`^warn {2}schema: not applied yet: ${version}\n`))
      await ledger(`insert into schema_migrations (version, checksum, applied_at)
        values ('${version}', '${checksum}', '2026-01-01')`)
    })

    test('that it rejects writes', async () => {
      const name = new URL(config.database.url).pathname.slice(1)
      await ledger(`alter database ${name} set default_transaction_read_only = on`)
      const { bad, exitCode } = await examine()
      assert.deepEqual(
        bad.map(({ level, name, observed }) => [level, name, observed]),
        [
          ['fail', 'database writes', 'rejected (25006)'],
          ['warn', 'ENCRYPTION_KEY', 'not checked'],
          ['warn', 'test gas', 'not checked'],
          ['warn', 'live gas', 'not checked'],
        ],
      )
      assert.equal(exitCode, 1)
      await ledger(`alter database ${name} reset default_transaction_read_only`)
    })

    test('that its secrets were encrypted with another key', async () => {
      config = { ...config, encryptionKeys: [{ id: null, key: randomBytes(32) }] }
      await expectOne(/^fail {2}ENCRYPTION_KEY: it does not decrypt 2 of 2 secrets in the database\n/)
    })
  })

  describe('reports about our own addresses', () => {
    test('that the dashboard is not built; a worker needs none', async () => {
      config = { ...config, dashboardDir: fileURLToPath(new URL('.', import.meta.url)) }
      await expectOne(/^fail {2}dashboard: not built\n/)
      config = { ...config, role: 'worker' }
      assert.deepEqual((await examine()).bad, [])
    })

    test('that another program responds there, or nothing', async () => {
      answerSite = (path) => (path === '/openapi.json' ? { openapi: '3.1.0' } : { issuer: 'https://other.example' })
      await expectOne(/^fail {2}AUTH_URL: it responds with 200, but not as this service does\n/)
      const gone = await startFakeServer(() => undefined)
      await gone.close()
      answerSite = () => ({ issuer: site.url, ...OFFER })
      config = { ...config, baseUrl: gone.url }
      await expectOne(/^fail {2}BASE_URL: http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\n/)
    })

    test('that another program is where the signer page should be, or that there is no page', async () => {
      signerSums = '<!doctype html>'
      await expectOne(/^fail {2}SIGNER_URL: it responds with 200, but not as this service does\n/)
      config = { ...config, signerUrl: null }
      await expectOne(/^warn {2}SIGNER_URL: not set\n/)
    })

    test('that the service offers client metadata documents although these settings do not, or the reverse', async () => {
      config = { ...config, clientDocuments: false }
      await expectOne(/^warn {2}OAUTH_CIMD: off here, but the service at AUTH_URL has it on\n/)
      config = { ...config, clientDocuments: true }
      answerSite = (path) => (path === '/openapi.json' ? { openapi: '3.1.0' } : { issuer: site.url })
      await expectOne(/^warn {2}OAUTH_CIMD: on here, but the service at AUTH_URL has it off\n/)
    })

    test('that the proxy does not say that a request came over TLS', async () => {
      answerSite = (path) =>
        path === '/openapi.json'
          ? { error: { type: 'forbidden', code: 'https_required' } }
          : { issuer: site.url, ...OFFER }
      await expectOne(/^fail {2}BASE_URL: the service treats requests as plain HTTP\n/)
    })

    test('how long a certificate is valid, and that one is invalid', async () => {
      const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/\D/g, '')
      const soon = createSelfSigned('localhost', { until: `${inDays(3).slice(2, 14)}Z` })
      const server = createServer(soon, (_request, response) => answerJson(response, { openapi: '3.1.0' }))
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve)
      })
      config = { ...config, baseUrl: `https://localhost:${(server.address() as AddressInfo).port}` }
      await expectOne(/^fail {2}BASE_URL, TLS: the certificate is not valid \(\w+\)\n/)
      await expectOne(/^warn {2}BASE_URL, TLS: the certificate is valid for 2 more days\n/, { ca: soon.cert })
      server.setSecureContext(createSelfSigned('elsewhere.example'))
      await expectOne(/^fail {2}BASE_URL, TLS: the certificate is not valid/, { ca: soon.cert })
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    })
  })
})
