import { AUTHORIZATION_FIRST_LOOKUP_MS, type Payment } from '../payment.ts'

/**
 * While a purchase is younger than this, the next look-up comes after `SOON_MS`. Most authorizations are used within
 * seconds.
 */
const YOUNG_MS = 15_000
const SOON_MS = AUTHORIZATION_FIRST_LOOKUP_MS
/** The time between two look-ups of an older purchase whose authorization is still valid. */
const LATER_MS = 5_000
/** Right after `validBefore`, look-ups are frequent: the chain normally decides as soon as a block is deep enough. */
const OVERDUE_MS = 2_000
/** Later, the wait is the time since `validBefore` divided by this, so the look-ups become rarer. */
const OVERDUE_GROWTH_DIVISOR = 4
const OVERDUE_MS_MAX = 5 * 60_000

/**
 * Returns when to look up a pending purchase again. Our clock only decides when that is. Whether the authorization
 * has expired is decided by the time of a block.
 */
export function nextAuthorizationLookupAt(
  { createdAt, authorization, minedBlock }: Pick<Payment, 'createdAt' | 'authorization' | 'minedBlock'>,
  now: Date,
): Date {
  const [ageMs, overdueMs] = [createdAt, authorization?.validBefore ?? createdAt].map(
    (time) => now.getTime() - time.getTime(),
  ) as [number, number]
  return new Date(now.getTime() + chooseDelayMs({ ageMs, overdueMs, isMined: minedBlock !== null }))
}

function chooseDelayMs({
  ageMs,
  overdueMs,
  isMined,
}: {
  readonly ageMs: number
  readonly overdueMs: number
  readonly isMined: boolean
}): number {
  if (overdueMs >= 0) return Math.min(Math.max(OVERDUE_MS, overdueMs / OVERDUE_GROWTH_DIVISOR), OVERDUE_MS_MAX)
  if (isMined || ageMs < YOUNG_MS) return SOON_MS
  return Math.min(LATER_MS, -overdueMs)
}
