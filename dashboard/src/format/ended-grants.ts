import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { WalletOwner } from './owner-text.ts'

type EndedGrant = Pick<Grant, 'agent_id' | 'status' | 'replaced_by' | 'activated_at' | 'revoked_at' | 'expires_at'>

/**
 * Returns the grants that ended when their wallet was moved to wallet passkeys. The move also adds an owner, so these
 * grants ended at the time at which an owner was added. Leaves out grants that have expired, and grants of agents that
 * have a grant on the wallet again.
 *
 * @param grants all grants of the wallet
 */
export function listEndedByMove<Ended extends EndedGrant>(
  grants: readonly Ended[],
  owners: readonly Pick<WalletOwner, 'added_at'>[],
  now: number,
): readonly Ended[] {
  const movedAt = new Set<string | null>(owners.map(({ added_at }) => added_at))
  const open = new Set(grants.filter(({ status }) => status !== 'revoked').map(({ agent_id }) => agent_id))
  return grants.filter(
    ({ agent_id, status, replaced_by, activated_at, revoked_at, expires_at }) =>
      status === 'revoked' &&
      replaced_by === null &&
      activated_at !== null &&
      movedAt.has(revoked_at) &&
      !open.has(agent_id) &&
      (expires_at === null || Date.parse(expires_at) > now),
  )
}
