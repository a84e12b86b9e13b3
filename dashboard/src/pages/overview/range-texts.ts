import type { Range } from '@bursar/server/src/console/contract/overview.ts'

/** A range, to follow “in the”. */
export const RANGE_TEXTS: Readonly<Record<Range, string>> = {
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
}
