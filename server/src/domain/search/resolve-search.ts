import { containsFolded } from '../../values/fold-text.ts'
import { foldedPattern } from '../../values/folded-pattern.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import { listRecipients } from '../recipients/list-recipients.ts'
import type { Search } from './parse-search.ts'

/** What a row must contain so that a search finds it. Null and an empty list set no condition. */
export interface SearchedParts {
  /** An SQL `like` pattern for an address or a hash in lower case. */
  readonly hexLike: string | null
  /** A regular expression for texts such as the memo. */
  readonly textPattern: string | null
  /** Beside `textPattern`: addresses of recipients whose name contains the text, in lower case. */
  readonly recipients: readonly string[]
  /** Beside `textPattern`: the amount that the text names. */
  readonly amountMicro: MicroUsdc | null
}

const NOTHING: SearchedParts = { hexLike: null, textPattern: null, recipients: [], amountMicro: null }

/**
 * Turns a search into the conditions for one row. Names are looked up first: the rows of payments contain addresses
 * only.
 */
export async function resolveSearch(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, search }: { readonly workspaceId: string; readonly mode: Mode; readonly search: Search | null },
): Promise<SearchedParts> {
  if (search?.kind === 'hex') return { ...NOTHING, hexLike: `${search.head}%${search.tail}` }
  if (search?.kind !== 'text') return NOTHING
  const { text, amountMicro } = search
  const recipients = await listRecipients(ctx, { workspaceId, mode })
  return {
    ...NOTHING,
    textPattern: foldedPattern(text),
    recipients: recipients
      .filter(({ label }) => containsFolded(label, text))
      .map(({ address }) => address.toLowerCase()),
    amountMicro,
  }
}
