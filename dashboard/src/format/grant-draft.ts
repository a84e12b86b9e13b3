import { GRANT_RECIPIENTS_MAX, PURCHASE_RECIPIENTS_MAX } from '@bursar/server/src/domain/grants/grant.ts'
import type { GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import { toMicro } from './amount.ts'

/** The terms of a grant while the user types them. */
export interface GrantDraft {
  readonly maxPerTx: string
  readonly dailyCap: string
  readonly allowsAnyRecipient: boolean
  /** The selected addresses of the address book. */
  readonly picked: readonly string[]
  /** More addresses, as pasted text. */
  readonly pasted: string
  readonly allowsPurchases: boolean
  readonly hasNoEndDate: boolean
  /** The preset that the user chose for the end date, in days from now. Null if the date is typed, or there is none. */
  readonly endsInDays: number | null
  /** The end date in the user's time zone, such as `2026-12-12T14:00`. */
  readonly until: string
}

/**
 * A new grant ends after this many days, unless the user chooses another end. So no grant lasts forever by oversight.
 */
export const NEW_GRANT_DAYS = 30

/** The draft of a new grant. It names no recipient, and the user must name one or allow any. */
export function createDraft(now: Date): GrantDraft {
  return {
    maxPerTx: '',
    dailyCap: '',
    allowsAnyRecipient: false,
    picked: [],
    pasted: '',
    allowsPurchases: false,
    ...endIn(NEW_GRANT_DAYS, now),
  }
}

/** The end date in `days` days, at the same time of day as now, even if the clocks change in between. */
export function endIn(days: number, now: Date): Pick<GrantDraft, 'hasNoEndDate' | 'endsInDays' | 'until'> {
  const at = new Date(now)
  at.setDate(at.getDate() + days)
  return { hasNoEndDate: false, endsInDays: days, until: formatLocal(at) }
}

/** Parses a draft that this dashboard stored. Null if it is not valid, for example because an older version stored it. */
export function parseStoredDraft(stored: unknown): GrantDraft | null {
  if (typeof stored !== 'object' || stored === null) return null
  const pattern = createDraft(new Date(0))
  const draft: GrantDraft = { ...pattern, ...stored }
  const isWhole = Object.keys(pattern).every((name) => Object.hasOwn(stored, name))
  const isTyped =
    [draft.maxPerTx, draft.dailyCap, draft.pasted, draft.until].every((text) => typeof text === 'string') &&
    [draft.allowsAnyRecipient, draft.allowsPurchases, draft.hasNoEndDate].every((flag) => typeof flag === 'boolean') &&
    Array.isArray(draft.picked) &&
    draft.picked.every((address) => typeof address === 'string') &&
    (draft.endsInDays === null || typeof draft.endsInDays === 'number')
  return isWhole && isTyped ? draft : null
}

type TermName = keyof GrantTerms

/**
 * A parsed draft. A field that is not valid yet is null. Only `expiresAt` is undefined instead, because a null there
 * means that there is no end date.
 */
export interface ParsedDraft {
  readonly maxPerTxUsdc: string | null
  readonly dailyCapUsdc: string | null
  readonly recipients: readonly string[]
  readonly allowsPurchases: boolean
  readonly expiresAt: string | null | undefined
  readonly errors: Readonly<Partial<Record<TermName, string>>>
}

const AMOUNT_PATTERN = /^(0|[1-9]\d{0,14}|[1-9]\d{0,2}(,\d{3}){1,4})(\.\d{1,6})?$/
export const ADDRESS_PATTERN = /^0x[\da-f]{40}$/i

/**
 * Parses a draft and reports the errors of each term. The server validates the terms again. The check here only gives
 * faster feedback.
 */
export function parseDraft(draft: GrantDraft, nowMs: number): ParsedDraft {
  const maxPerTxUsdc = parseAmount(draft.maxPerTx)
  const dailyCapUsdc = parseAmount(draft.dailyCap)
  const { addresses, invalid } = parseAddresses(draft.pasted)
  const recipients = draft.allowsAnyRecipient ? [] : distinct([...draft.picked, ...addresses])
  const expiresAt = draft.hasNoEndDate ? null : readTime(draft.until)
  return {
    maxPerTxUsdc,
    dailyCapUsdc,
    recipients,
    allowsPurchases: draft.allowsPurchases,
    expiresAt,
    errors: {
      ...(maxPerTxUsdc === null ? { max_per_tx_usdc: AMOUNT_ERROR } : {}),
      ...(dailyCapUsdc === null ? { daily_cap_usdc: AMOUNT_ERROR } : {}),
      ...(draft.allowsAnyRecipient ? {} : recipientsError(recipients, invalid, draft.allowsPurchases)),
      ...endError(expiresAt, nowMs),
    },
  }
}

/** The terms of a parsed draft, or null if it has errors. */
export function toTerms(parsed: ParsedDraft): GrantTerms | null {
  const { maxPerTxUsdc, dailyCapUsdc, recipients, allowsPurchases, expiresAt, errors } = parsed
  if (maxPerTxUsdc === null || dailyCapUsdc === null || expiresAt === undefined) return null
  if (Object.keys(errors).length > 0) return null
  return {
    max_per_tx_usdc: maxPerTxUsdc,
    daily_cap_usdc: dailyCapUsdc,
    recipient_allowlist: recipients,
    expires_at: expiresAt,
    x402: allowsPurchases,
  }
}

/** A draft with the terms of an existing grant. Recipients in the address book are selected there. */
export function toDraft(terms: GrantTerms, known: readonly string[]): GrantDraft {
  const isKnown = (address: string) => known.some((other) => isSame(other, address))
  return {
    maxPerTx: terms.max_per_tx_usdc,
    dailyCap: terms.daily_cap_usdc,
    allowsAnyRecipient: terms.recipient_allowlist.length === 0,
    picked: terms.recipient_allowlist.filter(isKnown),
    pasted: terms.recipient_allowlist.filter((address) => !isKnown(address)).join('\n'),
    allowsPurchases: terms.x402 === true,
    hasNoEndDate: terms.expires_at === null,
    endsInDays: null,
    until: terms.expires_at === null ? '' : formatLocal(new Date(terms.expires_at)),
  }
}

/** The value of a `datetime-local` field: to the minute, in the user's time zone. */
export function formatLocal(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
}

const RECIPIENTS_MISSING = 'Enter at least one recipient, or choose “Any recipient”.'
const AMOUNT_ERROR = 'Enter an amount above 0 with at most 6 decimals, such as 10 or 2.50.'

/** Parses an amount above 0 as a user types it. Null if it is not valid. */
export function parseAmount(text: string): string | null {
  const trimmed = text.trim()
  if (!AMOUNT_PATTERN.test(trimmed)) return null
  const usdc = trimmed.replaceAll(',', '')
  return toMicro(usdc) > 0n ? usdc : null
}

function parseAddresses(text: string): { readonly addresses: readonly string[]; readonly invalid: readonly string[] } {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  return {
    addresses: words.filter((word) => ADDRESS_PATTERN.test(word)),
    invalid: words.filter((word) => !ADDRESS_PATTERN.test(word)),
  }
}

function recipientsError(
  recipients: readonly string[],
  invalid: readonly string[],
  allowsPurchases: boolean,
): ParsedDraft['errors'] {
  const [first] = invalid
  if (first !== undefined) {
    return {
      recipient_allowlist: `“${first}” is not an address. An address starts with 0x, followed by 40 characters.`,
    }
  }
  if (recipients.length === 0) return { recipient_allowlist: RECIPIENTS_MISSING }
  const max = allowsPurchases ? PURCHASE_RECIPIENTS_MAX : GRANT_RECIPIENTS_MAX
  if (recipients.length <= max) return {}
  return {
    recipient_allowlist: `You entered ${recipients.length} recipients. ${allowsPurchases ? 'A grant that allows purchases' : 'A grant'} can have at most ${max}.`,
  }
}

function readTime(text: string): string | undefined {
  const at = text === '' ? new Date(Number.NaN) : new Date(text)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

function endError(expiresAt: string | null | undefined, nowMs: number): ParsedDraft['errors'] {
  if (expiresAt === undefined) return { expires_at: 'Choose a date and a time.' }
  if (expiresAt === null || new Date(expiresAt).getTime() > nowMs) return {}
  return { expires_at: 'This time is in the past. Choose a later one.' }
}

function distinct(addresses: readonly string[]): readonly string[] {
  return addresses.filter((address, index) => addresses.findIndex((other) => isSame(other, address)) === index)
}

function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}
