import { PROFILES } from './pace.ts'
import type { Profile } from './pace.ts'

/** The enclave's whole configuration. No other file reads the enclave's environment. */
export interface EnclaveConfig {
  /** The port to listen on. With 0, the system picks a free port. */
  readonly port: number
  /**
   * The address that clients sign as part of their requests, without a trailing slash. Null means
   * `http://localhost:<port>`.
   */
  readonly publicUrl: string | null
  readonly dataDir: string
  readonly appId: string
  readonly appSecret: string
  readonly controlToken: string
  /** The JSON-RPC address of each chain, by CAIP-2 chain id. */
  readonly chains: ReadonlyMap<string, string>
  readonly clockOffsetMs: number
  readonly profile: Profile
}

const CAIP2_EVM_PATTERN = /^eip155:[1-9][0-9]{0,31}$/

/** Reads the configuration. If settings are missing or malformed, throws one error that names all of them. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): EnclaveConfig {
  const faults: string[] = []
  const text = (name: string): string => {
    const value = env[name] ?? ''
    if (value === '') faults.push(`${name} is missing`)
    return value
  }
  const integer = (name: string, fallback: string): number => {
    const value = Number(env[name] ?? fallback)
    if (!Number.isSafeInteger(value)) faults.push(`${name} is not an integer`)
    return value
  }
  const config: EnclaveConfig = {
    port: integer('ENCLAVE_PORT', '0'),
    publicUrl: env['ENCLAVE_PUBLIC_URL'] === undefined ? null : env['ENCLAVE_PUBLIC_URL'].replace(/\/+$/, ''),
    dataDir: text('ENCLAVE_DATA_DIR'),
    appId: text('ENCLAVE_APP_ID'),
    appSecret: text('ENCLAVE_APP_SECRET'),
    controlToken: text('ENCLAVE_CONTROL_TOKEN'),
    chains: parseChains(text('ENCLAVE_CHAINS'), faults),
    clockOffsetMs: integer('ENCLAVE_CLOCK_OFFSET_MS', '0'),
    profile: parseProfile(env['ENCLAVE_PROFILE'] ?? 'realistic', faults),
  }
  if (faults.length > 0) throw new Error(`The local enclave cannot start: ${faults.join('; ')}.`)
  return config
}

function parseProfile(text: string, faults: string[]): Profile {
  const profile = PROFILES.find((known) => known === text)
  if (profile === undefined) faults.push(`ENCLAVE_PROFILE is not one of ${PROFILES.join(', ')}`)
  return profile ?? 'realistic'
}

function parseChains(text: string, faults: string[]): ReadonlyMap<string, string> {
  const chains = new Map<string, string>()
  if (text === '') return chains
  try {
    const parsed: unknown = JSON.parse(text)
    for (const [caip2, url] of Object.entries(parsed ?? {})) {
      if (!CAIP2_EVM_PATTERN.test(caip2) || typeof url !== 'string' || !URL.canParse(url)) throw new Error(caip2)
      chains.set(caip2, url)
    }
  } catch {
    faults.push('ENCLAVE_CHAINS is not a JSON object of RPC addresses by "eip155:<chain id>"')
  }
  return chains
}
