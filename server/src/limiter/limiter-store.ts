import { changed, firstOrNull, type Query } from '../db/query.ts'
import { ATTEMPT_LIMITS, attemptRowEnd, type AttemptBucket } from './attempts.ts'
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

/** Deletes the windows of subjects that are gone. By the primary key. */
export function closeWindows(subjects: readonly Buffer[]): Query<number> {
  return {
    name: 'close_rate_windows',
    text: 'delete from rate_windows where subject = any($1::bytea[])',
    values: [subjects],
    read: (_rows, count) => count,
  }
}

/**
 * Counts a request if its window has room, and answers the times that are counted then; no row when it was turned away,
 * or the subject has no windows. One update, so it is exact across processes: one that waited for another judges the row
 * as that one left it. The row keeps the last `limit` times in the order of their counting, so there is room when it has
 * fewer, or when the oldest of them has left the window. A time a window ahead comes of a clock that was set back since.
 *
 * Stands in front of another statement, as `with counted as (…)`, so that whoever finds the subject counts it in the
 * same round trip. `subject` is the SQL that gives the subject. Its parameters $2 to $6 are those of `countValues`.
 */
export function countRequestOf(subject: string): string {
  return `
  update rate_windows set hits = (hits || $5::bigint)[cardinality(hits) + 2 - $6::int :]
  where subject = ${subject} and bucket = $2
    and (cardinality(hits) < $6::int
      or hits[cardinality(hits) + 1 - $6::int] <= $3::bigint or hits[cardinality(hits) + 1 - $6::int] >= $4::bigint)
  returning array_to_string(hits, ',') as hits`
}

/** The count of the subject that $1 is. */
export const COUNT_REQUEST = countRequestOf('$1')

/** `key` is $1: the subject, or what it is found by. */
export function countValues(key: Buffer, bucket: Bucket, now: Date): unknown[] {
  const { limit, windowMs } = BUCKETS[bucket]
  const time = now.getTime()
  return [key, bucket, time - windowMs, time + windowMs, time, limit]
}

/** Reads `hits` of a statement that counted; null when the request was turned away. */
export function readCounted(hits: string | null, bucket: Bucket, now: Date): RateState | null {
  return hits === null ? null : rateState(BUCKETS[bucket], toTimes(hits), true, now)
}

/**
 * The window of a subject whose request was not counted: it was turned away, or, where it is `allowed`, failed at
 * something that comes before the count. By the primary key.
 */
export function findWindow(subject: Buffer, bucket: Bucket, now: Date, allowed = false): Query<RateState> {
  return {
    name: 'find_rate_window',
    text: `select array_to_string(hits, ',') as hits from rate_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: (rows) => rateState(BUCKETS[bucket], toTimes(rows[0]?.['hits'] ?? ''), allowed, now),
  }
}

/**
 * The SQL that gives when a subject was last counted, in whichever bucket, as Unix milliseconds; null: never. `subject` is
 * the SQL that gives the subject. By the primary key.
 */
export function lastCountOf(subject: string): string {
  return `(select max(hit) from rate_windows, unnest(hits) as hit where rate_windows.subject = ${subject})`
}

/** Reads what `lastCountOf` gave. */
export function readLastCount(milliseconds: string | null): Date | null {
  return milliseconds === null ? null : new Date(Number(milliseconds))
}

/**
 * Counts an attempt if its window has room; null when it was turned away. The rule is that of `COUNT_REQUEST`, but the
 * first attempt makes the row: anybody may come, so nobody has opened windows for them.
 */
export function countAttempt(subject: Buffer, bucket: AttemptBucket, now: Date): Query<RateState | null> {
  const { limit, windowMs } = ATTEMPT_LIMITS[bucket]
  const time = now.getTime()
  return {
    name: 'count_attempt',
    text: `
      insert into attempt_windows as w (subject, bucket, hits, expires_at) values ($1, $2, array[$5::bigint], $7)
      on conflict (subject, bucket) do update
        set hits = (w.hits || $5::bigint)[cardinality(w.hits) + 2 - $6::int :], expires_at = excluded.expires_at
        where cardinality(w.hits) < $6::int
          or w.hits[cardinality(w.hits) + 1 - $6::int] <= $3::bigint
          or w.hits[cardinality(w.hits) + 1 - $6::int] >= $4::bigint
      returning array_to_string(hits, ',') as hits`,
    values: [subject, bucket, time - windowMs, time + windowMs, time, limit, attemptRowEnd(bucket, now)],
    read: firstOrNull((row) => rateState(ATTEMPT_LIMITS[bucket], toTimes(row['hits']), true, now)),
  }
}

/** The window of a subject whose attempt was turned away. By the primary key. */
export function findAttempts(subject: Buffer, bucket: AttemptBucket, now: Date): Query<RateState> {
  return {
    name: 'find_attempts',
    text: `select array_to_string(hits, ',') as hits from attempt_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: (rows) => rateState(ATTEMPT_LIMITS[bucket], toTimes(rows[0]?.['hits'] ?? ''), false, now),
  }
}

/** Deletes windows that have ended, `rowsMax` at the most; answers how many. By `attempt_windows_by_end`. */
export function deleteEndedAttempts(now: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_attempts',
    text: `delete from attempt_windows where (subject, bucket) in (
        select subject, bucket from attempt_windows where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [now, rowsMax],
    read: (_rows, count) => count,
  }
}

function toTimes(hits: string): number[] {
  return hits === '' ? [] : hits.split(',').map(Number)
}
