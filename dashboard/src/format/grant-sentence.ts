import { formatShortAddress } from './address.ts'
import { formatAmount } from './amount.ts'
import { formatTime } from './date.ts'

/** The terms of a grant for the sentence. A term that the user has not entered yet is null. */
export interface GrantSentenceValues {
  readonly agentId: string | null
  readonly walletName: string | null
  readonly maxPerTxUsdc: string | null
  readonly dailyCapUsdc: string | null
  /** An empty list means any recipient. Null if the user has not entered the recipients yet. */
  readonly recipients: readonly SentenceRecipient[] | null
  /** The end date in ISO 8601. Null if there is no end date, undefined if the user has not entered it yet. */
  readonly expiresAt: string | null | undefined
  /** Whether the grant was revoked or replaced, so that the sentence is about the past. */
  readonly hasEnded?: boolean
  /** Whether the grant allows purchases (x402 and MPP). */
  readonly allowsPurchases: boolean
}

interface SentenceRecipient {
  readonly address: string
  readonly label: string | null
}

interface SentencePart {
  readonly text: string
  /** Whether the text is shown in bold, because it is a term that the user decides about. */
  readonly isStrong: boolean
}

const RECIPIENTS_NAMED_MAX = 3
const GAP = '…'

/** Describes in one sentence what a grant allows. Returns its parts, so that the page can show the terms in bold. */
export function formatGrantSentence(values: GrantSentenceValues): readonly SentencePart[] {
  return [
    strong(values.agentId ?? GAP),
    plain(values.hasEnded === true ? ' could pay from ' : ' may pay from '),
    strong(values.walletName ?? GAP),
    ...recipients(values.recipients),
    plain(': up to '),
    strong(amount(values.maxPerTxUsdc)),
    plain(' per payment and up to '),
    strong(amount(values.dailyCapUsdc)),
    plain(' in any 24 hours'),
    ...(values.hasEnded === true ? pastEnd(values.expiresAt) : end(values.expiresAt)),
    ...(values.allowsPurchases ? purchases(values.hasEnded === true) : []),
  ]
}

/** Formats an amount: `1234.50` as `1,234.50 USDC`, `10` as `10 USDC`. */
function amount(usdc: string | null): string {
  return usdc === null ? `${GAP} USDC` : `${formatAmount(usdc).replace(/\.00$/, '')} USDC`
}

function recipients(list: GrantSentenceValues['recipients']): readonly SentencePart[] {
  if (list === null) return [plain(', to '), strong(GAP)]
  if (list.length === 0) return [plain(', to '), strong('any recipient')]
  const names = list.map(({ address, label }) => label ?? formatShortAddress(address))
  if (names.length > RECIPIENTS_NAMED_MAX) return [plain(', only to '), strong(`the ${names.length} recipients listed`)]
  return names.flatMap((name, index) => [
    plain(index === 0 ? ', only to ' : index === names.length - 1 ? ' and ' : ', '),
    strong(name),
  ])
}

function end(expiresAt: GrantSentenceValues['expiresAt']): readonly SentencePart[] {
  if (expiresAt === null) return [plain(', until this grant is '), strong('revoked'), plain('.')]
  if (expiresAt === undefined) return [plain(', until '), strong(GAP)]
  return [plain(', until '), strong(formatTime(expiresAt)), plain('.')]
}

function pastEnd(expiresAt: GrantSentenceValues['expiresAt']): readonly SentencePart[] {
  if (typeof expiresAt !== 'string') return [plain('. It had no end date.')]
  return [plain('. Its end date was '), strong(formatTime(expiresAt)), plain('.')]
}

function purchases(hasEnded: boolean): readonly SentencePart[] {
  return [
    plain(hasEnded ? ' It could also ' : ' It may also '),
    strong('buy from websites'),
    plain(' that ask to be paid (x402 and MPP), within the same limits.'),
  ]
}

function strong(text: string): SentencePart {
  return { text, isStrong: true }
}

function plain(text: string): SentencePart {
  return { text, isStrong: false }
}
