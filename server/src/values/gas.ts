/**
 * Who pays for a payment's gas. `sponsored`: the enclave's provider pays. `self`: the wallet pays, in the chain's
 * native coin.
 */
export const GAS_MODES = ['sponsored', 'self'] as const

export type GasMode = (typeof GAS_MODES)[number]

/**
 * How much native coin a wallet has, and how much it needs for the gas of one payment. For wallets that pay their own
 * gas. Both amounts are in wei, the smallest unit (10^-18).
 */
export interface GasFunds {
  /** The symbol of the chain's native coin. */
  readonly coin: string
  readonly balanceWei: bigint
  readonly neededWei: bigint
}

const DECIMALS = 18
const DEFAULT_COIN = 'ETH'
/** Chains whose native coin is not ETH, by chain id. */
const OTHER_COINS: Readonly<Record<number, string>> = {
  56: 'BNB',
  97: 'BNB',
  100: 'xDAI',
  137: 'POL',
  143: 'MON',
  10143: 'MON',
  43113: 'AVAX',
  43114: 'AVAX',
  80002: 'POL',
}

/** Returns the symbol of a chain's native coin. */
export function coinOf(chainId: number): string {
  return OTHER_COINS[chainId] ?? DEFAULT_COIN
}

/**
 * Formats wei as the shortest decimal string in units of the native coin: `10n ** 18n` is `"1"`, `15n * 10n ** 16n` is
 * `"0.15"`.
 */
export function formatCoin(wei: bigint): string {
  const digits = wei.toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  const whole = digits.slice(0, -DECIMALS)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
