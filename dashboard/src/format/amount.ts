const DECIMALS_MIN = 2

/**
 * An amount of USDC for reading: `1234.5` as `1,234.50`. Text in, text out: no digit is lost, and none is made up.
 */
export function formatAmount(usdc: string): string {
  const [whole = '0', fraction = ''] = usdc.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}.${fraction.padEnd(DECIMALS_MIN, '0')}`
}

/** Micro-USDC, exactly, for comparing and for drawing. @throws SyntaxError for what is no amount */
export function toMicro(usdc: string): bigint {
  const [whole = '0', fraction = ''] = usdc.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

/** Micro-USDC as an amount: the other way of `toMicro`. */
export function fromMicro(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/** How much of `whole` a part is, from 0 to 1000; 0 of nothing. For drawing only. */
export function toPermille(part: string, whole: string): number {
  const wholeMicro = toMicro(whole)
  if (wholeMicro <= 0n) return 0
  const permille = (toMicro(part) * 1_000n) / wholeMicro
  return Number(permille > 1_000n ? 1_000n : permille)
}
