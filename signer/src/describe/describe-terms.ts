import type { Json } from '../canonical-json.ts'
import type { WalletRecord } from '../decode/record.ts'
import { decodeRules, type RuleTerms } from '../decode/rules.ts'
import type { Claims } from '../read-message.ts'
import type { Description, Fact, Line } from './description.ts'
import { formatAmount, formatChain, formatTime, isUsdc } from './format.ts'
import { nameAddress } from './name-address.ts'

/** Describes the complete terms of a grant, and how they differ from those that the service says are in force. */
export function describeTerms(
  terms: RuleTerms,
  { record, claims }: { record: WalletRecord; claims: Claims },
): Description {
  const before = decodeBefore(claims)
  const { amountMax, recipients, endsAt } = terms
  const compare = (format: (one: RuleTerms) => string): Pick<Fact, 'lines' | 'before'> => {
    const text = format(terms)
    const old = before === null ? text : format(before)
    return { lines: [{ text }], before: old === text ? undefined : [{ text: old }] }
  }
  const hasUnknownToken = [terms, ...(before === null ? [] : [before])].some((one) => !isInUsdc(one))
  return {
    title: before === null ? 'Let an agent pay from your wallet' : 'Change what an agent may pay',
    summary: `An agent may send up to ${formatAmount(amountMax)}${unitOf(terms)} in each payment, without asking you again.`,
    facts: [
      { label: 'Wallet', lines: [{ text: record.address }] },
      { label: 'At most in one payment', ...compare((one) => `${formatAmount(one.amountMax)}${unitOf(one)}`) },
      {
        label: recipients === null ? 'Recipients' : `Recipients (${recipients.length})`,
        lines: formatRecipients(recipients, claims),
        before: before === null ? undefined : compareRecipients(recipients, before.recipients, claims),
      },
      {
        label: 'Ends',
        ...compare((one) => (one.endsAt === null ? 'when you revoke it' : formatTime(one.endsAt))),
      },
      { label: 'Purchases', ...compare(formatPurchases) },
      { label: 'Network', ...compare((one) => formatChain(one.chainId)) },
      ...(hasUnknownToken
        ? [{ label: 'Token contract', ...compare(({ tokens }) => tokens.toSorted().join(', ')) }]
        : []),
    ],
    warnings: [
      ...(recipients === null ? ['The agent may pay anybody. This is safer with a list of recipients.'] : []),
      ...(endsAt === null ? ['The grant has no end date.'] : []),
      ...(isInUsdc(terms)
        ? []
        : ['The token is not the USDC that this page knows. The amount is shown with 6 decimals.']),
      ...(terms.purchaseToken === null
        ? []
        : [
            'For a purchase, the agent gives the seller a signed authorization, with which the seller can take the amount. Revoking the grant does not end authorizations that were given out before. The service makes each one expire after 5 minutes at most. This time limit is not part of what you sign, and this page cannot check it.',
          ]),
      'The grant may also limit what the agent spends in 24 hours. Your signature does not cover that limit. Only the service that sent this request enforces that limit; this page cannot check it.',
    ],
    button: 'Sign the limits',
  }
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

function formatPurchases({ purchaseToken, tokens }: RuleTerms): string {
  if (purchaseToken === null) return 'not allowed'
  const limits = 'allowed, under the same per-payment limit, recipients and end date'
  return tokens.length === 1 ? limits : `${limits}, only with the token ${purchaseToken}`
}

function isInUsdc({ chainId, tokens }: RuleTerms): boolean {
  return tokens.every((token) => isUsdc(chainId, token))
}

function unitOf(terms: RuleTerms): string {
  return isInUsdc(terms) ? ' USDC' : ' of a token below'
}

function formatRecipients(recipients: readonly string[] | null, claims: Claims): readonly Line[] {
  return recipients === null ? [{ text: 'anybody' }] : recipients.map((address) => nameAddress(address, claims))
}

/**
 * Describes how the recipients differ from the old recipients, which are known only from the service's claims. Returns
 * undefined if they are the same.
 */
function compareRecipients(
  recipients: readonly string[] | null,
  old: readonly string[] | null,
  claims: Claims,
): readonly Line[] | undefined {
  if (recipients === null || old === null) {
    return recipients === old ? undefined : formatRecipients(old, claims)
  }
  const list = (verb: string, from: readonly string[], without: readonly string[]): readonly Line[] =>
    from.filter((one) => !without.includes(one)).map((one) => ({ text: `${one} will be ${verb}` }))
  const changes = [...list('added', recipients, old), ...list('removed', old, recipients)]
  return changes.length === 0
    ? undefined
    : [{ text: old.length === 1 ? '1 recipient' : `${old.length} recipients` }, ...changes]
}
