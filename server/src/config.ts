import { fileURLToPath } from 'node:url'
import type { EgressProxySettings } from './lib/outbound/egress-proxy.ts'
import { OperatorError } from './lib/operator-error.ts'
import { parseDatabaseUrl } from './lib/parse-database-url.ts'
import { KEY_ID_PATTERN, SEALING_KEY_BYTES, type SealingKey } from './lib/sealing.ts'
import { DEFAULT_CHAINS, findChain, type Faucet } from './values/chains.ts'
import { parseAddress, type Address } from './values/address.ts'
import { GAS_MODES, type GasMode } from './values/gas.ts'
import type { Mode } from './values/mode.ts'
import { parseCell, type Cell } from './values/secret.ts'
import { SIGN_UP_POLICIES, type SignUpPolicy } from './values/sign-up-policy.ts'
import { WALLET_SLOTS_MAX } from './values/limits.ts'

const PLAN_CACHE_MODES = ['force_generic_plan', 'auto'] as const

export type ProcessRole = 'all' | 'api' | 'worker'

export interface ChainSettings {
  readonly mode: Mode
  readonly chainId: number
  readonly rpcUrls: readonly string[]
  readonly usdc: Address
  readonly confirmations: number
  /** Who pays the gas of payments: the enclave's provider, or the wallet. */
  readonly gas: GasMode
  /** The origin of a block explorer, for links; null if there is none. */
  readonly explorerUrl: string | null
}

export interface DatabaseSettings {
  readonly url: string
  readonly connectionsMax: number
  /** PostgreSQL's `plan_cache_mode`. Citus cannot plan every statement without the values of its parameters. */
  readonly planCacheMode: string
}

/** The settings from the environment, read once. */
export interface Config {
  readonly production: boolean
  readonly role: ProcessRole
  readonly baseUrl: string
  readonly authUrl: string
  /** The signer page, where owners use their wallet passkeys (D60); null if there is none. */
  readonly signerUrl: string | null
  readonly host: string
  readonly port: number
  /** A second port for the AUTH_URL origin; null if one port serves both origins, BASE_URL and AUTH_URL. */
  readonly authPort: number | null
  /** A port that serves the dashboard, so that no other port serves it (D1a); null if every port serves it. */
  readonly dashboard: { readonly host: string; readonly port: number } | null
  /** Where the process serves its metrics (D75); null if it serves none. */
  readonly metrics: { readonly host: string; readonly port: number } | null
  /** Where traces are sent, and which share of them is recorded, from 0 to 1 (D75); null if none are. */
  readonly traces: { readonly endpoint: string; readonly ratio: number; readonly serviceName: string } | null
  readonly trustedProxies: readonly string[]
  /** The folder of the dashboard's built files. */
  readonly dashboardDir: string
  /** The folder of the built documentation. */
  readonly docsDir: string
  /**
   * The folder of the signer page's built files, which are served on the host of `signerUrl`; null if they are not
   * served. If `isRequired` is true, the service does not start unless the folder contains the page.
   */
  readonly signerDir: { readonly path: string; readonly isRequired: boolean } | null
  readonly database: DatabaseSettings
  /** Whether the service migrates the database when it starts. If not, it does not start on an older schema (D76). */
  readonly migrates: boolean
  /** The keys that encrypt the secrets in the database (D74), the newest first. Only the newest one encrypts. */
  readonly encryptionKeys: readonly SealingKey[]
  readonly enclave: { readonly apiUrl: string; readonly appId: string; readonly appSecret: string }
  readonly chains: Readonly<Record<Mode, ChainSettings>>
  /** The file in which the newest checkpoint of the transparency log is kept (D80); null if none is kept. */
  readonly logCheckpointFile: string | null
  /** The name of this cell, which new API keys and tokens carry; null if there is one cell only (D95). */
  readonly cell: Cell | null
  /** How many slots a new wallet gets. */
  readonly walletSlots: number
  /** Who may sign up: anyone, or only people with a valid invitation. */
  readonly signUp: SignUpPolicy
  /** Where owners of wallets get test USDC; null if there is no such place. */
  readonly faucet: Faucet | null
  /** Whether an OAuth client's id may be the URL of its metadata document (D73). */
  readonly clientDocuments: boolean
  /**
   * Whom the operators of other servers can contact about our requests: an e-mail address or a URL (D94). Null if none
   * is set; then the requests name `baseUrl`.
   */
  readonly outboundContact: string | null
  /** The proxy through which https requests to other servers are sent; null if they are sent directly. */
  readonly egressProxy: EgressProxySettings | null
  /** How long the rows of requests to others are kept (D94). */
  readonly outboundRetentionMs: number
  readonly logLevel: string
  /** How long a process that stops still accepts connections, so that load balancers notice in time. */
  readonly stopDelayMs: number
  /**
   * Whether webhooks may be sent to loopback addresses over http, and client metadata documents may be read from there.
   * Only for the sandbox, never in production.
   */
  readonly webhooksToLoopback: boolean
  /**
   * How far the server's clock is ahead of the machine's clock at the start. Only for the sandbox, never in production.
   */
  readonly clockOffsetMs: number
}

const NO_EXPLORER = 'none'
const FAUCET_SITE = 'https://faucet.circle.com'

/** Where `npm run build` puts the files of the dashboard, the documentation and the signer page in a checkout. */
const DASHBOARD_DIR = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))
const DOCS_DIR = fileURLToPath(new URL('../../docs/site/dist', import.meta.url))
const SIGNER_DIR = fileURLToPath(new URL('../../signer/dist', import.meta.url))

/** So short that the head of a request has room for it beside the headers of an agent. */
const DAY_MS = 24 * 60 * 60 * 1_000
const CONTACT_CHARS_MAX = 128
/** The characters that a comment in the header `User-Agent` may contain (RFC 9110, section 5.6.5). */
const CONTACT_PATTERN = /^[!-'*-[\]-~]+$/
/** Each key that is not the newest one may be tried when a secret is decrypted. */
const ENCRYPTION_KEYS_MAX = 8
const EMAIL_PATTERN = /^[^@]+@[^@]+$/

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const ROLES: readonly string[] = ['all', 'api', 'worker'] satisfies ProcessRole[]

/** The environment is not valid. The message lists everything that is wrong with it (D2). */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
}

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const reader = new Reader(environment)
  const production = reader.oneOf('BURSAR_ENV', ['development', 'production'], 'development') === 'production'
  const chains = { test: readChain(reader, 'test'), live: readChain(reader, 'live') }
  const config: Config = {
    production,
    role: reader.oneOf('ROLE', ROLES, 'all') as ProcessRole,
    baseUrl: reader.origin('BASE_URL', production),
    authUrl: reader.origin('AUTH_URL', production),
    signerUrl: reader.optionalOrigin('SIGNER_URL', production),
    host: reader.text('HOST', '127.0.0.1'),
    port: reader.integer('PORT', 4100, { min: 0, max: 65_535 }),
    authPort: reader.optionalInteger('AUTH_PORT', { min: 0, max: 65_535 }),
    dashboard: readPlace(reader, ['DASHBOARD_HOST', 'DASHBOARD_PORT'], reader.text('HOST', '127.0.0.1')),
    // The metrics need no credential, so by default only programs on the same machine can read them.
    metrics: readPlace(reader, ['METRICS_HOST', 'METRICS_PORT'], '127.0.0.1'),
    traces: readTraces(reader),
    trustedProxies: reader.list('TRUSTED_PROXIES'),
    dashboardDir: reader.text('DASHBOARD_DIR', DASHBOARD_DIR),
    docsDir: reader.text('DOCS_DIR', DOCS_DIR),
    signerDir: readSignerDir(reader, production),
    database: {
      url: reader.databaseUrl(),
      connectionsMax: reader.integer('DATABASE_CONNECTIONS', 10, { min: 1, max: 200 }),
      planCacheMode: reader.oneOf('PLAN_CACHE_MODE', PLAN_CACHE_MODES, PLAN_CACHE_MODES[0]),
    },
    migrates: reader.oneOf('MIGRATE', ['on', 'off'], 'on') === 'on',
    encryptionKeys: readEncryptionKeys(reader),
    enclave: {
      apiUrl: reader.secureUrl('PRIVY_API_URL', 'https://api.privy.io', production),
      appId: reader.text('PRIVY_APP_ID'),
      appSecret: reader.text('PRIVY_APP_SECRET'),
    },
    chains,
    logCheckpointFile: reader.text('LOG_CHECKPOINT_FILE', '') || null,
    cell: reader.cell('CELL'),
    walletSlots: reader.integer('WALLET_SLOTS', WALLET_SLOTS_MAX, { min: 1, max: WALLET_SLOTS_MAX }),
    signUp: reader.oneOf('SIGN_UP', SIGN_UP_POLICIES, production ? 'invited' : 'open') as SignUpPolicy,
    faucet: readFaucet(reader, chains.test, production),
    clientDocuments: reader.oneOf('OAUTH_CIMD', ['on', 'off'], 'on') === 'on',
    outboundContact: reader.optionalContact('OUTBOUND_CONTACT'),
    egressProxy: readEgressProxy(reader),
    outboundRetentionMs: reader.integer('OUTBOUND_REQUESTS_DAYS', 30, { min: 1, max: 365 }) * DAY_MS,
    stopDelayMs: 1_000 * reader.integer('STOP_DELAY_SECONDS', production ? 5 : 0, { min: 0, max: 60 }),
    logLevel: reader.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    webhooksToLoopback: reader.oneOf('WEBHOOKS_TO_LOOPBACK', ['false', 'true'], 'false') === 'true',
    clockOffsetMs: reader.integer('CLOCK_OFFSET_MS', 0, { min: 0, max: Number.MAX_SAFE_INTEGER }),
  }
  if (production && config.webhooksToLoopback) reader.faults.push('WEBHOOKS_TO_LOOPBACK must not be true in production')
  if (production && config.clockOffsetMs !== 0) reader.faults.push('CLOCK_OFFSET_MS must not be set in production')
  checkSignerHost(reader, config)
  reader.finish()
  return config
}

/** Reads the only setting that a migration needs. Throws a `ConfigError` if it is missing. */
export function readDatabaseUrl(name = 'DATABASE_URL', environment: NodeJS.ProcessEnv = process.env): string {
  const reader = new Reader(environment)
  const url = reader.databaseUrl(name)
  reader.finish()
  return url
}

/**
 * A site can use the passkeys of its own host and of its parent domains. So the host of the signer page must not be one
 * of our other hosts or a parent domain of them: otherwise the pages on those hosts could use wallet passkeys.
 */
function checkSignerHost(reader: Reader, { signerUrl, baseUrl, authUrl }: Config): void {
  if (signerUrl === null || !URL.canParse(signerUrl)) return
  const signer = new URL(signerUrl).hostname
  const ours = [baseUrl, authUrl].flatMap((url) => (URL.canParse(url) ? new URL(url).hostname : []))
  if (ours.some((host) => host === signer || host.endsWith(`.${signer}`))) {
    reader.faults.push(
      'SIGNER_URL must have a host other than BASE_URL and AUTH_URL, and not a parent domain of theirs',
    )
  }
}

/** Reads `ENCRYPTION_KEYS`, such as `2:base64,1:base64`, or `ENCRYPTION_KEY`, which is one key without an id. */
function readEncryptionKeys(reader: Reader): SealingKey[] {
  const items = reader.list('ENCRYPTION_KEYS')
  if (items.length === 0) return [{ id: null, key: reader.key('ENCRYPTION_KEY', reader.text('ENCRYPTION_KEY')) }]
  if (reader.text('ENCRYPTION_KEY', '') !== '') {
    reader.faults.push('ENCRYPTION_KEY must not be set if ENCRYPTION_KEYS is set: add the key to the list')
  }
  const keys = items.map((item) => {
    const [id = '', text = ''] = item.split(':')
    if (!KEY_ID_PATTERN.test(id)) {
      reader.faults.push('ENCRYPTION_KEYS must be id:key pairs, with ids of 1 to 16 letters, digits and hyphens')
    }
    return { id, key: reader.key('ENCRYPTION_KEYS', text) }
  })
  const ids = new Set(keys.map(({ id }) => id))
  const values = new Set(keys.map(({ key }) => key.toString('base64')))
  if (ids.size < keys.length || values.size < keys.length) {
    reader.faults.push('ENCRYPTION_KEYS must not contain an id or a key twice')
  }
  if (keys.length > ENCRYPTION_KEYS_MAX) {
    reader.faults.push(`ENCRYPTION_KEYS must contain at most ${ENCRYPTION_KEYS_MAX} keys`)
  }
  return keys
}

/** Reads the port and host of a part of the service that has a port of its own. Returns null if no port is set. */
function readPlace(reader: Reader, [hostName, portName]: [string, string], hostDefault: string): Config['metrics'] {
  const host = reader.text(hostName, hostDefault)
  const port = reader.optionalInteger(portName, { min: 0, max: 65_535 })
  return port === null ? null : { host, port }
}

/**
 * The settings have the names that OpenTelemetry defines. Its exporter itself reads the headers for the collector, and
 * whether to compress what it sends.
 */
function readTraces(reader: Reader): Config['traces'] {
  const endpoint = reader.text('OTEL_EXPORTER_OTLP_ENDPOINT', '')
  const ratio = reader.text('OTEL_TRACES_SAMPLER_ARG', '1')
  const serviceName = reader.text('OTEL_SERVICE_NAME', 'bursar')
  if (endpoint === '') return null
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
    reader.faults.push('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL without a user name and a query')
  }
  if (!/^(?:0|1|0?\.\d+|[01]\.0+)$/.test(ratio)) {
    reader.faults.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  }
  return { endpoint, ratio: Number(ratio), serviceName }
}

/** Reads the usual variables, which many programs read in lower case only, so both spellings are set on some machines. */
function readEgressProxy(reader: Reader): EgressProxySettings | null {
  const url = reader.text('HTTPS_PROXY', reader.text('https_proxy', ''))
  if (url === '') return null
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    reader.faults.push('HTTPS_PROXY must be an http or https URL')
  }
  return { url, exempt: [...reader.list('NO_PROXY'), ...reader.list('no_proxy')] }
}

/** In production, the signer page is hosted apart from the service, unless the operator names its folder. */
function readSignerDir(reader: Reader, production: boolean): Config['signerDir'] {
  const path = reader.text('SIGNER_DIR', '')
  if (path !== '') return { path, isRequired: true }
  return production ? null : { path: SIGNER_DIR, isRequired: false }
}

function readChain(reader: Reader, mode: Mode): ChainSettings {
  const prefix = mode.toUpperCase()
  const known = DEFAULT_CHAINS[mode]
  const chainId = reader.integer(`${prefix}_CHAIN_ID`, known.chainId, { min: 1, max: Number.MAX_SAFE_INTEGER })
  return {
    mode,
    chainId,
    rpcUrls: reader.urls(`${prefix}_RPC_URLS`),
    // There is no default for a chain that we do not know. A contract of another chain could be anything.
    usdc: reader.address(`${prefix}_USDC`, findChain(chainId)?.usdc),
    confirmations: reader.integer(`${prefix}_CONFIRMATIONS`, 1, { min: 1, max: 1_000 }),
    gas: reader.oneOf(`${prefix}_GAS`, GAS_MODES, 'sponsored') as GasMode,
    explorerUrl: readExplorer(reader, `${prefix}_EXPLORER_URL`, chainId),
  }
}

function readExplorer(reader: Reader, name: string, chainId: number): string | null {
  // A chain that we do not know has no default, so that links never lead to the wrong explorer.
  const url = reader.webOrigin(name, findChain(chainId)?.explorer ?? NO_EXPLORER, NO_EXPLORER)
  return url === NO_EXPLORER ? null : url
}

/**
 * Returns the configured faucet. Without one, returns Circle's site, but only for the chain and USDC contract that it
 * supports.
 */
function readFaucet(reader: Reader, { chainId, usdc }: ChainSettings, production: boolean): Faucet | null {
  const url = reader.optionalSecureUrl('FAUCET_URL', production)
  if (url !== null) return { kind: 'endpoint', url }
  const known = DEFAULT_CHAINS.test
  const isKnown = chainId === known.chainId && usdc === known.usdc
  return isKnown ? { kind: 'site', url: FAUCET_SITE } : null
}

/**
 * Reads settings. Collects all faults instead of stopping at the first one. A message contains the setting's name,
 * never its value.
 */
class Reader {
  readonly faults: string[] = []
  readonly #environment: NodeJS.ProcessEnv
  readonly #missing: string[] = []

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment
  }

  text(name: string, fallback?: string): string {
    const value = this.#environment[name]?.trim()
    if (value !== undefined && value !== '') return value
    if (fallback === undefined) this.#missing.push(name)
    return fallback ?? ''
  }

  list(name: string): string[] {
    return this.text(name, '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }

  oneOf(name: string, allowed: readonly string[], fallback: string): string {
    const value = this.text(name, fallback)
    if (!allowed.includes(value)) this.faults.push(`${name} must be one of ${allowed.join(', ')}`)
    return value
  }

  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const text = this.text(name, String(fallback))
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) this.faults.push(`${name} must be a whole number from ${min} to ${max}`)
    return value
  }

  optionalInteger(name: string, bounds: { min: number; max: number }): number | null {
    return this.text(name, '') === '' ? null : this.integer(name, bounds.min, bounds)
  }

  /**
   * Reads an origin: scheme, host and port, without a path. Plain http is allowed only for loopback, and not in
   * production.
   */
  origin(name: string, production: boolean): string {
    const text = this.text(name)
    if (text === '') return ''
    const url = URL.canParse(text) ? new URL(text) : null
    const secure = url?.protocol === 'https:' || (!production && url?.protocol === 'http:' && isLoopback(url.hostname))
    if (url === null || !secure || url.origin !== text) {
      this.faults.push(`${name} must be an origin such as https://api.example.com, without a slash at the end`)
    }
    return text
  }

  optionalOrigin(name: string, production: boolean): string | null {
    return this.text(name, '') === '' ? null : this.origin(name, production)
  }

  /**
   * Reads the origin of a web site that people visit. The setting may also equal `none`, which means that there is no
   * site.
   */
  webOrigin(name: string, fallback: string, none: string): string {
    const text = this.text(name, fallback)
    const url = URL.canParse(text) ? new URL(text) : null
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.origin === text
    if (text !== none && !isOrigin) {
      this.faults.push(`${name} must be an origin such as https://explorer.example, or ${none}`)
    }
    return text
  }

  /**
   * Reads a URL to which a secret is sent. It must be https; outside production, loopback over http is allowed too. It
   * must not contain a user name or password, because `fetch` rejects such a URL.
   */
  secureUrl(name: string, fallback: string, production: boolean): string {
    const text = this.text(name, fallback)
    const url = URL.canParse(text) ? new URL(text) : null
    const isSecure =
      url?.protocol === 'https:' || (!production && url?.protocol === 'http:' && isLoopback(url.hostname))
    if (!isSecure) this.faults.push(`${name} must be an https URL`)
    else if (url.username !== '' || url.password !== '')
      this.faults.push(`${name} must not contain a user name or password`)
    return text
  }

  optionalSecureUrl(name: string, production: boolean): string | null {
    return this.text(name, '') === '' ? null : this.secureUrl(name, '', production)
  }

  /** Reads an e-mail address or an https URL that is sent to other servers. */
  optionalContact(name: string): string | null {
    const text = this.text(name, '')
    if (text === '') return null
    const isContact = EMAIL_PATTERN.test(text) || (URL.canParse(text) && new URL(text).protocol === 'https:')
    if (!isContact || text.length > CONTACT_CHARS_MAX || !CONTACT_PATTERN.test(text)) {
      this.faults.push(
        `${name} must be an e-mail address or an https URL of at most ${CONTACT_CHARS_MAX} characters, without parentheses`,
      )
    }
    return text
  }

  cell(name: string): Cell | null {
    const text = this.text(name, '')
    const cell = parseCell(text)
    if (text !== '' && cell === null) this.faults.push(`${name} must be three letters or digits, such as eu1`)
    return cell
  }

  databaseUrl(name = 'DATABASE_URL'): string {
    const url = this.text(name)
    if (parseDatabaseUrl(url) === null) {
      this.faults.push(
        `${name} with several servers must be such as postgresql://user@a:5432,b:5432/name?target_session_attrs=read-write`,
      )
    }
    return url
  }

  urls(name: string): string[] {
    const urls = this.list(name)
    if (urls.length === 0) this.#missing.push(name)
    if (!urls.every((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
      this.faults.push(`${name} must be http or https URLs, separated by commas`)
    }
    return urls
  }

  address(name: string, fallback?: string): Address {
    const text = this.text(name, fallback)
    const address = parseAddress(text)
    if (address !== null) return address
    if (!this.#missing.includes(name)) this.faults.push(`${name} must be an EVM address`)
    return text as Address
  }

  /** Reads a key of the setting `name` from its text. */
  key(name: string, text: string): Buffer {
    const key = Buffer.from(text, 'base64')
    if (!this.#missing.includes(name) && key.length !== SEALING_KEY_BYTES) {
      this.faults.push(`${name} must be ${SEALING_KEY_BYTES} bytes in base64`)
    }
    return key
  }

  finish(): void {
    if (this.#missing.length > 0) this.faults.unshift(`missing: ${this.#missing.join(', ')}`)
    if (this.faults.length > 0) throw new ConfigError(`The configuration is not valid. ${this.faults.join('; ')}.`)
  }
}

function isLoopback(hostname: string): boolean {
  if (hostname.endsWith('.localhost')) return true
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
