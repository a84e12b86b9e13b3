import type { GrantTerms } from '../api/wire-spending.ts'
import { toMicro } from './amount.ts'

/** A grant's terms as they are being typed. */
export interface GrantDraft {
  readonly maxPerTx: string
  readonly dailyCap: string
  readonly allowsAnyRecipient: boolean
  /** Addresses of the book that are ticked. */
  readonly picked: readonly string[]
  /** Further addresses, as they were pasted. */
  readonly pasted: string
  readonly hasNoEndDate: boolean
  /** In the reader's zone: `2026-12-12T14:00`. */
  readonly until: string
}

type TermName = keyof GrantTerms

/** What a draft says so far: null, or undefined of the end, where it says nothing sound yet. */
export interface ParsedDraft {
  readonly maxPerTxUsdc: string | null
  readonly dailyCapUsdc: string | null
  readonly recipients: readonly string[]
  readonly expiresAt: string | null | undefined
  readonly errors: Readonly<Partial<Record<TermName, string>>>
}

export const RECIPIENTS_MAX = 100
const AMOUNT_PATTERN = /^(0|[1-9]\d{0,14}|[1-9]\d{0,2}(,\d{3}){1,4})(\.\d{1,6})?$/
const ADDRESS_PATTERN = /^0x[\da-f]{40}$/i

/** Reads a draft, and says what is wrong with each term. The server decides; this only saves the way there. */
export function parseDraft(draft: GrantDraft, nowMs: number): ParsedDraft {
  const maxPerTxUsdc = parseAmount(draft.maxPerTx)
  const dailyCapUsdc = parseAmount(draft.dailyCap)
  const { addresses, strays } = parseAddresses(draft.pasted)
  const recipients = draft.allowsAnyRecipient ? [] : distinct([...draft.picked, ...addresses])
  const expiresAt = draft.hasNoEndDate ? null : readTime(draft.until)
  return {
    maxPerTxUsdc,
    dailyCapUsdc,
    recipients,
    expiresAt,
    errors: {
      ...(maxPerTxUsdc === null ? { max_per_tx_usdc: AMOUNT_ERROR } : {}),
      ...(dailyCapUsdc === null ? { daily_cap_usdc: AMOUNT_ERROR } : {}),
      ...(draft.allowsAnyRecipient ? {} : recipientsError(recipients, strays)),
      ...endError(expiresAt, nowMs),
    },
  }
}

/** The terms of a reading in which nothing is wrong. */
export function toTerms({ maxPerTxUsdc, dailyCapUsdc, recipients, expiresAt, errors }: ParsedDraft): GrantTerms | null {
  if (maxPerTxUsdc === null || dailyCapUsdc === null || expiresAt === undefined) return null
  if (Object.keys(errors).length > 0) return null
  return {
    max_per_tx_usdc: maxPerTxUsdc,
    daily_cap_usdc: dailyCapUsdc,
    recipient_allowlist: recipients,
    expires_at: expiresAt,
  }
}

/** A grant's terms, to be changed. Recipients that the book knows are ticked there. */
export function toDraft(terms: GrantTerms, known: readonly string[]): GrantDraft {
  const isKnown = (address: string) => known.some((other) => isSame(other, address))
  return {
    maxPerTx: terms.max_per_tx_usdc,
    dailyCap: terms.daily_cap_usdc,
    allowsAnyRecipient: terms.recipient_allowlist.length === 0,
    picked: terms.recipient_allowlist.filter(isKnown),
    pasted: terms.recipient_allowlist.filter((address) => !isKnown(address)).join('\n'),
    hasNoEndDate: terms.expires_at === null,
    until: terms.expires_at === null ? '' : formatLocal(new Date(terms.expires_at)),
  }
}

/** A time as a `datetime-local` field takes it, to the minute, in the reader's zone. */
export function formatLocal(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
}

const AMOUNT_ERROR = 'Write an amount above 0, such as 10 or 2.50, with at most 6 decimals.'

function parseAmount(text: string): string | null {
  const trimmed = text.trim()
  if (!AMOUNT_PATTERN.test(trimmed)) return null
  const usdc = trimmed.replaceAll(',', '')
  return toMicro(usdc) > 0n ? usdc : null
}

function parseAddresses(text: string): { readonly addresses: readonly string[]; readonly strays: readonly string[] } {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  return {
    addresses: words.filter((word) => ADDRESS_PATTERN.test(word)),
    strays: words.filter((word) => !ADDRESS_PATTERN.test(word)),
  }
}

function recipientsError(recipients: readonly string[], strays: readonly string[]): ParsedDraft['errors'] {
  const [stray] = strays
  if (stray !== undefined) {
    return { recipient_allowlist: `“${stray}” is no address: one begins with 0x and has 40 more characters.` }
  }
  if (recipients.length === 0) return { recipient_allowlist: 'Pick a recipient, or paste an address.' }
  if (recipients.length <= RECIPIENTS_MAX) return {}
  return { recipient_allowlist: `There are ${recipients.length}; a grant takes at most ${RECIPIENTS_MAX}.` }
}

function readTime(text: string): string | undefined {
  const at = text === '' ? new Date(Number.NaN) : new Date(text)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

function endError(expiresAt: string | null | undefined, nowMs: number): ParsedDraft['errors'] {
  if (expiresAt === undefined) return { expires_at: 'Pick a day and a time.' }
  if (expiresAt === null || new Date(expiresAt).getTime() > nowMs) return {}
  return { expires_at: 'This is past. Pick a time to come.' }
}

function distinct(addresses: readonly string[]): readonly string[] {
  return addresses.filter((address, index) => addresses.findIndex((other) => isSame(other, address)) === index)
}

function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}
