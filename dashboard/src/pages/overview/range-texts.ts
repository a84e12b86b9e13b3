import type { Range } from '@bursar/server/src/console/contract/overview.ts'

/** The name of a range, for use in a sentence. */
export const RANGE_TEXTS: Readonly<Record<Range, string>> = {
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
}
