import type { Grant, Recipient } from '../../api/wire-spending.ts'
import { labelOf } from '../../api/recipients.ts'
import { formatGrantSentence, type GrantSentenceValues } from '../../format/grant-sentence.ts'

interface GrantSentenceProps {
  readonly id?: string
  readonly words: GrantSentenceValues
}

/** An amount, a date or a short name stays on one line, on the narrowest phone too. */
const WHOLE_CHARS_MAX = 20

/** What a signature allows, in one sentence whose weighty words stand out. */
export function GrantSentence({ id, words }: GrantSentenceProps) {
  return (
    <p id={id} className="text-lg leading-relaxed text-muted">
      {formatGrantSentence(words).map(({ text, isStrong }, index) =>
        isStrong ? (
          // The parts never change places.
          <strong
            key={index}
            className={`font-semibold text-ink ${text.length <= WHOLE_CHARS_MAX ? 'whitespace-nowrap' : ''}`}
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

/** The sentence's words from the server's record of a grant: what is really signed. */
export function toSentenceValues(grant: Grant, recipients: readonly Recipient[] | undefined): GrantSentenceValues {
  return {
    agentId: grant.agent_id,
    walletName: grant.wallet_name,
    maxPerTxUsdc: grant.max_per_tx_usdc,
    dailyCapUsdc: grant.daily_cap_usdc,
    recipients: grant.recipient_allowlist.map((address) => ({ address, label: labelOf(recipients, address) })),
    expiresAt: grant.expires_at,
  }
}
