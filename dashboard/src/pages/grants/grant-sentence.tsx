import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { labelOf } from '../../format/label-of.ts'
import { formatGrantSentence, type GrantSentenceValues } from '../../format/grant-sentence.ts'
import type { useDraft } from './use-draft.ts'

interface GrantSentenceProps {
  readonly id?: string
  readonly values: GrantSentenceValues
}

/**
 * Terms of at most this length are never wrapped. These are amounts, dates and short names. They fit on the narrowest
 * phone.
 */
const UNWRAPPED_CHARS_MAX = 20

/** One sentence that says what a grant allows, with its terms in bold. */
export function GrantSentence({ id, values }: GrantSentenceProps) {
  return (
    <p id={id} className="text-lg leading-relaxed text-muted">
      {formatGrantSentence(values).map(({ text, isStrong }, index) =>
        isStrong ? (
          // The parts are never reordered, so the index is a stable key.
          <strong
            key={index}
            className={`font-semibold text-ink ${text.length <= UNWRAPPED_CHARS_MAX ? 'whitespace-nowrap' : ''}`}
          >
            <bdi>{text}</bdi>
          </strong>
        ) : (
          text
        ),
      )}
    </p>
  )
}

/**
 * Takes the values of the sentence from the grant as the server stores it, because the owner signs the stored terms.
 */
export function toSentenceValues(grant: Grant, recipients: readonly Recipient[] | undefined): GrantSentenceValues {
  return {
    agentId: grant.agent_id,
    walletName: grant.wallet_name,
    maxPerTxUsdc: grant.max_per_tx_usdc,
    dailyCapUsdc: grant.daily_cap_usdc,
    recipients: grant.recipient_allowlist.map((address) => ({ address, label: labelOf(recipients, address) })),
    expiresAt: grant.expires_at,
    allowsPurchases: grant.x402,
    hasEnded: grant.status === 'revoked',
  }
}

/** Takes the values of the sentence from a draft that is being typed. */
export function toDraftValues(
  { draft, parsed }: Pick<ReturnType<typeof useDraft>, 'draft' | 'parsed'>,
  {
    recipients,
    ...parties
  }: Pick<GrantSentenceValues, 'agentId' | 'walletName'> & { readonly recipients: readonly Recipient[] },
): GrantSentenceValues {
  const { maxPerTxUsdc, dailyCapUsdc, expiresAt, allowsPurchases } = parsed
  const isChosen = draft.allowsAnyRecipient || parsed.recipients.length > 0
  const chosen = parsed.recipients.map((address) => ({ address, label: labelOf(recipients, address) }))
  return { ...parties, maxPerTxUsdc, dailyCapUsdc, recipients: isChosen ? chosen : null, expiresAt, allowsPurchases }
}
