import { computed } from '../db/column.ts'
import { changed, countChanged, firstOrNull, rowsOf, type Query } from '../db/query.ts'
import { ATTEMPT_LIMITS, attemptRowEnd, type AttemptBucket } from './attempts.ts'
import { BUCKETS, rateState, type Bucket, type RateState } from './bucket.ts'

/** The times of a window's counted requests, as milliseconds joined by commas. */
const HITS_ROW = { hits: computed.text }

/**
 * The column of `HITS_ROW`, for the statements that include a counting statement. It is not computed by that statement
 * itself, because Citus allows only immutable functions after `returning`.
 */
export const HITS_COLUMN = `array_to_string(hits, ',') as hits`

/**
 * Creates the windows of a subject, one per bucket. The subject identifies an API key or a connection. A subject
 * without windows is never counted, so a request with an invalid credential adds no row.
 */
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
 * Returns SQL that counts one request of each of several subjects against the subject's sliding window. For each
 * subject, the SQL returns the timestamps that are then in the window, or no row if the request was rejected.
 *
 * The check and the write are one SQL statement, so the limit is exact across processes: a concurrent request waits for
 * the row lock and sees the updated row. Each row stores the last `limit` timestamps in the order in which they were
 * counted. A request fits if the row has fewer than `limit` timestamps, or if the oldest timestamp has left the window.
 * A timestamp that is a whole window or more in the future is treated as expired, because it was written before the
 * clock was set back.
 *
 * Another statement includes this SQL as `with counted as (…)`, so that one round trip finds the subjects and counts
 * their requests. `requests` is an SQL query for the columns `subject` and `time`, in Unix milliseconds. It must return
 * a subject once at most, and only subjects that have windows. `countLimits` returns the parameters $2 to $4.
 *
 * The statement is an `insert`, although the rows exist. So PostgreSQL always finds the rows by the primary key,
 * whatever the statistics say, and locks them in the order of the subjects. Therefore two statements cannot deadlock.
 */
export function countRequestsOf(requests: string): string {
  return `
  insert into rate_windows as w (subject, bucket, hits)
  select subject, $2, array[time] from (${requests}) as requests order by subject
  on conflict (subject, bucket) do update
    set hits = ${lastHits('$4')}
    where cardinality(w.hits) < $4::int
      or w.hits[cardinality(w.hits) + 1 - $4::int] <= excluded.hits[1] - $3::bigint
      or w.hits[cardinality(w.hits) + 1 - $4::int] >= excluded.hits[1] + $3::bigint
  returning subject, hits`
}

/** Returns the parameters $2 to $4 of `countRequestsOf`. */
export function countLimits(bucket: Bucket): readonly unknown[] {
  const { limit, windowMs } = BUCKETS[bucket]
  return [bucket, windowMs, limit]
}

/** Reads the column `hits` of a counting statement. Returns null if the request was rejected. */
export function readCounted(hits: string | null, bucket: Bucket, now: Date): RateState | null {
  return hits === null ? null : rateState(BUCKETS[bucket], toTimes(hits), true, now)
}

/**
 * Returns the window of a subject whose request was not counted. `allowed` says whether the limit allowed the request:
 * true if another check rejected it before it was counted, false if the limit rejected it. Uses the primary key.
 */
export function findWindow(subject: Buffer, bucket: Bucket, now: Date, allowed = false): Query<RateState> {
  return {
    name: 'find_rate_window',
    text: `select ${HITS_COLUMN} from rate_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: rowsOf(HITS_ROW, ([row]) => rateState(BUCKETS[bucket], toTimes(row?.hits ?? ''), allowed, now)),
  }
}

/**
 * Returns SQL for the time when a subject was last counted in any bucket, as Unix milliseconds. The value is null if it
 * was never counted. `subject` is the SQL expression for the subject. Uses the primary key.
 */
export function lastCountOf(subject: string): string {
  return `(select max(hit) from rate_windows, unnest(hits) as hit where rate_windows.subject = ${subject})`
}

/**
 * Returns SQL for the timestamps of a window and of the new request, but only the last ones. `limit` is the parameter
 * that says how many. The empty array at the end changes nothing. Without it, Citus 13.2.2 crashes: in an assignment, it
 * takes a slice at the top of the expression for the array's element that is assigned.
 */
function lastHits(limit: string): string {
  return `(w.hits || excluded.hits)[cardinality(w.hits) + 2 - ${limit}::int :] || '{}'::bigint[]`
}

/** Converts the value of the SQL from `lastCountOf` to a time. */
export function readLastCount(milliseconds: string | null): Date | null {
  return milliseconds === null ? null : new Date(Number(milliseconds))
}

/**
 * Counts an attempt if the limit allows it. Returns null if the limit rejects it. The rule is the same as in
 * `countRequestsOf`, but the first attempt inserts the row, because an unknown caller has no window yet.
 */
export function countAttempt(subject: Buffer, bucket: AttemptBucket, now: Date): Query<RateState | null> {
  const attempt = 'select $4::bytea as subject, $5::int8 as time, $6::timestamptz as row_end'
  return {
    name: 'count_attempt',
    text: `with counted as (${countAttemptsOf(attempt)}) select ${HITS_COLUMN} from counted`,
    values: [...attemptLimits(bucket), subject, now.getTime(), attemptRowEnd(bucket, now)],
    read: firstOrNull(HITS_ROW, (row) => rateState(ATTEMPT_LIMITS[bucket], toTimes(row.hits), true, now)),
  }
}

/**
 * Returns the SQL that counts attempts of several subjects, to be included as `with counted as (…)`. It returns the
 * columns `subject` and `hits`, and no row for an attempt that the limit rejects. `attempts` is an SQL query for the
 * columns `subject`, `time`, in Unix milliseconds, and `row_end`, which `attemptRowEnd` returns. It must return a
 * subject once at most. As in `countRequestsOf`, the rows are locked in the order of the subjects. `attemptLimits`
 * returns the parameters $1 to $3.
 */
export function countAttemptsOf(attempts: string): string {
  return `
      insert into attempt_windows as w (subject, bucket, hits, expires_at)
      select subject, $1, array[time], row_end from (${attempts}) as attempts order by subject
      on conflict (subject, bucket) do update
        set hits = ${lastHits('$3')}, expires_at = excluded.expires_at
        where cardinality(w.hits) < $3::int
          or w.hits[cardinality(w.hits) + 1 - $3::int] <= excluded.hits[1] - $2::bigint
          or w.hits[cardinality(w.hits) + 1 - $3::int] >= excluded.hits[1] + $2::bigint
      returning subject, hits`
}

/** Returns the parameters $1 to $3 of `countAttemptsOf`. */
export function attemptLimits(bucket: AttemptBucket): readonly unknown[] {
  const { limit, windowMs } = ATTEMPT_LIMITS[bucket]
  return [bucket, windowMs, limit]
}

/** Returns the window of a subject whose attempt the limit rejected. Uses the primary key. */
export function findAttempts(subject: Buffer, bucket: AttemptBucket, now: Date): Query<RateState> {
  return {
    name: 'find_attempts',
    text: `select ${HITS_COLUMN} from attempt_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket],
    read: rowsOf(HITS_ROW, ([row]) => rateState(ATTEMPT_LIMITS[bucket], toTimes(row?.hits ?? ''), false, now)),
  }
}

/**
 * Deletes at most `rowsMax` windows that have expired, and returns how many it deleted. Uses the index
 * `attempt_windows_by_end`.
 */
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
