import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { listOwnerCredentials } from '../wallets/list-credentials.ts'
import type { SigningRequest } from '../wallets/signing-request.ts'
import { isFencedFor, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { findSignerLease } from '../wallets/wallets-store.ts'
import { leaseBounds, signerChangeUnderWay, withSignerLease } from '../wallets/with-signer-lease.ts'
import { getGrant, isOutdated } from './queries.ts'
import type { Grant, GrantChange, StoredSigningRequest } from './grant.ts'
import { getWalletAndSlot, type GrantPlace } from './get-wallet-and-slot.ts'
import { readSlot, type SlotReading } from './read-slot.ts'
import { findSubmittedRequest, reconcileGrant } from './reconcile-grant.ts'
import { grantRevoked } from './grant-problems.ts'
import { saveSigningRequest } from './grants-store.ts'
import { invalidMember } from '../../values/invalid-request.ts'

export interface IssuedRequest {
  readonly grant: Grant
  /** Null if nothing has to be signed. */
  readonly request: SigningRequest | null
}

/**
 * Prepares the enclave request that activates or revokes a grant, for an owner to sign. It contains all rules
 * of the grant's slot, so the owner signs the terms themselves (decision 0034). A request that was prepared before is
 * returned again while at least half of its time is left.
 *
 * If the slot already has the requested rules, there is nothing to sign: the current state is recorded and the grant is
 * returned. This happens after a crash between the enclave's response and the record of it, or when a pending grant is
 * dropped.
 *
 * Errors: 404; 409 `grant_revoked`, `grant_not_pending`, `signer_not_configured`, `signer_change_under_way`,
 * `signing_request_stale`; 400 for a grant that has expired.
 */
export async function issueSigningRequest(
  ctx: Context,
  { workspaceId, grantId, change, actor }: { workspaceId: string; grantId: string; change: GrantChange; actor: Actor },
): Promise<IssuedRequest> {
  const grant = await getGrant(ctx, { workspaceId, grantId })
  checkStatus(grant, change)
  const place = await getWalletAndSlot(ctx, grant)
  const reading = await readSlot(ctx, { grant, slot: place.slot, change })
  if (reading.isDone) {
    return { grant: await recordCurrentState(ctx, { grant, ...place, change, actor }), request: null }
  }
  if (ctx.signer === null) throw problem('signer_not_configured')
  const request = await prepareRequest(ctx, { grant, ...place, change, ...reading })
  const { expiresAt } = request
  const { payload } = ctx.enclave.prepareRules({ slot: place.slot, rules: request.after, expiresAt })
  const credentials = await listOwnerCredentials(ctx, place.wallet)
  return { grant, request: { payload, expiresAt, credentials, before: request.before } }
}

function checkStatus(grant: Grant, change: GrantChange): void {
  if (grant.status === 'revoked') throw grantRevoked(grant)
  if (change === 'activate' && grant.status !== 'pending') throw problem('grant_not_pending')
}

interface RequestedChange extends GrantPlace {
  readonly grant: Grant
  readonly change: GrantChange
}

/**
 * Returns the request for the owner to sign, either a new one or the one that was prepared before. Throws while another
 * change may still take effect, because that change would make the request stale.
 */
async function prepareRequest(
  ctx: Context,
  { grant, wallet, change, before, after }: RequestedChange & SlotReading,
): Promise<StoredSigningRequest> {
  const now = ctx.clock.now()
  if (change !== 'revoke' && grant.expiresAt !== null && grant.expiresAt <= now) {
    throw invalidMember('expires_at', 'is in the past. Create another grant')
  }
  const waiting = grant.signingRequest?.change === change ? grant.signingRequest : null
  const [held, isStale] = await Promise.all([
    ctx.db.read(findSignerLease(wallet, leaseBounds(now))),
    waiting !== null && isOutdated(ctx, grant, waiting),
  ])
  const isUsable =
    waiting !== null &&
    !isStale &&
    ctx.enclave.sameRules(waiting.before, before) &&
    ctx.enclave.sameRules(waiting.after, after)
  const leftMs = isUsable ? waiting.expiresAt.getTime() - now.getTime() : 0
  if (isUsable && leftMs > 0 && held !== null && isFencedFor(waiting, held)) return waiting
  if (held !== null) throw signerChangeUnderWay(held)
  if (isUsable && leftMs >= SIGNING_REQUEST_MS / 2) return waiting

  if (change === 'activate' && grant.replaces === null && before.length > 0) {
    const rules = before.map(({ name }) => name)
    ctx.logger.warn({ grant: grant.id, slot: grant.slot, rules }, 'a slot that no grant uses has rules at the enclave')
  }
  const expiresAt = new Date(now.getTime() + SIGNING_REQUEST_MS)
  const request = { change, before, after, expiresAt, submittedBy: null }
  await ctx.db.write(saveSigningRequest(grant, request))
  return request
}

/**
 * Records that the slot's rules are already as requested. Reads the rules again while holding the lease, because a
 * change in progress may have altered them since the first read.
 */
async function recordCurrentState(
  ctx: Context,
  { grant, wallet, slot, change, actor }: RequestedChange & { actor: Actor },
): Promise<Grant> {
  return await withSignerLease(ctx, { wallet, signed: findSubmittedRequest(grant, change) }, async (lease) => {
    const { before: rules, isDone } = await readSlot(ctx, { grant, slot, change })
    if (!isDone) throw problem('signing_request_stale')
    return await reconcileGrant(ctx, lease, { grant, slot, change, rules, foundBy: actor })
  })
}
