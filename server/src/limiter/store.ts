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
 * Counts a request if the window has room. One statement, so it is exact across processes: an update that waited for
 * another one judges the row as that one left it. Times lie within one window of now: later ones come from a clock
 * that has been set back since. Answers null when the request was turned away, or the subject has no windows.
 */
export function countRequest(subject: Buffer, bucket: Bucket, now: Date): Query<RateState | null> {
  const { limit, windowMs } = BUCKETS[bucket]
  const time = now.getTime()
  return {
    name: 'count_request',
    text: `update rate_windows
      set hits = array_append(array(select hit from unnest(hits) as hit where hit > $3 and hit < $4), $5)
      where subject = $1 and bucket = $2
        and (select count(*) from unnest(hits) as hit where hit > $3 and hit < $4) < $6
      returning hits`,
    values: [subject, bucket, time - windowMs, time + windowMs, time, limit],
    read: (rows) => (rows[0] === undefined ? null : rateState(bucket, toTimes(rows[0]['hits']), true, now)),
  }
}

/** The window of a subject that was turned away. */
export function findWindow(subject: Buffer, bucket: Bucket, now: Date): Query<RateState> {
  const { windowMs } = BUCKETS[bucket]
  const time = now.getTime()
  return {
    name: 'find_rate_window',
    text: `select array(select hit from unnest(hits) as hit where hit > $3 and hit < $4) as hits
      from rate_windows where subject = $1 and bucket = $2`,
    values: [subject, bucket, time - windowMs, time + windowMs],
    read: (rows) => rateState(bucket, toTimes(rows[0]?.['hits'] ?? []), false, now),
  }
}

function toTimes(hits: readonly (string | number)[]): number[] {
  return hits.map(Number)
}
