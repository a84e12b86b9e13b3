import type { Json } from '../canonical-json.ts'
import type { WalletRecord } from '../decode/record.ts'
import { decodeRules, type RuleTerms } from '../decode/rules.ts'
import type { Claims } from '../read-message.ts'
import type { Remembered } from '../remembered-requests.ts'
import { compareRecipients, compareText, listRecipients, type TermsBefore } from './compare-terms.ts'
import type { Description, Fact, Note } from './description.ts'
import { formatAmount, formatChain, formatTime, isUsdc } from './format.ts'

const BUTTON = 'Sign the limits'
const UNKNOWN_TOKEN = 'The token is not the USDC that this page knows. The amount is shown with 6 decimals.'

const SIGNED_DAILY_LIMIT: Note = {
  headline: 'the service enforces the 24-hour limit',
  text: 'The service enforces the 24-hour limit. Your signature fixes it, so the service cannot raise it unseen. The other limits are also enforced where the keys of the wallet are.',
}

const DAILY_LIMIT: Note = {
  headline: 'only the service enforces the 24-hour limit',
  text: 'Your signature does not cover a limit on what the agent spends in 24 hours. Only the service that sent this request enforces such a limit; this page cannot check it.',
}

const LOST_DAILY_LIMIT =
  'Your signature would no longer cover a limit on what the agent spends in 24 hours. Before, it did.'

const NO_END: Note = {
  headline: 'the grant has no end date',
  text: 'The grant has no end date. It ends when you revoke it.',
}

const PURCHASES: Note = {
  headline: 'sellers keep authorizations after a revocation',
  text: 'For a purchase, the agent gives the seller a signed authorization, with which the seller can take the amount. Revoking the grant does not end authorizations that were given out before. The service makes each one expire after 5 minutes at most. This time limit is not part of what you sign, and this page cannot check it.',
}

interface GrantContext {
  readonly record: WalletRecord
  readonly claims: Claims
  /** What was signed last in this browser for the same policy. */
  readonly remembered: Remembered | null
}

/**
 * Describes the complete terms of a grant, and how they differ from those before: those that this browser has seen
 * signed, and those that the service says are in force.
 */
export function describeTerms(terms: RuleTerms, { record, claims, remembered }: GrantContext): Description {
  const said = decodeBefore(claims)
  const signed = remembered?.terms ?? null
  // A slot is used again after its grant has ended. The service then says that nothing is in force.
  const before: TermsBefore = { seen: said === null ? null : signed, said }
  const compare = (format: (one: RuleTerms) => string): Pick<Fact, 'lines' | 'seen' | 'before'> =>
    compareText(terms, before, format)
  const { recipients } = terms
  const formatDaily = (one: RuleTerms): string => {
    if (one.dailyMax !== null) return `${formatAmount(one.dailyMax)}${unitOf(one)}`
    const claim = one === said ? claims.dailyLimitBefore : null
    return claim === null ? 'not part of the signature' : `${claim} (not part of the signature)`
  }
  const hasDailyMax = [terms, before.seen, said].some((one) => one !== null && one.dailyMax !== null)
  const losesDailyMax = hasDailyMax && terms.dailyMax === null
  const hasUnknownToken = [terms, before.seen, said].some((one) => one !== null && !isInUsdc(one))
  const facts: readonly Fact[] = [
    { label: 'At most in one payment', ...compare((one) => `${formatAmount(one.amountMax)}${unitOf(one)}`) },
    ...(hasDailyMax ? [{ label: 'At most in 24 hours', ...compare(formatDaily) }] : []),
    { label: 'Ends', ...compare((one) => (one.endsAt === null ? 'when you revoke it' : formatTime(one.endsAt))) },
    { label: 'Purchases', ...compare(formatPurchases) },
    { label: 'Network', ...compare((one) => formatChain(one.chainId)) },
    ...(hasUnknownToken ? [{ label: 'Token contract', ...compare(({ tokens }) => tokens.toSorted().join(', ')) }] : []),
    {
      label: recipients === null ? 'Recipients' : `Recipients (${recipients.length})`,
      lines: listRecipients(recipients, claims),
      ...compareRecipients(recipients, before, claims),
    },
    { label: 'Wallet', lines: [{ text: record.address }] },
  ]
  const changed = facts.filter(isChanged)
  return {
    title: titleOf(terms, before),
    summary: `An agent may send ${formatTerms(terms)}, without asking you again.`,
    source: sourceOf(facts, remembered),
    facts: [...changed, ...facts.filter((fact) => !isChanged(fact))],
    warnings: [
      ...(recipients === null ? ['The agent may pay anybody. This is safer with a list of recipients.'] : []),
      ...(isInUsdc(terms) ? [] : [UNKNOWN_TOKEN]),
      ...(losesDailyMax ? [LOST_DAILY_LIMIT] : []),
      ...(before.seen !== null && said !== null && !isSame(before.seen, said) ? [differsFromMemory(remembered)] : []),
    ],
    notes: listNotes(terms, { remembered, isReused: said === null && signed !== null }),
    button: BUTTON,
  }
}

/** Describes the end of a grant, and says what the grant allowed. */
export function describeEnd({ record, claims, remembered }: GrantContext): Description {
  const said = decodeBefore(claims)
  const seen = remembered?.terms ?? null
  const toLines = (one: RuleTerms | null): Fact['seen'] =>
    one === null ? undefined : [{ text: capitalize(formatTerms(one)) }]
  const isKnown = said !== null || seen !== null
  const hasPurchases = [said, seen].some((one) => one !== null && one.purchaseToken !== null)
  const facts: readonly Fact[] = [
    {
      label: 'The grant allowed',
      lines: isKnown ? [] : [{ text: 'This page has not seen the terms of the grant.' }],
      seen: toLines(seen),
      before: seen !== null && said !== null && isSame(seen, said) ? undefined : toLines(said),
    },
    { label: 'Wallet', lines: [{ text: record.address }] },
  ]
  return {
    title: 'Revoke a grant',
    summary: 'After this, the agent can no longer pay with this grant.',
    source: sourceOf(facts, remembered),
    facts,
    warnings: [],
    notes: hasPurchases ? [PURCHASES] : [],
    button: 'Sign and revoke the grant',
  }
}

/** What the service says never makes a request look harmless. Only what this browser has seen signed can do that. */
function titleOf(terms: RuleTerms, { seen, said }: TermsBefore): string {
  if (said === null) return 'Let an agent pay from your wallet'
  return seen !== null && isSame(seen, terms) && isSame(said, terms)
    ? 'Sign the same terms again'
    : 'Change what an agent may pay'
}

function listNotes(
  terms: RuleTerms,
  { remembered, isReused }: { remembered: Remembered | null; isReused: boolean },
): readonly Note[] {
  return [
    terms.dailyMax === null ? DAILY_LIMIT : SIGNED_DAILY_LIMIT,
    ...(terms.endsAt === null ? [NO_END] : []),
    ...(terms.purchaseToken === null ? [] : [PURCHASES]),
    ...(isReused && remembered !== null ? [usedBefore(remembered)] : []),
  ]
}

/** Says where the terms before are from, if this browser has seen them signed. */
function sourceOf(facts: readonly Fact[], remembered: Remembered | null): string | null {
  if (remembered === null || facts.every(({ seen }) => seen === undefined)) return null
  return `“Before” is what was signed in this browser on ${formatTime(remembered.signedAt)}.`
}

function usedBefore({ signedAt }: Remembered): Note {
  return {
    headline: 'other terms were signed here before',
    text: `On ${formatTime(signedAt)}, other terms were signed in this browser for the same place in the wallet. The service says that they have ended. If they have not, they end with this signature.`,
  }
}

function differsFromMemory(remembered: Remembered | null): string {
  const when = remembered === null ? '' : `, on ${formatTime(remembered.signedAt)}`
  return `The service says that other terms are in force than those signed last in this browser${when}. Somebody may have signed since, in another browser. If nobody has, do not sign.`
}

/**
 * Decodes the terms that the service says are in force. They are used only for a comparison, so terms that cannot be
 * decoded are ignored.
 */
function decodeBefore({ before }: Claims): RuleTerms | null {
  try {
    return Array.isArray(before) ? decodeRules(before.map(withoutId)) : null
  } catch {
    return null
  }
}

/** Removes the id of a rule. The enclave gives each stored rule an id, which is not part of the terms. */
function withoutId(rule: Json): Json {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return rule
  return Object.fromEntries(Object.entries(rule).filter(([name]) => name !== 'id'))
}

/** All limits of a grant in a few words. */
function formatTerms(terms: RuleTerms): string {
  const { recipients, dailyMax, endsAt, purchaseToken } = terms
  const whom =
    recipients === null ? 'anybody' : recipients.length === 1 ? '1 recipient' : `${recipients.length} recipients`
  return [
    `up to ${formatAmount(terms.amountMax)}${unitOf(terms)} in each payment to ${whom}`,
    ...(dailyMax === null ? [] : [`at most ${formatAmount(dailyMax)}${unitOf(terms)} in 24 hours`]),
    ...(purchaseToken === null ? [] : ['purchases included']),
    endsAt === null ? 'with no end date' : `until ${formatTime(endsAt)}`,
  ].join(', ')
}

function formatPurchases({ purchaseToken, tokens }: RuleTerms): string {
  if (purchaseToken === null) return 'not allowed'
  const limits = 'allowed, within the same limits'
  return tokens.length === 1 ? limits : `${limits}, only with the token ${purchaseToken}`
}

function isInUsdc({ chainId, tokens }: RuleTerms): boolean {
  return tokens.every((token) => isUsdc(chainId, token))
}

function unitOf(terms: RuleTerms): string {
  return isInUsdc(terms) ? ' USDC' : ' of a token below'
}

function isChanged({ seen, before }: Fact): boolean {
  return seen !== undefined || before !== undefined
}

function isSame(one: RuleTerms, other: RuleTerms): boolean {
  const keyOf = ({ chainId, tokens, amountMax, dailyMax, recipients, endsAt, purchaseToken }: RuleTerms): string =>
    JSON.stringify([
      chainId.toString(),
      tokens.toSorted(),
      amountMax.toString(),
      dailyMax?.toString() ?? null,
      recipients?.toSorted() ?? null,
      endsAt?.getTime() ?? null,
      purchaseToken,
    ])
  return keyOf(one) === keyOf(other)
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
