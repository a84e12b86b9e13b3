import { countCodePoints, isStorable } from '../../values/text.ts'
import { URL_CHARS_MAX } from '../../values/limits.ts'

/** What people write about a payment, for their books. Agents cannot read or write it. */
export interface PaymentNote {
  readonly note: string | null
  readonly category: string | null
  /** An `https` address, such as that of the invoice. */
  readonly link: string | null
}

export const NO_NOTE: PaymentNote = { note: null, category: null, link: null }

export const LINK_RULE = 'must be an https address without a user name'

/**
 * Parses a text that a person wrote, without the space around it. An empty text is null. Returns undefined if the text
 * is too long or cannot be stored.
 */
export function parseNoteText(text: string, codePointsMax: number): string | null | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return null
  return isStorable(trimmed) && countCodePoints(trimmed) <= codePointsMax ? trimmed : undefined
}

/** Parses a link. An empty text is null. Returns undefined if the text is no https address. */
export function parseLink(text: string): string | null | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (!isStorable(trimmed) || !URL.canParse(trimmed)) return undefined
  const { protocol, username, password, href } = new URL(trimmed)
  const isAllowed = protocol === 'https:' && username === '' && password === '' && href.length <= URL_CHARS_MAX
  return isAllowed ? href : undefined
}

export function isEmptyNote({ note, category, link }: PaymentNote): boolean {
  return note === null && category === null && link === null
}
