import { formatShortAddress } from './address.ts'
import { formatAmount } from './amount.ts'
import { formatTime } from './date.ts'

/** What a grant allows, as far as it is known: null stands for what is not given yet. */
export interface GrantSentenceValues {
  readonly agentId: string | null
  readonly walletName: string | null
  readonly maxPerTxUsdc: string | null
  readonly dailyCapUsdc: string | null
  /** By label, or address where there is none. Empty: any recipient. Null: which ones is not said yet. */
  readonly recipients: readonly SentenceRecipient[] | null
  /** ISO 8601; null: never. Undefined: not said yet. */
  readonly expiresAt: string | null | undefined
}

interface SentenceRecipient {
  readonly address: string
  readonly label: string | null
}

interface SentencePart {
  readonly text: string
  /** A word that the reader has to weigh. */
  readonly isStrong: boolean
}

const RECIPIENTS_NAMED_MAX = 3
const GAP = '…'

/** In one sentence, what a passkey's signature allows: part by part, so that the page can stress what counts. */
export function formatGrantSentence(words: GrantSentenceValues): readonly SentencePart[] {
  return [
    strong(words.agentId ?? GAP),
    plain(' may pay up to '),
    strong(amount(words.maxPerTxUsdc)),
    plain(' at a time and '),
    strong(amount(words.dailyCapUsdc)),
    plain(' in any 24 hours from '),
    strong(words.walletName ?? GAP),
    ...recipients(words.recipients),
    ...end(words.expiresAt),
  ]
}

/** `1234.50` as `1,234.50 USDC`, `10` as `10 USDC`. */
function amount(usdc: string | null): string {
  return usdc === null ? `${GAP} USDC` : `${formatAmount(usdc).replace(/\.00$/, '')} USDC`
}

function recipients(list: GrantSentenceValues['recipients']): readonly SentencePart[] {
  if (list === null) return [plain(' to '), strong(GAP)]
  if (list.length === 0) return [plain(' to '), strong('any recipient')]
  const names = list.map(({ address, label }) => label ?? formatShortAddress(address))
  if (names.length > RECIPIENTS_NAMED_MAX) return [plain(' only to '), strong(`the ${names.length} recipients listed`)]
  return names.flatMap((name, index) => [
    plain(index === 0 ? ' only to ' : index === names.length - 1 ? ' and ' : ', '),
    strong(name),
  ])
}

function end(expiresAt: GrantSentenceValues['expiresAt']): readonly SentencePart[] {
  if (expiresAt === null) return [plain(', until it is '), strong('revoked'), plain('.')]
  if (expiresAt === undefined) return [plain(', until '), strong(GAP)]
  return [plain(', until '), strong(formatTime(expiresAt)), plain('.')]
}

function strong(text: string): SentencePart {
  return { text, isStrong: true }
}

function plain(text: string): SentencePart {
  return { text, isStrong: false }
}
