import { computed } from '../db/column.ts'
import { changed, countChanged, firstOrNull, rowsOf, type Query } from '../db/query.ts'
import { ATTEMPT_LIMITS, attemptRowEnd, type AttemptBucket } from './attempts.ts'
import { BUCKETS, rateState, type Bucket, type RateState } from './bucket.ts'

/** The counted times of a window, as milliseconds joined by commas. */
const HITS_ROW = { hits: computed.text }

/** Opens a subject's windows. A subject without windows is never counted, so invalid credentials store nothing. */
export function openWindows(subject: Buffer): Query<boolean> {
  return {
    name: 'open_rate_windows',
    text: 'insert into rate_windows (subject, bucket) select $1, unnest($2::text[]) on conflict do nothing',
    values: [subject, Object.keys(BUCKETS)],
    read: changed,
  }
}

/** Deletes the windows of subjects that no longer exist. Uses the primary key. */
export function closeWindows(subjects: readonly Buffer[]): Query<number> {
  return {
    name: 'close_rate_windows',
    text: 'delete from rate_windows where subject = any($1::bytea[])',
    values: [subjects],
    read: countChanged,
  }
}

/**
 * Counts one request against the subject's sliding window. Returns the timestamps now in the window, or no row if the
 * request was rejected or the subject has no windows.
 *
 * The check and the write are a single `update`, so the limit is exact across processes: a concurrent request waits for
 * the row lock and sees the updated row. Each row stores the last `limit` timestamps in the order in which they were
 * counted. A request fits if there are fewer than `limit`, or if the oldest one has left the window. Timestamps a whole
 * window or more in the future are treated as expired, because they were written before the clock was set back.
 *
 * The statement stands in front of another one, as `with counted as (…)`, so that a subject is found and counted in the
 * same round trip. `subject` is the SQL that gives the subject. The parameters $2 to $6 are those of `countValues`.
 */
export function countRequestOf(subject: string): string {
  return `
  update rate_windows set hits = (hits || $5::bigint)[cardinality(hits) + 2 - $6::int :]
  where subject = ${subject} and bucket = $2
    and (cardinality(hits) < $6::int
      or hits[cardinality(hits) + 1 - $6::int] <= $3::bigint or hits[cardinality(hits) + 1 - $6::int] >= $4::bigint)
  returning array_to_string(hits, ',') as hits`
}

/** Counts the subject that is given as $1. */
export const COUNT_REQUEST = countRequestOf('$1')

/** The parameters $1 to $6. `key` is $1: the subject, or the key by which the statement finds it. */
export function countValues(key: Buffer, bucket: Bucket, now: Date): unknown[] {
  const { limit, windowMs } = BUCKETS[bucket]
  const time = now.getTime()
  return [key, bucket, time - windowMs, time + windowMs, time, limit]
}

/** Reads the column `hits` of a counting statement; returns null when the request was rejected. */
export function readCounted(hits: string | null, bucket: Bucket, now: Date): RateState | null {
  return hits === null ? null : rateState(BUCKETS[bucket], toTimes(hits), true, now)
}

/**
 * Returns the window of a subject whose request was not counted. Without `allowed` the limit has rejected it; with
 * `allowed` it failed a check that comes before counting. Uses the primary key.
 */
export function findWindow(subject: Buffer, bucket: Bucket, now: Date, allowed = false): Query<RateState> {
  return {
    name: 'find_rate_window',
    text: `select array_to_string(hits, ',') as hits from rate_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: rowsOf(HITS_ROW, ([row]) => rateState(BUCKETS[bucket], toTimes(row?.hits ?? ''), allowed, now)),
  }
}

/**
 * The SQL for the time when a subject was last counted in any bucket, as Unix milliseconds; null if it never was.
 * `subject` is the SQL that gives the subject. Uses the primary key.
 */
export function lastCountOf(subject: string): string {
  return `(select max(hit) from rate_windows, unnest(hits) as hit where rate_windows.subject = ${subject})`
}

/** Reads the value of `lastCountOf`. */
export function readLastCount(milliseconds: string | null): Date | null {
  return milliseconds === null ? null : new Date(Number(milliseconds))
}

/**
 * Counts an attempt if its window has room; returns null when it is rejected. The rule is that of `COUNT_REQUEST`, but
 * the first attempt inserts the row, because no windows are opened in advance for strangers.
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
    read: firstOrNull(HITS_ROW, (row) => rateState(ATTEMPT_LIMITS[bucket], toTimes(row.hits), true, now)),
  }
}

/** Returns the window of a subject whose attempt was rejected. Uses the primary key. */
export function findAttempts(subject: Buffer, bucket: AttemptBucket, now: Date): Query<RateState> {
  return {
    name: 'find_attempts',
    text: `select array_to_string(hits, ',') as hits from attempt_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: rowsOf(HITS_ROW, ([row]) => rateState(ATTEMPT_LIMITS[bucket], toTimes(row?.hits ?? ''), false, now)),
  }
}

/** Deletes at most `rowsMax` windows that have ended; returns how many. Uses the index `attempt_windows_by_end`. */
export function deleteEndedAttempts(now: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_attempts',
    text: `delete from attempt_windows where (subject, bucket) in (
        select subject, bucket from attempt_windows where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [now, rowsMax],
    read: countChanged,
  }
}

function toTimes(hits: string): number[] {
  return hits === '' ? [] : hits.split(',').map(Number)
}
