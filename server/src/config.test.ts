import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const DEVELOPMENT = {
  BASE_URL: 'http://localhost:4100',
  AUTH_URL: 'http://localhost:4101',
  DATABASE_URL: 'postgres://user:database-secret@localhost/bursar',
  ENCRYPTION_KEY: KEY,
  PRIVY_APP_ID: 'app',
  PRIVY_APP_SECRET: 'enclave-secret',
  TEST_RPC_URLS: 'http://localhost:8545',
  LIVE_RPC_URLS: 'https://one.example/rpc-secret, https://two.example',
}
const PRODUCTION = {
  ...DEVELOPMENT,
  BURSAR_ENV: 'production',
  BASE_URL: 'https://api.example.com',
  AUTH_URL: 'https://auth.example.com',
}

const OTHER_USDC = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

describe('readConfig', () => {
  test('settings are read, and missing ones have defaults (D13, D28)', () => {
    const config = readConfig(DEVELOPMENT)
    assert.equal(config.production, false)
    assert.equal(config.role, 'all')
    assert.deepEqual([config.host, config.port, config.authPort], ['127.0.0.1', 4100, null])
    assert.equal(config.enclave.apiUrl, 'https://api.privy.io')
    assert.equal(config.walletSlots, 50)
    assert.deepEqual(config.encryptionKeys, [{ id: null, key: Buffer.alloc(32, 7) }])
    assert.deepEqual(config.chains.live, {
      mode: 'live',
      chainId: 8453,
      rpcUrls: ['https://one.example/rpc-secret', 'https://two.example'],
      usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      confirmations: 1,
      gas: 'sponsored',
      explorerUrl: 'https://basescan.org',
    })
    assert.equal(config.chains.test.explorerUrl, 'https://sepolia.basescan.org')
    assert.equal(config.chains.test.chainId, 84532)
  })

  test('a cell has a name of three characters, and statements are planned once unless a setting says otherwise (D95)', () => {
    assert.equal(readConfig(DEVELOPMENT).cell, null)
    assert.equal(readConfig({ ...DEVELOPMENT, CELL: 'eu1' }).cell, 'eu1')
    assert.throws(() => readConfig({ ...DEVELOPMENT, CELL: 'eu-1' }), /CELL must be three letters or digits/)
    assert.equal(readConfig(DEVELOPMENT).database.planCacheMode, 'force_generic_plan')
    const citus = { ...DEVELOPMENT, PLAN_CACHE_MODE: 'auto' }
    assert.equal(readConfig(citus).database.planCacheMode, 'auto')
  })

  test('metrics are served on a port of their own, to this machine only, if a port is set (D75)', () => {
    assert.equal(readConfig(PRODUCTION).metrics, null)
    const set = { ...PRODUCTION, METRICS_PORT: '9464' }
    assert.deepEqual(readConfig(set).metrics, { host: '127.0.0.1', port: 9464 })
    assert.equal(readConfig({ ...set, METRICS_HOST: '0.0.0.0' }).metrics?.host, '0.0.0.0')
  })

  test('traces are kept if a collector is set, all of them unless a share is set (D75)', () => {
    assert.equal(readConfig(PRODUCTION).traces, null)
    const set = { ...PRODUCTION, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
    assert.deepEqual(readConfig(set).traces, { endpoint: 'http://collector:4318', ratio: 1, serviceName: 'bursar' })
    assert.equal(readConfig({ ...set, OTEL_TRACES_SAMPLER_ARG: '0.05' }).traces?.ratio, 0.05)
    for (const endpoint of ['collector:4318', 'http://name:secret@collector', 'http://collector/?key=1'])
      assert.match(faultOf({ ...set, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), /OTEL_EXPORTER_OTLP_ENDPOINT must be/)
    for (const share of ['5', '-1', '1.5', 'all'])
      assert.match(faultOf({ ...set, OTEL_TRACES_SAMPLER_ARG: share }), /OTEL_TRACES_SAMPLER_ARG must be/)
  })

  test('the dashboard gets a port of its own if one is set, by default on the address of HOST (D1a)', () => {
    assert.equal(readConfig(PRODUCTION).dashboard, null)
    const set = { ...PRODUCTION, HOST: '10.0.0.1', DASHBOARD_PORT: '4102' }
    assert.deepEqual(readConfig(set).dashboard, { host: '10.0.0.1', port: 4102 })
    assert.equal(readConfig({ ...set, DASHBOARD_HOST: '10.8.0.1' }).dashboard?.host, '10.8.0.1')
  })

  test('the usual variables of a proxy are read in both spellings, and a fault does not repeat the password', () => {
    assert.equal(readConfig(PRODUCTION).egressProxy, null)
    const url = 'http://user:proxy-secret@proxy.example:3128'
    for (const name of ['HTTPS_PROXY', 'https_proxy']) {
      const set = { ...PRODUCTION, [name]: url, NO_PROXY: 'a.example, .b.example', no_proxy: '*.c.example' }
      assert.deepEqual(readConfig(set).egressProxy, { url, exempt: ['a.example', '.b.example', '*.c.example'] })
    }
    const socks = { ...PRODUCTION, HTTPS_PROXY: url.replace('http:', 'socks5:') }
    assert.throws(
      () => readConfig(socks),
      (error) => /HTTPS_PROXY must be an http or https URL/.test(String(error)) && !/proxy-secret/.test(String(error)),
    )
  })

  test('encryption keys with ids are read, the newest first (D74)', () => {
    const newest = Buffer.alloc(32, 8)
    const { ENCRYPTION_KEY: _key, ...others } = DEVELOPMENT
    const config = readConfig({ ...others, ENCRYPTION_KEYS: `b:${newest.toString('base64')}, a:${KEY}` })
    assert.deepEqual(config.encryptionKeys, [
      { id: 'b', key: newest },
      { id: 'a', key: Buffer.alloc(32, 7) },
    ])
  })

  test('the contact that other servers see is an e-mail address or an https URL, and there need not be one (D94)', () => {
    const read = (OUTBOUND_CONTACT: string) => readConfig({ ...PRODUCTION, OUTBOUND_CONTACT }).outboundContact
    assert.equal(readConfig(PRODUCTION).outboundContact, null)
    for (const contact of ['abuse@example.com', 'https://example.com/abuse?x=1']) assert.equal(read(contact), contact)
    const long = `https://example.com/${'a'.repeat(128)}`
    for (const contact of [
      'example.com',
      'http://example.com',
      'a b@example.com',
      'a)@example.com',
      'é@example.com',
      long,
    ]) {
      assert.throws(() => read(contact), /OUTBOUND_CONTACT must be an e-mail address or an https URL/, contact)
    }
  })

  test('the signer page is optional, and has a host of its own that is no parent of ours (D60)', () => {
    assert.equal(readConfig(DEVELOPMENT).signerUrl, null)
    const local = { ...DEVELOPMENT, SIGNER_URL: 'http://signer.localhost:4101' }
    assert.equal(readConfig(local).signerUrl, 'http://signer.localhost:4101')
    const read = (SIGNER_URL: string) => readConfig({ ...PRODUCTION, SIGNER_URL }).signerUrl
    for (const url of [
      'https://signer.example.com',
      'https://signer.auth.example.com',
      'https://bursar-signer.example',
    ]) {
      assert.equal(read(url), url)
    }
    for (const url of [
      ...['https://api.example.com', 'https://auth.example.com', 'https://auth.example.com:8443'],
      ...['https://example.com', 'http://signer.example.com', 'https://signer.example.com/', 'signer.example.com'],
    ]) {
      assert.throws(() => read(url), { name: 'ConfigError', message: /SIGNER_URL/ }, url)
    }
    assert.throws(() => readConfig({ ...DEVELOPMENT, SIGNER_URL: 'http://localhost:4110' }), /SIGNER_URL/)
  })

  test('production refuses to start, and names every missing setting in one message (D2)', () => {
    const names = Object.keys(DEVELOPMENT)
    const error = faultOf({ BURSAR_ENV: 'production' })
    const missing = /missing: ([^.;]+)/.exec(error)?.[1]?.split(', ')
    assert.deepEqual(missing?.toSorted(), names.toSorted())
  })

  test('a setting that is only white space counts as missing', () => {
    assert.match(faultOf({ ...PRODUCTION, DATABASE_URL: '  ' }), /missing: DATABASE_URL\./)
  })

  const faults: readonly (readonly [string, string, RegExp])[] = [
    ['BASE_URL', 'http://api.example.com', /BASE_URL must be an origin/],
    ['BASE_URL', 'https://api.example.com/', /BASE_URL must be an origin/],
    ['BASE_URL', 'https://api.example.com/v1', /BASE_URL must be an origin/],
    ['AUTH_URL', 'api.example.com', /AUTH_URL must be an origin/],
    ['AUTH_URL', 'http://localhost:4101', /AUTH_URL must be an origin/],
    ['SIGNER_URL', 'https://signer.example/', /SIGNER_URL must be an origin/],
    ['SIGNER_URL', 'http://signer.localhost:4101', /SIGNER_URL must be an origin/],
    ['SIGNER_URL', 'https://auth.example.com:8443', /SIGNER_URL must have a host other than/],
    ['SIGNER_URL', 'https://api.example.com:8443', /SIGNER_URL must have a host other than/],
    ['SIGNER_URL', 'https://example.com', /SIGNER_URL must have a host other than .* not a parent domain/],
    ['ENCRYPTION_KEY', Buffer.alloc(31).toString('base64'), /ENCRYPTION_KEY must be 32 bytes/],
    ['ENCRYPTION_KEYS', `1:${KEY}`, /ENCRYPTION_KEY must not be set if ENCRYPTION_KEYS is set/],
    ['ENCRYPTION_KEYS', `1:${Buffer.alloc(31).toString('base64')}`, /ENCRYPTION_KEYS must be 32 bytes/],
    ['ENCRYPTION_KEYS', KEY, /ENCRYPTION_KEYS must be id:key pairs/],
    ['ENCRYPTION_KEYS', `1:${KEY},2:${KEY}`, /ENCRYPTION_KEYS must not contain an id or a key twice/],
    [
      'ENCRYPTION_KEYS',
      Array.from({ length: 9 }, (_, id) => `${id}:${Buffer.alloc(32, id).toString('base64')}`).join(),
      /at most 8 keys/,
    ],
    [
      'DATABASE_URL',
      'postgres://user:database-secret@a,b/bursar?target_session_attrs=standby',
      /DATABASE_URL with several servers must be such as/,
    ],
    ['PORT', '65536', /PORT must be a whole number from 0 to 65535/],
    ['PORT', '80a', /PORT must be a whole number/],
    ['PORT', '-1', /PORT must be a whole number/],
    ['METRICS_PORT', '65536', /METRICS_PORT must be a whole number from 0 to 65535/],
    ['TEST_CONFIRMATIONS', '0', /TEST_CONFIRMATIONS must be a whole number from 1/],
    ['OUTBOUND_REQUESTS_DAYS', '0', /OUTBOUND_REQUESTS_DAYS must be a whole number from 1 to 365/],
    ['OUTBOUND_REQUESTS_DAYS', '366', /OUTBOUND_REQUESTS_DAYS must be a whole number from 1 to 365/],
    ['WALLET_SLOTS', '0', /WALLET_SLOTS must be a whole number from 1 to 50/],
    ['WALLET_SLOTS', '51', /WALLET_SLOTS must be a whole number from 1 to 50/],
    ['TEST_USDC', '0x123', /TEST_USDC must be an EVM address/],
    ['LIVE_CHAIN_ID', '42161', /LIVE_USDC/],
    ['TEST_EXPLORER_URL', 'https://explorer.example/', /TEST_EXPLORER_URL must be an origin .*, or none/],
    ['LIVE_EXPLORER_URL', 'javascript:alert(1)', /LIVE_EXPLORER_URL must be an origin/],
    ['LIVE_EXPLORER_URL', 'None', /LIVE_EXPLORER_URL must be an origin/],
    ['FAUCET_URL', 'http://127.0.0.1:4102/faucet', /FAUCET_URL must be an https URL/],
    ['FAUCET_URL', 'faucet.example', /FAUCET_URL must be an https URL/],
    ['FAUCET_URL', 'https://canary:secret@faucet.example', /FAUCET_URL must not contain a user name or password/],
    ['FAUCET_URL', 'https://:secret@faucet.example', /FAUCET_URL must not contain a user name or password/],
    ['PRIVY_API_URL', 'https://canary@privy.example', /PRIVY_API_URL must not contain a user name or password/],
    ['LIVE_RPC_URLS', 'ftp://example.com', /LIVE_RPC_URLS must be http or https/],
    ['ROLE', 'leader', /ROLE must be one of all, api, worker/],
    ['LOG_LEVEL', 'loud', /LOG_LEVEL must be one of/],
    ['OAUTH_CIMD', 'yes', /OAUTH_CIMD must be one of on, off/],
    ['BURSAR_ENV', 'prod', /BURSAR_ENV must be one of development, production/],
    ['CLOCK_OFFSET_MS', '1', /CLOCK_OFFSET_MS must not be set in production/],
  ]
  for (const [name, value, message] of faults) {
    test(`${name}=${value} is refused in production`, () => {
      assert.match(faultOf({ ...PRODUCTION, [name]: value }), message)
    })
  }

  test('several faults are reported at once', () => {
    const error = faultOf({ ...PRODUCTION, PORT: 'x', ROLE: 'x', AUTH_URL: '' })
    for (const name of ['PORT', 'ROLE', 'AUTH_URL']) assert.match(error, new RegExp(`\\b${name}\\b`))
  })

  test('a message never contains a value', () => {
    const broken = Object.fromEntries(Object.entries(PRODUCTION).map(([name, value]) => [name, `${value} canary`]))
    const error = faultOf({ ...broken, PORT: 'canary', TEST_USDC: 'canary', CLOCK_OFFSET_MS: 'canary' })
    for (const value of ['canary', 'secret', KEY, 'example.com/'])
      assert.ok(!error.includes(value), `${value} in ${error}`)
  })

  test('client metadata documents are accepted, unless OAUTH_CIMD is off (D73)', () => {
    assert.equal(readConfig(DEVELOPMENT).clientDocuments, true)
    assert.equal(readConfig({ ...DEVELOPMENT, OAUTH_CIMD: 'off' }).clientDocuments, false)
  })

  test('gas is sponsored, unless the setting of a chain says that wallets pay it themselves', () => {
    const { chains } = readConfig({ ...DEVELOPMENT, TEST_GAS: 'self' })
    assert.deepEqual([chains.test.gas, chains.live.gas], ['self', 'sponsored'])
    assert.match(faultOf({ ...DEVELOPMENT, LIVE_GAS: 'free' }), /LIVE_GAS must be one of sponsored, self/)
  })

  test('plain http is allowed for loopback only', () => {
    assert.match(faultOf({ ...DEVELOPMENT, BASE_URL: 'http://192.168.0.1' }), /BASE_URL/)
    for (const origin of ['http://127.0.0.1:4100', 'http://[::1]:4100', 'https://api.example.com']) {
      assert.equal(readConfig({ ...DEVELOPMENT, BASE_URL: origin }).baseUrl, origin)
    }
  })

  test('there is a signer page only if its origin is set', () => {
    assert.equal(readConfig(DEVELOPMENT).signerUrl, null)
    for (const origin of ['http://signer.localhost:4101', 'https://signer.example']) {
      assert.equal(readConfig({ ...DEVELOPMENT, SIGNER_URL: origin }).signerUrl, origin)
    }
  })

  test('the signer page is served in development, and in production only from a folder that is named', () => {
    const { signerDir } = readConfig(DEVELOPMENT)
    assert.match(signerDir?.path ?? '', /signer\/dist$/)
    assert.equal(signerDir?.isRequired, false)
    assert.equal(readConfig(PRODUCTION).signerDir, null)
    for (const settings of [DEVELOPMENT, PRODUCTION]) {
      const named = readConfig({ ...settings, SIGNER_DIR: '/srv/signer' }).signerDir
      assert.deepEqual(named, { path: '/srv/signer', isRequired: true })
    }
  })

  test('links lead to the default explorer of the chain, to the one that is set, or to none', () => {
    const explorerOf = (settings: object) => readConfig({ ...DEVELOPMENT, ...settings }).chains.test.explorerUrl
    assert.equal(explorerOf({ TEST_CHAIN_ID: '8453' }), 'https://basescan.org')
    assert.equal(explorerOf({ TEST_CHAIN_ID: '31337', TEST_USDC: OTHER_USDC }), null)
    assert.equal(explorerOf({ TEST_EXPLORER_URL: 'none' }), null)
    assert.equal(explorerOf({ TEST_EXPLORER_URL: 'http://localhost:4000' }), 'http://localhost:4000')
  })

  test('a faucet uses https or is on this machine; without one, Circle’s USDC has a site', () => {
    const faucetOf = (settings: object) => readConfig({ ...DEVELOPMENT, ...settings }).faucet
    for (const url of ['https://faucet.example/usdc', 'http://localhost:4102/faucet']) {
      assert.deepEqual(faucetOf({ FAUCET_URL: url }), { kind: 'endpoint', url })
    }
    assert.match(faultOf({ ...DEVELOPMENT, FAUCET_URL: 'http://10.0.0.1/faucet' }), /FAUCET_URL/)
    assert.deepEqual(faucetOf({}), { kind: 'site', url: 'https://faucet.circle.com' })
    assert.equal(faucetOf({ TEST_CHAIN_ID: '31337', TEST_USDC: OTHER_USDC }), null)
    assert.equal(faucetOf({ TEST_USDC: OTHER_USDC }), null)
  })

  test('a complete production configuration is read', () => {
    const config = readConfig({ ...PRODUCTION, TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1', TEST_CONFIRMATIONS: '3' })
    assert.equal(config.production, true)
    assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '127.0.0.1'])
    assert.equal(config.chains.test.confirmations, 3)
  })
})

function faultOf(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return assert.fail('the configuration was read')
}
