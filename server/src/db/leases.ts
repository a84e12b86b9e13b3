import { changed, type Query } from './query.ts'

/**
 * Takes a named lease, or extends it if `holder` already has it. A lease is the right of one process to run a
 * background job until a given time. Returns false while another holder has the lease. Uses the primary key.
 */
export function takeLease(name: string, holder: string, now: Date, expiresAt: Date): Query<boolean> {
  return {
    name: 'take_lease',
    text: `insert into leases as l (name, holder, expires_at) values ($1, $2, $4)
      on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where l.holder = $2 or l.expires_at <= $3 or l.expires_at > $5`,
    // If the stored lease would last more than twice as long as the new lease, the clock was set back after the stored
    // lease was written. Then the stored lease is ignored.
    values: [name, holder, now, expiresAt, new Date(now.getTime() + 2 * (expiresAt.getTime() - now.getTime()))],
    read: changed,
  }
}

/** Releases a lease, so that another process need not wait until it expires. */
export function releaseLease(name: string, holder: string): Query<boolean> {
  return {
    name: 'release_lease',
    text: 'delete from leases where name = $1 and holder = $2',
    values: [name, holder],
    read: changed,
  }
}
