import { formatAmount, parseAmount } from '../values/money.ts'
import type { ProblemCode } from '../values/problem.ts'
import { adviseOnMissingGrant } from './grant-advice.ts'

/** An answer names at most this many recipients. */
const RECIPIENTS_NAMED_MAX = 10

type Details = Readonly<Record<string, unknown>>

/**
 * Says what is possible after a payment was rejected, in one sentence for a model (D72). `details` are those of the
 * refusal (D18a). Codes that are not listed have `NEXT_DEFAULT`.
 */
const NEXT: Partial<Record<ProblemCode, (details: Details) => string>> = {
  amount_too_large: ({ max_per_tx_usdc: most }) => `You can pay at most ${text(most)} USDC in one payment.`,
  daily_cap_exceeded: nextInWindow,
  recipient_not_allowed: ({ recipient_allowlist: list }) => {
    const recipients = Array.isArray(list) ? list.map(text) : []
    const more = recipients.length - RECIPIENTS_NAMED_MAX
    const named = recipients.slice(0, RECIPIENTS_NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '')
    return `You can pay only these recipients: ${named}. Ask the owner of the wallet to allow another one.`
  },
  insufficient_balance: ({ balance_usdc: balance, pending_usdc: pending }) => {
    const left = (parseAmount(text(balance)) ?? 0n) - (parseAmount(text(pending)) ?? 0n)
    const most = formatAmount(left > 0n ? left : 0n)
    return `The wallet has ${most} USDC that you can spend. Pay less, or ask the owner to send USDC to the wallet.`
  },
  insufficient_gas: ({ coin, needed }) =>
    `Ask the owner to send ${text(coin)} to the wallet, which needs ${text(needed)} ${text(coin)} for gas. Paying less does not help.`,
  plan_cap_exceeded: ({ resets_at: at }) =>
    `No live payment is possible until ${text(at)}, unless the operator of the service gives the workspace a larger plan.`,
  permission_expired: () => 'No payment is possible until the owner of the wallet signs a new grant.',
  permission_not_found: ({ reason }) => adviseOnMissingGrant(reason),
  contract_not_allowed: () => 'No payment is possible until the owner of the wallet signs a new grant.',
  wallet_not_found: () => 'Call get_budget: it lists the wallets from which you can pay, with their addresses.',
  agent_not_found: () => 'Ask the user for the id of an agent of this workspace.',
  insufficient_scope: ({ required_scope: scope }) =>
    `Ask the user for an API key that has the scope ${text(scope)}. The tools that only read work without it, and check_price with GET and HEAD.`,
  purchases_not_allowed: () =>
    'Ask the owner of the wallet to replace your grant with one that allows purchases. send_payment works without it.',
  storage_full: () =>
    'Nothing was paid. Try again in an hour with the same purchase_id. If that does not help, tell the user that the workspace needs a larger plan.',
  price_too_high: ({ price_usdc: price }) =>
    `The lowest price is ${text(price)} USDC. If the purchase is worth that, call again with max_amount_usdc "${text(price)}" and the same purchase_id.`,
  payment_protocol_unknown: () => 'Bursar cannot buy this resource. Look for another one, or tell the user.',
  payment_option_unsupported: () => 'Bursar cannot buy this resource. Look for another one, or tell the user.',
  challenge_already_paid: () =>
    'Call check_price for the resource, then call fetch_paid again with the same purchase_id. Nothing was paid by this call.',
  resource_url_not_allowed: () => 'Use an https URL with a public host name. Nothing was paid.',
  resource_unreachable: () => 'Nothing was paid. Check the URL, or call again later with the same purchase_id.',
  resource_redirected: () =>
    'Nothing was paid. If you trust the URL in details.location, send your request to that URL, with the same purchase_id.',
  privy_call_failed: () => 'Call the tool again with the same purchase_id: it never pays twice.',
}

const NEXT_DEFAULT = 'Tell the user what happened. Do not repeat the call unchanged.'

export function describeRefusal(code: ProblemCode | undefined, details: unknown): string {
  const describe = code === undefined ? undefined : NEXT[code]
  const known = typeof details === 'object' && details !== null ? { ...details } : {}
  return describe?.(known) ?? NEXT_DEFAULT
}

function nextInWindow({ remaining_24h_usdc: left, resets_at: at, daily_cap_usdc: cap }: Details): string {
  const rest = left === '0' ? 'Nothing' : `${text(left)} USDC`
  const now = `${rest} of the limit of ${text(cap)} USDC in 24 hours is left now.`
  if (typeof at === 'string') return `${now} This amount will be possible from ${at} on.`
  return at === null ? `${now} This amount is larger than the limit, so it will never be possible.` : now
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'an unknown amount of'
}
