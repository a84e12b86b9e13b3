import type { Mode } from '../addresses.ts'

/** The seller's whole configuration. No other file reads its environment. */
export interface SellerConfig {
  /** The port to listen on. With 0, the system picks a free port. */
  readonly port: number
  readonly controlToken: string
  readonly rpcUrls: Readonly<Record<Mode, string>>
}

/** Reads the configuration. If settings are missing or malformed, throws one error that names all of them. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): SellerConfig {
  const faults: string[] = []
  const text = (name: string): string => {
    const value = env[name] ?? ''
    if (value === '') faults.push(`${name} is missing`)
    return value
  }
  const config: SellerConfig = {
    port: Number(text('SELLER_PORT')),
    controlToken: text('SELLER_CONTROL_TOKEN'),
    rpcUrls: { test: text('SELLER_TEST_RPC_URL'), live: text('SELLER_LIVE_RPC_URL') },
  }
  if (!Number.isSafeInteger(config.port)) faults.push('SELLER_PORT is not an integer')
  if (faults.length > 0) throw new Error(`The seller cannot start: ${faults.join('; ')}.`)
  return config
}
