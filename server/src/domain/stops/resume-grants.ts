import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Query } from '../../db/query.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { Grant } from '../grants/grant.ts'
import { describeGrant, grantEvent } from '../grants/record-status-change.ts'
import { findGrants, markResumed } from '../grants/stopped-grants-store.ts'
import { settleRemovals } from '../owners/open-owner-change.ts'
import { keepSignature } from '../owner-signatures/keep-signature.ts'
import { checkPasskeySignature } from '../wallets/owner-passkey.ts'
import { fenceOf, SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { listOwners } from '../wallets/wallet-owners-store.ts'
import { appendEvents } from '../webhooks/append-event.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { challengeOf, formatStatement } from './resume-statement.ts'
import { selectSuspended, walletOf, type Resumed, type Suspended } from './select-suspended.ts'

/** At most this many grants are read at once, so that the events of few grants are in memory. */
const GRANTS_PER_STEP = 500

/**
 * Resumes suspended grants with the signature of a passkey that owns their wallets (D87). The signature covers each
 * grant, its terms, and when it was suspended. So a signature works once: a grant that is suspended again is not resumed
 * by it. The enclave is not called, because it knows nothing of a suspension. Returns the resumed grants.
 *
 * Errors: those of `selectSuspended`; 400 `signature_invalid`; 409 `signing_request_expired`, `signing_request_stale` if
 * a grant was suspended, resumed or ended since the statement was made; 409 `signer_not_configured`,
 * `wallet_passkey_counter_went_back`; 409 `signer_change_under_way` while the removal of the passkey may take effect.
 */
export async function resumeGrants(
  ctx: Context,
  {
    workspaceId,
    expiresAt,
    assertion,
    actor,
    ...resumed
  }: Resumed & { workspaceId: string; expiresAt: Date; assertion: AuthenticationResponseJSON; actor: Actor },
): Promise<readonly [Grant, ...Grant[]]> {
  const leftMs = expiresAt.getTime() - ctx.clock.now().getTime()
  if (leftMs <= 0) throw problem('signing_request_expired')
  // Another process, whose clock may be ahead of ours, may have made the statement.
  if (leftMs > SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS) throw problem('signing_request_stale')
  const suspended = await selectOwned(ctx, { ...resumed, workspaceId, credentialId: assertion.id })
  const { stop, grants } = suspended
  // A stop's grants are selected by this passkey, so it owns all of their wallets if it owns the first.
  const owners = await ctx.db.read(listOwners(walletOf(grants[0])))
  const statement = formatStatement(grants, { workspaceId, stopId: stop?.id ?? null, expiresAt })
  const signature = await checkPasskeySignature(ctx, {
    passkey: owners.find(({ credentialId }) => credentialId === assertion.id) ?? null,
    challenge: challengeOf(statement),
    requestedAt: new Date(expiresAt.getTime() - SIGNING_REQUEST_MS),
    assertion,
  })
  const kept = keepSignature(ctx, signature, {
    ...{ workspaceId, mode: grants[0].mode, actor, kind: 'resume', subject: stop?.id ?? grants[0].id, statement },
    usableUntil: fenceOf({ expiresAt }),
  })
  return await recordResumption(ctx, { ...suspended, workspaceId, credentialId: assertion.id, actor, kept })
}

/**
 * Returns what the passkey resumes. The enclave knows best who owns a wallet, but has no part in a resumption. So a removal
 * of the passkey whose response was lost is recorded first.
 */
async function selectOwned(
  ctx: Context,
  asked: Resumed & { workspaceId: string; credentialId: string },
): Promise<Suspended> {
  const { workspaceId, credentialId } = asked
  const suspended = await selectSuspended(ctx, asked)
  const { mode } = suspended.grants[0]
  const wallets = [...new Set(suspended.grants.map(({ walletAddress }) => walletAddress))]
  const wasUncertain = await settleRemovals(ctx, { workspaceId, mode, wallets, credentialId })
  return wasUncertain ? await selectSuspended(ctx, asked) : suspended
}

async function recordResumption(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    workspaceId,
    stop,
    grants,
    credentialId,
    actor,
    kept,
  }: Suspended & { workspaceId: string; credentialId: string; actor: Actor; kept: Query<boolean> },
): Promise<[Grant, ...Grant[]]> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const resumed: Grant[] = []
    // Under the workspace's lock, no other request resumes, revokes or replaces these grants.
    await transaction.run(lockWorkspace(workspaceId))
    for (let start = 0; start < grants.length; start += GRANTS_PER_STEP) {
      const signed = new Map(grants.slice(start, start + GRANTS_PER_STEP).map((grant) => [grant.id, grant]))
      const current = await transaction.run(findGrants(workspaceId, [...signed.keys()]))
      const isSame = ({ id, status, suspendedAt }: Grant): boolean =>
        status === 'active' && suspendedAt?.getTime() === signed.get(id)?.suspendedAt?.getTime()
      if (current.length < signed.size || !current.every(isSame)) throw problem('signing_request_stale')
      const changed = await transaction.run(markResumed(workspaceId, [...signed.keys()]))
      await transaction.batch(appendEvents(changed.map((grant) => grantEvent('permission.resumed', grant, now))))
      resumed.push(...changed)
    }
    const entry = { logId: workspaceId, createdAt: now, actor } as const
    const [first, ...others] = resumed
    if (first === undefined) throw new Error('there was nothing to resume')
    await transaction.commit([
      stop === null
        ? insertAuditEntry({
            ...entry,
            action: 'grant.resumed',
            subject: first.id,
            details: { ...describeGrant(first), credential_id: credentialId },
          })
        : insertAuditEntry({
            ...entry,
            action: 'agents.resumed',
            subject: stop.id,
            details: { mode: stop.mode, grants: resumed.length, credential_id: credentialId },
          }),
      kept,
    ])
    return [first, ...others]
  })
}
