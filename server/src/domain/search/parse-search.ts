import { isId, type IdKind } from '../../values/ids.ts'
import { AMOUNT_USDC_MAX, microUsdc, parseAmount, type MicroUsdc } from '../../values/money.ts'

/** A range of amounts. Both ends belong to it. */
export interface AmountRange {
  readonly minMicro: MicroUsdc
  readonly maxMicro: MicroUsdc
}

/** What a search text means. */
export type Search =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'amount'; readonly range: AmountRange }
  /** The first and the last characters of an address or of a transaction's hash, in lower case. Either may be empty. */
  | { readonly kind: 'hex'; readonly head: string; readonly tail: string }
  /** Part of a name, memo, website and so on. If the text is a number, it may also be an amount. */
  | { readonly kind: 'text'; readonly text: string; readonly amountMicro: MicroUsdc | null }

export const SMALLEST_AMOUNT = microUsdc(0n)
export const LARGEST_AMOUNT = microUsdc(AMOUNT_USDC_MAX * 1_000_000n)

/** `0x` and at least four more characters: fewer would match very many addresses. */
const HEAD = /^0x[0-9a-f]{4,64}$/
const SHORTENED = /^(0x[0-9a-f]{0,64})?(?:…|\.\.\.)([0-9a-f]{1,64})?$/
const COMPARISON = /^(<=|>=|≤|≥|<|>|=)\s*(\S+)$/
const AMOUNT_RANGE = /^(\S+?)\s*\.\.\s*(\S+)$/
/** Thousands may be separated by commas, as the pages show them. */
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/

/**
 * Decides what a search text means: an id, an amount such as `>100`, `<=5` or `10..20`, an address or hash, its first
 * characters, or its shortened form such as `0x7442…C78D`. Hashes and addresses may be in upper or lower case. Anything
 * else is a text.
 */
export function parseSearch(text: string, idKind: IdKind): Search {
  if (isId(idKind, text)) return { kind: 'id', id: text }
  const lower = text.toLowerCase()
  if (HEAD.test(lower)) return { kind: 'hex', head: lower, tail: '' }
  const [, head, tail] = SHORTENED.exec(lower) ?? []
  if (head !== undefined || tail !== undefined) return { kind: 'hex', head: head ?? '', tail: tail ?? '' }
  const range = parseRange(text)
  return range === null ? { kind: 'text', text, amountMicro: readAmount(text) } : { kind: 'amount', range }
}

function parseRange(text: string): AmountRange | null {
  const [, from, to] = AMOUNT_RANGE.exec(text) ?? []
  if (from !== undefined && to !== undefined) {
    const [minMicro, maxMicro] = [readAmount(from), readAmount(to)]
    return minMicro === null || maxMicro === null ? null : { minMicro, maxMicro }
  }
  const [, sign, number = ''] = COMPARISON.exec(text) ?? []
  const amount = readAmount(number)
  if (sign === undefined || amount === null) return null
  switch (sign) {
    case '>':
      return { minMicro: microUsdc(amount + 1n), maxMicro: LARGEST_AMOUNT }
    case '>=':
    case '≥':
      return { minMicro: amount, maxMicro: LARGEST_AMOUNT }
    case '<':
      return { minMicro: SMALLEST_AMOUNT, maxMicro: microUsdc(amount - 1n) }
    case '<=':
    case '≤':
      return { minMicro: SMALLEST_AMOUNT, maxMicro: amount }
    default:
      return { minMicro: amount, maxMicro: amount }
  }
}

function readAmount(text: string): MicroUsdc | null {
  return parseAmount(GROUPED.test(text) ? text.replaceAll(',', '') : text)
}
