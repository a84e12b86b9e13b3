import assert from 'node:assert/strict'
import {
  restoreSoftwarePasskey,
  type PasskeyAssertion,
  type SoftwarePasskey,
} from '../../../sandbox/src/software-passkey.ts'
import type { Actor } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context, RelyingParty } from '../../../server/src/domain/context.ts'
import type { Grant } from '../../../server/src/domain/grants/grant.ts'
import { getWalletRecord } from '../../../server/src/domain/owners/get-wallet-record.ts'
import { openOwnerChange } from '../../../server/src/domain/owners/open-owner-change.ts'
import { signWalletRecord } from '../../../server/src/domain/owners/sign-wallet-record.ts'
import { submitOwnerSignature } from '../../../server/src/domain/owners/submit-owner-signature.ts'
import type { Payment } from '../../../server/src/domain/payments/payment.ts'
import { issueResumeRequest } from '../../../server/src/domain/stops/issue-resume-request.ts'
import { resumeGrants } from '../../../server/src/domain/stops/resume-grants.ts'
import { challengeOf } from '../../../server/src/domain/stops/resume-statement.ts'
import { listOwners } from '../../../server/src/domain/wallets/wallet-owners-store.ts'
import type { OwnerRequest } from '../../../server/src/domain/owners/owner-request.ts'
import { issueWithdrawalRequest } from '../../../server/src/domain/withdrawals/issue-withdrawal-request.ts'
import { submitWithdrawal } from '../../../server/src/domain/withdrawals/submit-withdrawal.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import type { Owned } from './grant-fixture.ts'
import { RECIPIENT } from './seed.ts'

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

/** Signs the record of the wallet with a passkey, by default the first owner's. */
export async function signRecord(ctx: Context, owned: Owned, by: SoftwarePasskey = owned.owner): Promise<void> {
  const { workspaceId, mode, wallet, actor } = owned
  const place = { workspaceId, mode, address: wallet.address }
  const { statement } = await getWalletRecord(ctx, place)
  await signWalletRecord(ctx, { ...place, assertion: by.assert(statement), actor })
}

/** Resumes a grant, or the grants that a stop suspended, with the signature of the first owner. */
export async function resume(
  ctx: Context,
  { workspaceId, owner, actor }: Owned,
  asked: { readonly stopId: string } | { readonly grantId: string },
): Promise<readonly Grant[]> {
  const { credentialId } = owner
  const { payload, expiresAt } = await issueResumeRequest(ctx, { workspaceId, credentialId, ...asked })
  const assertion = owner.assert(challengeOf(payload))
  return await resumeGrants(ctx, { workspaceId, ...asked, expiresAt, assertion, actor })
}

/** Withdraws 1 USDC with the signature of the first owner. */
export async function withdrawOne(ctx: Context, { workspaceId, mode, wallet, owner, actor }: Owned): Promise<Payment> {
  const amount = { amountMicro: microUsdc(1_000_000n), amountUsdc: '1' }
  const asked = { workspaceId, mode, wallet: wallet.address, to: RECIPIENT, amount, actor }
  const { requestId, signingRequest } = await issueWithdrawalRequest(ctx, asked)
  const assertion = owner.assert(signingRequest.payload)
  return await submitWithdrawal(ctx, { workspaceId, requestId, assertion, actor })
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
