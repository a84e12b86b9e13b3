import { formatRounded } from '@bursar/server/src/values/money.ts'

const DECIMALS_MIN = 2

/** Formats an amount of USDC: `1234.5` as `1,234.50`. Works on text, so that no digit is lost to rounding. */
export function formatAmount(usdc: string): string {
  const [whole = '0', fraction = ''] = usdc.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}.${fraction.padEnd(DECIMALS_MIN, '0')}`
}

/** Converts an amount to micro-USDC, exactly. @throws SyntaxError if the text is not an amount */
export function toMicro(usdc: string): bigint {
  const [whole = '0', fraction = ''] = usdc.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

/** Converts micro-USDC to an amount. The inverse of `toMicro`. */
export function fromMicro(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/** The share of `part` in `whole`, from 0 to 1000. 0 if `whole` is 0. For drawing only. */
export function toPermille(part: string, whole: string): number {
  const wholeMicro = toMicro(whole)
  if (wholeMicro <= 0n) return 0
  const permille = (toMicro(part) * 1_000n) / wholeMicro
  return Number(permille > 1_000n ? 1_000n : permille)
}

/** Formats an amount of USDC with two decimals: `7165.601444` as `7,165.60`. The exact amount must be reachable. */
export function roundAmount(usdc: string): string {
  return formatRounded(toMicro(usdc))
}

/** The lower of two amounts. */
export function lowerAmount(left: string, right: string): string {
  return toMicro(left) <= toMicro(right) ? left : right
}

/** The sum of amounts. */
export function sumAmounts(amounts: readonly string[]): string {
  return fromMicro(amounts.reduce((sum, usdc) => sum + toMicro(usdc), 0n))
}
