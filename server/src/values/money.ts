/**
 * An amount of money: a whole number of micro-USDC (10^-6 USDC) in a bigint (D19). We never use floating-point numbers
 * for money.
 */
export type MicroUsdc = bigint & { readonly __unit: 'micro-USDC' }

const AMOUNT_PATTERN = /^(0|[1-9][0-9]*)(\.[0-9]{1,6})?$/
const MICRO_PER_USDC = 1_000_000n
/**
 * The largest amount that is accepted, far more than all USDC in existence. Sums of such amounts fit into PostgreSQL's
 * numeric and the chain's uint256 (D19).
 */
export const AMOUNT_USDC_MAX = 10n ** 15n
const AMOUNT_CHARS_MAX = 23

/** Completes the message about an amount that `parseAmount` rejects. */
export const AMOUNT_RULE = 'must be a positive decimal with at most 6 decimal places, such as "1.25"'

export function microUsdc(value: bigint): MicroUsdc {
  return value as MicroUsdc
}

/**
 * Parses a positive decimal amount of USDC, as a caller wrote it. Returns null if it is malformed or out of range
 * (D19).
 */
export function parseAmount(text: string): MicroUsdc | null {
  if (text.length > AMOUNT_CHARS_MAX || !AMOUNT_PATTERN.test(text)) return null
  const [whole = '0', fraction = ''] = text.split('.')
  const amountMicro = BigInt(whole) * MICRO_PER_USDC + BigInt(fraction.padEnd(6, '0'))
  if (amountMicro <= 0n || amountMicro > AMOUNT_USDC_MAX * MICRO_PER_USDC) return null
  return microUsdc(amountMicro)
}

/** Formats micro-USDC as the shortest decimal USDC string: `1000000n` is `"1"`, `1500000n` is `"1.5"`. */
export function formatAmount(amountMicro: bigint): string {
  const sign = amountMicro < 0n ? '-' : ''
  const absolute = amountMicro < 0n ? -amountMicro : amountMicro
  const whole = absolute / MICRO_PER_USDC
  const fraction = (absolute % MICRO_PER_USDC).toString().padStart(6, '0').replace(/0+$/, '')
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}

const MICRO_PER_CENT = MICRO_PER_USDC / 100n

/**
 * Formats micro-USDC with two decimals, for people: `7165601444n` is `"7,165.60"`. Half a cent is rounded up. An amount
 * that would round to nothing is `"<0.01"`, so that it is not mistaken for none. The exact amount must be shown or
 * reachable beside it.
 */
export function formatRounded(amountMicro: bigint): string {
  const cents = (amountMicro + MICRO_PER_CENT / 2n) / MICRO_PER_CENT
  if (cents === 0n && amountMicro > 0n) return '<0.01'
  const whole = (cents / 100n).toString().replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${whole}.${(cents % 100n).toString().padStart(2, '0')}`
}
