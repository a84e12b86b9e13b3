import type { NoSpendableReason } from '../domain/grants/missing-grant-store.ts'

/** What is wrong with the grant of an agent that cannot pay, for use after a colon. */
export const GRANT_FAULTS: Readonly<Record<NoSpendableReason, string>> = {
  none: 'you have no grant',
  pending: 'your grant is not signed yet',
  suspended: 'your grant is suspended',
  revoked: 'your grant was revoked',
  expired: 'your grant has expired',
}

/** What a model can do about it. */
export const GRANT_ADVICE: Readonly<Record<NoSpendableReason, string>> = {
  none: 'Ask the owner of the wallet to create and sign a grant for you on the dashboard of Bursar.',
  pending: 'Ask the owner of the wallet to sign your grant on the dashboard of Bursar. Then call again.',
  suspended:
    'Somebody has stopped your payments. Tell the user. You can pay again when the owner of the wallet has resumed the grant on the dashboard of Bursar.',
  revoked:
    'Tell the user. You can pay again when the owner of the wallet has signed a new grant on the dashboard of Bursar.',
  expired: 'Ask the owner of the wallet to sign a new grant on the dashboard of Bursar.',
}

/** Returns what a model can do about the refusal `permission_not_found`, whose `reason` this is. */
export function adviseOnMissingGrant(reason: unknown): string {
  const advice = Object.entries(GRANT_ADVICE).find(([name]) => name === reason)?.[1] ?? GRANT_ADVICE.none
  return `${advice} get_budget lists the wallets from which you can pay.`
}
