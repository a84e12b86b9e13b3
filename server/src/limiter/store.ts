import { changed, type Query } from '../db/query.ts'
import { BUCKETS, rateState, type Bucket, type RateState } from './bucket.ts'

/** Opens a subject's windows. A subject without windows is never counted, so junk credentials leave nothing behind. */
export function openWindows(subject: Buffer): Query<boolean> {
  return {
    name: 'open_rate_windows',
    text: 'insert into rate_windows (subject, bucket) select $1, unnest($2::text[]) on conflict do nothing',
    values: [subject, Object.keys(BUCKETS)],
    read: changed,
  }
}

/**
 * Counts a request if its window has room, and answers the times that are counted then; no row when it was turned away,
 * or the subject has no windows. One update, so it is exact across processes: one that waited for another judges the row
 * as that one left it. The row keeps the last `limit` times in the order of their counting, so there is room when it has
 * fewer, or when the oldest of them has left the window. A time a window ahead comes of a clock that was set back since.
 *
 * Stands in front of another statement, as `with counted as (…)`, so that whoever finds the subject counts it in the
 * same round trip. Its parameters are `countValues`.
 */
export const COUNT_REQUEST = `
  update rate_windows set hits = (hits || $5::bigint)[cardinality(hits) + 2 - $6::int :]
  where subject = $1 and bucket = $2
    and (cardinality(hits) < $6::int
      or hits[cardinality(hits) + 1 - $6::int] <= $3::bigint or hits[cardinality(hits) + 1 - $6::int] >= $4::bigint)
  returning array_to_string(hits, ',') as hits`

export function countValues(subject: Buffer, bucket: Bucket, now: Date): unknown[] {
  const { limit, windowMs } = BUCKETS[bucket]
  const time = now.getTime()
  return [subject, bucket, time - windowMs, time + windowMs, time, limit]
}

/** Reads `hits` of a statement that counted; null when the request was turned away. */
export function readCounted(hits: string | null, bucket: Bucket, now: Date): RateState | null {
  return hits === null ? null : rateState(bucket, toTimes(hits), true, now)
}

/** The window of a subject that was turned away. By the primary key. */
export function findWindow(subject: Buffer, bucket: Bucket, now: Date): Query<RateState> {
  return {
    name: 'find_rate_window',
    text: `select array_to_string(hits, ',') as hits from rate_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: (rows) => rateState(bucket, toTimes(rows[0]?.['hits'] ?? ''), false, now),
  }
}

function toTimes(hits: string): number[] {
  return hits === '' ? [] : hits.split(',').map(Number)
}
