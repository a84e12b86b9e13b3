import { AUTHORIZATION_FIRST_LOOK_MS, type Payment } from '../payment.ts'

/**
 * While a purchase is younger than this, the next look comes after `SOON_MS`. Most authorizations are used within
 * seconds.
 */
const YOUNG_MS = 15_000
const SOON_MS = AUTHORIZATION_FIRST_LOOK_MS
/** The time between two looks at an older purchase whose authorization is still valid. */
const LATER_MS = 5_000
/** Right after `validBefore`, looks are frequent: the chain normally decides as soon as a block is deep enough. */
const OVERDUE_MS = 2_000
/** Later, the wait for the next look is the time since `validBefore` divided by this, so the looks become rarer. */
const OVERDUE_GROWTH_DIVISOR = 4
const OVERDUE_MS_MAX = 5 * 60_000

/**
 * Returns when to look at a pending purchase again. Our clock only decides when we look. Whether the authorization has
 * expired is decided by the time of a block.
 */
export function nextLookAt(
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
