import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Outage } from '@bursar/server/src/console/contract/outages.ts'

/** What an outage means: what does not work now, and what still does. */
export interface OutageText {
  readonly outage: Outage
  readonly title: string
  readonly broken: string
  readonly working: string
}

const TITLES: Readonly<Record<Outage, (mode: Mode) => string>> = {
  enclave: () => 'The enclave, which holds the wallets’ keys, can’t be reached.',
  chain: (mode) => `The blockchain of ${mode} mode can’t be reached.`,
}

const BROKEN: Readonly<Record<Outage, string>> = {
  enclave:
    'New payments and withdrawals fail or stay pending. Agents can retry payments with the same idempotency key. Owners can’t sign, so new grants can’t take effect. Wallets can’t be created.',
  chain:
    'New payments are rejected. Balances are unknown. Owners can’t withdraw USDC. Sent payments and withdrawals stay pending, and new deposits are not shown yet.',
}

/**
 * Describes the current outages. If there are two at once, neither text promises something that the other outage
 * prevents.
 */
export function explainOutages(outages: readonly Outage[], mode: Mode): readonly OutageText[] {
  const isOnly = outages.length === 1
  const working = (outage: Outage): string => {
    if (outage === 'chain') {
      return isOnly ? 'Your USDC is safe. You can still sign and suspend grants.' : 'Your USDC is safe.'
    }
    return isOnly
      ? 'You can still suspend grants and disconnect applications. Payments that were already sent will still be confirmed.'
      : 'You can still suspend grants and disconnect applications.'
  }
  return outages.map((outage) => ({
    outage,
    title: TITLES[outage](mode),
    broken: BROKEN[outage],
    working: working(outage),
  }))
}
