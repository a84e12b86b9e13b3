import { LINK_RULE, parseLink, parseNoteText, type PaymentNote } from '../domain/payment-notes/payment-note.ts'
import { invalidMember } from '../values/invalid-request.ts'
import { CATEGORY_CODE_POINTS_MAX, NOTE_CODE_POINTS_MAX } from '../values/limits.ts'

/** Parses what a person wrote about a payment. Throws 400 that names the invalid member. */
export function parseNote(body: Readonly<Record<'note' | 'category' | 'link', string>>): PaymentNote {
  const link = parseLink(body.link)
  if (link === undefined) throw invalidMember('link', LINK_RULE)
  return {
    note: parseText('note', body.note, NOTE_CODE_POINTS_MAX),
    category: parseText('category', body.category, CATEGORY_CODE_POINTS_MAX),
    link,
  }
}

function parseText(member: string, text: string, codePointsMax: number): string | null {
  const parsed = parseNoteText(text, codePointsMax)
  if (parsed !== undefined) return parsed
  throw invalidMember(member, `must have at most ${codePointsMax} characters, and none that cannot be stored`)
}
