import assert from 'node:assert/strict'
import {
  restoreSoftwarePasskey,
  type PasskeyAssertion,
  type SoftwarePasskey,
} from '../../../sandbox/src/software-passkey.ts'
import type { Actor } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context, RelyingParty } from '../../../server/src/domain/context.ts'
import { openOwnerChange } from '../../../server/src/domain/owners/open-owner-change.ts'
import { submitOwnerSignature } from '../../../server/src/domain/owners/submit-owner-signature.ts'
import { listOwners } from '../../../server/src/domain/wallets/wallet-owners-store.ts'
import type { OwnerRequest } from '../../../server/src/domain/owners/owner-request.ts'
import type { Owned } from './grant-fixture.ts'

export interface WantedChange {
  readonly kind: 'add_owner' | 'remove_owner'
  readonly credentialId: string
}

/** A prepared change, and the bytes that an owner signs. */
export interface Prepared {
  readonly requestId: string
  readonly payload: Uint8Array
  /** The credential ids of the passkeys that may sign. */
  readonly signers: readonly string[]
}

export async function prepareChange(ctx: Context, owned: Owned, wanted: WantedChange): Promise<Prepared> {
  const { workspaceId, mode, wallet, actor } = owned
  const opened = await openOwnerChange(ctx, { workspaceId, mode, address: wallet.address, ...wanted, actor })
  assert.ok(opened !== null, 'there is something to sign')
  const { payload, credentials } = opened.request
  return { requestId: opened.requestId, payload, signers: credentials.map(({ id }) => id) }
}

export async function submit(
  ctx: Context,
  { workspaceId, actor }: { workspaceId: string; actor: Actor },
  { requestId, assertion }: { requestId: string; assertion: PasskeyAssertion },
): Promise<OwnerRequest> {
  return await submitOwnerSignature(ctx, { workspaceId, requestId, assertion, actor, pause: async () => undefined })
}

/** Prepares a change, and signs it with the passkey in `by`. By default, this is the wallet's first owner. */
export async function changeOwners(
  ctx: Context,
  owned: Owned,
  { by = owned.owner, ...wanted }: WantedChange & { by?: SoftwarePasskey },
): Promise<OwnerRequest> {
  const { requestId, payload } = await prepareChange(ctx, owned, wanted)
  return await submit(ctx, owned, { requestId, assertion: by.assert(payload) })
}

/** Applies a change that needs no signature, because the enclave has made it already. */
export async function findChangeMade(ctx: Context, owned: Owned, wanted: WantedChange): Promise<void> {
  const { workspaceId, mode, wallet, actor } = owned
  const opened = await openOwnerChange(ctx, { workspaceId, mode, address: wallet.address, ...wanted, actor })
  assert.equal(opened, null, 'there is nothing to sign')
}

/** Returns the credential ids of a wallet's owners from our own record, not from the enclave. */
export async function readOwners(ctx: Context, { wallet }: Pick<Owned, 'wallet'>): Promise<string[]> {
  return (await ctx.db.read(listOwners(wallet))).map(({ credentialId }) => credentialId)
}

/** Returns a copy of the passkey that belongs to another site, as if that site could use the same key. */
export function usedOn(passkey: SoftwarePasskey, site: RelyingParty): SoftwarePasskey {
  return restoreSoftwarePasskey({ ...passkey.export(), rpId: site.id, origin: site.origin })
}
