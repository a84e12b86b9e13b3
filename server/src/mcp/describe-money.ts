import type { Mode } from '../values/mode.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'

const MICRO_PER_DOLLAR = 1_000_000n
const MICRO_PER_CENT = 10_000n

/**
 * The words for the money of each mode. Every answer of a tool contains them, so that a model never confuses the modes.
 */
export const MONEY_WORDS: Readonly<Record<Mode, string>> = {
  test: 'test money, without value',
  live: 'live money, with real value',
}

/**
 * Describes an amount in figures and in words, such as `1.25 USDC (1 dollar and 25 cents; test money, without value)`.
 * A model that wrote cents although dollars are expected sees in the words what it really asked for.
 */
export function describeAmount(amountMicro: MicroUsdc, mode: Mode): string {
  return `${formatAmount(amountMicro)} USDC (${countDollars(amountMicro)}; ${MONEY_WORDS[mode]})`
}

function countDollars(amountMicro: bigint): string {
  const dollars = amountMicro / MICRO_PER_DOLLAR
  const rest = amountMicro % MICRO_PER_DOLLAR
  const words = [
    ...(dollars > 0n || rest === 0n ? [`${dollars} ${dollars === 1n ? 'dollar' : 'dollars'}`] : []),
    ...(rest > 0n ? [`${formatCents(rest)} ${rest === MICRO_PER_CENT ? 'cent' : 'cents'}`] : []),
  ]
  return words.join(' and ')
}

/** Formats micro-USDC as cents, exactly: `12500n` is `1.25`. */
function formatCents(micro: bigint): string {
  const fraction = (micro % MICRO_PER_CENT).toString().padStart(4, '0').replace(/0+$/, '')
  const whole = micro / MICRO_PER_CENT
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`
}
