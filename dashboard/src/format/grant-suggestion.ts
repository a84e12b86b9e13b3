import { formatAmount, fromMicro, toMicro } from './amount.ts'
import { ADDRESS_PATTERN, parseAmount, type GrantDraft } from './grant-draft.ts'

/** What a grant would have to allow for one payment. It is in the query of the links to the forms for grants. */
export interface GrantSuggestion {
  readonly recipient: string
  readonly amountUsdc: string
  /** What the agent had spent in the 24 hours before, if the payment exceeded the 24-hour limit. */
  readonly spentUsdc: string | null
  readonly isPurchase: boolean
}

/** The suggestion as query parameters. */
export function formatSuggestion(suggestion: GrantSuggestion): Readonly<Record<string, string>> {
  const { recipient, amountUsdc, spentUsdc, isPurchase } = suggestion
  return {
    recipient,
    amount: amountUsdc,
    ...(spentUsdc === null ? {} : { spent: spentUsdc }),
    ...(isPurchase ? { purchase: '' } : {}),
  }
}

/** Parses the query parameters. Null if they suggest nothing. Anybody can write a link, so each value is checked. */
export function parseSuggestion(parameters: URLSearchParams): GrantSuggestion | null {
  const recipient = parameters.get('recipient') ?? ''
  const amountUsdc = parseAmount(parameters.get('amount') ?? '')
  if (!ADDRESS_PATTERN.test(recipient) || amountUsdc === null) return null
  const spentUsdc = parseAmount(parameters.get('spent') ?? '')
  return { recipient, amountUsdc, spentUsdc, isPurchase: parameters.has('purchase') }
}

/** Changes the draft of a grant just as much as is necessary to allow the suggested payment. */
export function withSuggestion(
  draft: GrantDraft,
  { recipient, amountUsdc, spentUsdc, isPurchase }: GrantSuggestion,
  known: readonly string[],
): GrantDraft {
  const amount = toMicro(amountUsdc)
  const needed = amount + (spentUsdc === null ? 0n : toMicro(spentUsdc))
  return {
    ...draft,
    ...withRecipient(draft, recipient, known),
    maxPerTx: atLeast(draft.maxPerTx, amount),
    // The user has to choose the 24-hour limit of a new grant.
    dailyCap: draft.dailyCap === '' ? '' : atLeast(draft.dailyCap, needed),
    allowsPurchases: draft.allowsPurchases || isPurchase,
  }
}

/** What the form says about a suggestion. */
export function describeSuggestion({ recipient, amountUsdc, isPurchase }: GrantSuggestion): string {
  return `The form is filled in so that the rejected ${isPurchase ? 'purchase' : 'payment'} of ${formatAmount(amountUsdc)} USDC to ${recipient} would be allowed. The agent chose the amount and the address, so check both before you sign.`
}

function withRecipient(draft: GrantDraft, recipient: string, known: readonly string[]): Partial<GrantDraft> {
  const isSame = (address: string) => address.toLowerCase() === recipient.toLowerCase()
  if (draft.allowsAnyRecipient || draft.picked.some(isSame) || draft.pasted.split(/\s+/).some(isSame)) return {}
  const listed = known.find(isSame)
  if (listed !== undefined) return { picked: [...draft.picked, listed] }
  return { pasted: `${draft.pasted}\n${recipient}`.trim() }
}

function atLeast(text: string, micro: bigint): string {
  const usdc = parseAmount(text)
  return usdc !== null && toMicro(usdc) >= micro ? text : fromMicro(micro)
}
