import { fileURLToPath } from 'node:url'
import { SEALING_KEY_BYTES } from './lib/sealing.ts'
import { parseAddress, type Address } from './values/address.ts'
import { GAS_MODES, type GasMode } from './values/gas.ts'
import type { Mode } from './values/mode.ts'
import { SIGN_UP_POLICIES, type SignUpPolicy } from './values/sign-up-policy.ts'

export type Role = 'all' | 'api' | 'worker'

export interface ChainSettings {
  readonly mode: Mode
  readonly chainId: number
  readonly rpcUrls: readonly string[]
  readonly usdc: Address
  readonly confirmations: number
  /** Who pays the gas of payments. */
  readonly gas: GasMode
  /** The origin of a block explorer, for links; null: the chain has none. */
  readonly explorerUrl: string | null
}

/** An endpoint gives when our server asks it; a site is for people to go to. */
export type Faucet = { readonly kind: 'endpoint' | 'site'; readonly url: string }

/** What the environment says, read once. */
export interface Config {
  readonly production: boolean
  readonly role: Role
  readonly baseUrl: string
  readonly authUrl: string
  readonly host: string
  readonly port: number
  /** A second port for the AUTH_URL origin, where it has its own; null: one port serves both. */
  readonly authPort: number | null
  readonly trustedProxies: readonly string[]
  /** Where the dashboard's built files are. */
  readonly dashboardDir: string
  readonly database: { readonly url: string; readonly connectionsMax: number }
  readonly encryptionKey: Buffer
  readonly enclave: { readonly apiUrl: string; readonly appId: string; readonly appSecret: string }
  readonly chains: Readonly<Record<Mode, ChainSettings>>
  /** Who may sign up: anybody, or whoever has a valid invitation. */
  readonly signUp: SignUpPolicy
  /** How test USDC is had. */
  readonly faucet: Faucet | null
  readonly logLevel: string
  /** Whether webhooks may go to loopback addresses, over http: for the sandbox, never in production. */
  readonly webhooksToLoopback: boolean
  /** Where the server's clock starts, for the sandbox; never in production. */
  readonly clockOffsetMs: number
}

/** Base Sepolia and Base (D13), and Circle's USDC on them. */
const CHAIN_DEFAULTS = {
  test: { chainId: 84532, usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  live: { chainId: 8453, usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
} as const satisfies Record<Mode, unknown>

/** By chain id: another chain on the same setting must not be linked to these. */
const EXPLORER_DEFAULTS: Readonly<Record<number, string>> = {
  84532: 'https://sepolia.basescan.org',
  8453: 'https://basescan.org',
}
const NO_EXPLORER = 'none'
const FAUCET_SITE = 'https://faucet.circle.com'

/** In a checkout, after `npm run build`. */
const DASHBOARD_DIR = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const ROLES: readonly string[] = ['all', 'api', 'worker'] satisfies Role[]

/** All that is wrong with the environment, in one message (D2). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const reader = new Reader(environment)
  const production = reader.oneOf('BURSAR_ENV', ['development', 'production'], 'development') === 'production'
  const chains = { test: readChain(reader, 'test'), live: readChain(reader, 'live') }
  const config: Config = {
    production,
    role: reader.oneOf('ROLE', ROLES, 'all') as Role,
    baseUrl: reader.origin('BASE_URL', production),
    authUrl: reader.origin('AUTH_URL', production),
    host: reader.text('HOST', '127.0.0.1'),
    port: reader.integer('PORT', 4100, { min: 0, max: 65_535 }),
    authPort: reader.optionalInteger('AUTH_PORT', { min: 0, max: 65_535 }),
    trustedProxies: reader.list('TRUSTED_PROXIES'),
    dashboardDir: reader.text('DASHBOARD_DIR', DASHBOARD_DIR),
    database: {
      url: reader.text('DATABASE_URL'),
      connectionsMax: reader.integer('DATABASE_CONNECTIONS', 10, { min: 1, max: 200 }),
    },
    encryptionKey: reader.key('ENCRYPTION_KEY'),
    enclave: {
      apiUrl: reader.secureUrl('PRIVY_API_URL', 'https://api.privy.io', production),
      appId: reader.text('PRIVY_APP_ID'),
      appSecret: reader.text('PRIVY_APP_SECRET'),
    },
    chains,
    signUp: reader.oneOf('SIGN_UP', SIGN_UP_POLICIES, 'open') as SignUpPolicy,
    faucet: readFaucet(reader, chains.test, production),
    logLevel: reader.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    webhooksToLoopback: reader.oneOf('WEBHOOKS_TO_LOOPBACK', ['false', 'true'], 'false') === 'true',
    clockOffsetMs: reader.integer('CLOCK_OFFSET_MS', 0, { min: 0, max: Number.MAX_SAFE_INTEGER }),
  }
  if (production && config.webhooksToLoopback) reader.faults.push('WEBHOOKS_TO_LOOPBACK must not be true in production')
  if (production && config.clockOffsetMs !== 0) reader.faults.push('CLOCK_OFFSET_MS must not be set in production')
  reader.finish()
  return config
}

function readChain(reader: Reader, mode: Mode): ChainSettings {
  const prefix = mode.toUpperCase()
  const { chainId: fallback } = CHAIN_DEFAULTS[mode]
  const chainId = reader.integer(`${prefix}_CHAIN_ID`, fallback, { min: 1, max: Number.MAX_SAFE_INTEGER })
  return {
    mode,
    chainId,
    rpcUrls: reader.urls(`${prefix}_RPC_URLS`),
    usdc: reader.address(`${prefix}_USDC`, CHAIN_DEFAULTS[mode].usdc),
    confirmations: reader.integer(`${prefix}_CONFIRMATIONS`, 1, { min: 1, max: 1_000 }),
    gas: reader.oneOf(`${prefix}_GAS`, GAS_MODES, 'sponsored') as GasMode,
    explorerUrl: readExplorer(reader, `${prefix}_EXPLORER_URL`, chainId),
  }
}

function readExplorer(reader: Reader, name: string, chainId: number): string | null {
  const url = reader.webOrigin(name, EXPLORER_DEFAULTS[chainId] ?? NO_EXPLORER, NO_EXPLORER)
  return url === NO_EXPLORER ? null : url
}

/** Circle's site gives its own USDC, on its own chain, and no other. */
function readFaucet(reader: Reader, { chainId, usdc }: ChainSettings, production: boolean): Faucet | null {
  const url = reader.optionalSecureUrl('FAUCET_URL', production)
  if (url !== null) return { kind: 'endpoint', url }
  const known: { readonly chainId: number; readonly usdc: string } = CHAIN_DEFAULTS.test
  const isKnown = chainId === known.chainId && usdc === known.usdc
  return isKnown ? { kind: 'site', url: FAUCET_SITE } : null
}

/** Collects every fault instead of stopping at the first one. Messages name settings, never their values. */
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

  /** An origin: scheme, host and port, nothing behind. Plain http is for loopback alone, and not for production. */
  origin(name: string, production: boolean): string {
    const text = this.text(name)
    if (text === '') return ''
    const url = URL.canParse(text) ? new URL(text) : null
    const secure = url?.protocol === 'https:' || (!production && url?.protocol === 'http:' && isLoopback(url.hostname))
    if (url === null || !secure || url.origin !== text) {
      this.faults.push(`${name} must be an origin such as https://api.example.com, without a slash at its end`)
    }
    return text
  }

  /** The origin of a web site that people are sent to, or the word for none. */
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
   * An address that a secret is sent to: https, or loopback, and in production https alone. Without a name and password
   * in it: no request can be made of such an address.
   */
  secureUrl(name: string, fallback: string, production: boolean): string {
    const text = this.text(name, fallback)
    const url = URL.canParse(text) ? new URL(text) : null
    const isSecure =
      url?.protocol === 'https:' || (!production && url?.protocol === 'http:' && isLoopback(url.hostname))
    if (!isSecure) this.faults.push(`${name} must be an https address`)
    else if (url.username !== '' || url.password !== '') this.faults.push(`${name} must not hold a name or password`)
    return text
  }

  optionalSecureUrl(name: string, production: boolean): string | null {
    return this.text(name, '') === '' ? null : this.secureUrl(name, '', production)
  }

  urls(name: string): string[] {
    const urls = this.list(name)
    if (urls.length === 0) this.#missing.push(name)
    if (!urls.every((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
      this.faults.push(`${name} must be http or https addresses, separated by commas`)
    }
    return urls
  }

  address(name: string, fallback: string): Address {
    const address = parseAddress(this.text(name, fallback))
    if (address !== null) return address
    this.faults.push(`${name} must be an EVM address`)
    return fallback as Address
  }

  key(name: string): Buffer {
    const key = Buffer.from(this.text(name), 'base64')
    if (!this.#missing.includes(name) && key.length !== SEALING_KEY_BYTES) {
      this.faults.push(`${name} must be ${SEALING_KEY_BYTES} bytes in base64`)
    }
    return key
  }

  finish(): void {
    if (this.#missing.length > 0) this.faults.unshift(`missing: ${this.#missing.join(', ')}`)
    if (this.faults.length > 0) throw new ConfigError(`The configuration is not complete. ${this.faults.join('; ')}.`)
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
