import type { RuleTerms } from '../decode/rules.ts'
import type { Claims } from '../read-message.ts'
import type { Fact, Line } from './description.ts'
import { nameAddress } from './name-address.ts'

/** The terms of a grant before a change: as this browser saw them signed, and as the service says they are. */
export interface TermsBefore {
  /** Null if nothing was signed here, or if the service says that nothing is in force. */
  readonly seen: RuleTerms | null
  readonly said: RuleTerms | null
}

type Earlier = Pick<Fact, 'seen' | 'before'>

/** Returns the text of a term, and its texts before where they differ. */
export function compareText(
  terms: RuleTerms,
  { seen, said }: TermsBefore,
  format: (one: RuleTerms) => string,
): Pick<Fact, 'lines'> & Earlier {
  const text = format(terms)
  const toLines = (one: RuleTerms | null): readonly Line[] | undefined =>
    one === null || format(one) === text ? undefined : [{ text: format(one) }]
  return { lines: [{ text }], ...dropRepeated({ seen: toLines(seen), before: toLines(said) }, seen !== null) }
}

/** Returns how the recipients differ from those before. */
export function compareRecipients(
  recipients: readonly string[] | null,
  { seen, said }: TermsBefore,
  claims: Claims,
): Earlier {
  const toLines = (one: RuleTerms | null): readonly Line[] | undefined =>
    one === null ? undefined : listDifferences(recipients, one.recipients, claims)
  return dropRepeated({ seen: toLines(seen), before: toLines(said) }, seen !== null)
}

export function listRecipients(recipients: readonly string[] | null, claims: Claims): readonly Line[] {
  return recipients === null ? [{ text: 'anybody' }] : recipients.map((address) => nameAddress(address, claims))
}

/** Leaves out what the service says where this browser has seen the same signed. */
function dropRepeated({ seen, before }: Earlier, hasSeen: boolean): Earlier {
  return { seen, before: hasSeen && JSON.stringify(seen) === JSON.stringify(before) ? undefined : before }
}

function listDifferences(
  recipients: readonly string[] | null,
  old: readonly string[] | null,
  claims: Claims,
): readonly Line[] | undefined {
  if (recipients === null || old === null) {
    return recipients === old ? undefined : listRecipients(old, claims)
  }
  const list = (verb: string, from: readonly string[], without: readonly string[]): readonly Line[] =>
    from
      .filter((one) => !without.includes(one))
      .map((one) => ({ ...nameAddress(one, claims), text: `${one} will be ${verb}` }))
  const changes = [...list('added', recipients, old), ...list('removed', old, recipients)]
  return changes.length === 0
    ? undefined
    : [{ text: old.length === 1 ? '1 recipient' : `${old.length} recipients` }, ...changes]
}
