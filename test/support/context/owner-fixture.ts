import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  restoreSoftwarePasskey,
  type PasskeyAssertion,
  type SoftwarePasskey,
} from '../../../sandbox/src/software-passkey.ts'
import type { Actor } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context, RelyingParty } from '../../../server/src/domain/context.ts'
import { openOwnerChange } from '../../../server/src/domain/owners/open-owner-change.ts'
import { openWalletMove } from '../../../server/src/domain/owners/open-wallet-move.ts'
import { submitOwnerSignature } from '../../../server/src/domain/owners/submit-owner-signature.ts'
import { listOwners } from '../../../server/src/domain/wallets/owners-store.ts'
import { insertWallet } from '../../../server/src/domain/wallets/wallets-store.ts'
import type { OwnerRequest } from '../../../server/src/domain/wallets/owner-request.ts'
import type { Wallet } from '../../../server/src/domain/wallets/wallet.ts'
import { readRows } from '../database/read-rows.ts'
import type { Owned } from './grant-fixture.ts'
import { justProved, makePasskey } from './people.ts'

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
  const { accountId, mode, wallet, actor } = owned
  const opened = await openOwnerChange(ctx, { accountId, mode, address: wallet.address, ...wanted, actor })
  assert.ok(opened !== null, 'there is something to sign')
  const { payload, credentials } = opened.request
  return { requestId: opened.requestId, payload, signers: credentials.map(({ id }) => id) }
}

export async function submit(
  ctx: Context,
  { accountId, actor }: { accountId: string; actor: Actor },
  { requestId, assertion }: { requestId: string; assertion: PasskeyAssertion },
): Promise<OwnerRequest> {
  return await submitOwnerSignature(ctx, { accountId, requestId, assertion, actor, pause: async () => undefined })
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
  const { accountId, mode, wallet, actor } = owned
  const opened = await openOwnerChange(ctx, { accountId, mode, address: wallet.address, ...wanted, actor })
  assert.equal(opened, null, 'there is nothing to sign')
}

/** Returns the credential ids of a wallet's owners from our own record, not from the enclave. */
export async function readOwners(ctx: Context, { wallet }: Pick<Owned, 'wallet'>): Promise<string[]> {
  return (await ctx.db.runRelaxed(listOwners(wallet))).map(({ credentialId }) => credentialId)
}

/** Returns a copy of the passkey that belongs to another site, as if that site could use the same key. */
export function usedOn(passkey: SoftwarePasskey, site: RelyingParty): SoftwarePasskey {
  return restoreSoftwarePasskey({ ...passkey.export(), rpId: site.id, origin: site.origin })
}

/** A wallet that a sign-in passkey owns, as wallets were created before there were wallet passkeys. */
export interface LegacyWallet {
  readonly wallet: Wallet
  readonly signIn: SoftwarePasskey
}

/** Creates a wallet that a sign-in passkey owns, with one signer under a policy, and an active grant. */
export async function createLegacyWallet(
  ctx: Context,
  { accountId, mode, agentId }: Pick<Owned, 'accountId' | 'mode' | 'agentId'>,
  signIn: SoftwarePasskey = makePasskey(ctx, randomBytes(32).toString('base64url')),
): Promise<LegacyWallet> {
  const ownerQuorumId = await ctx.enclave.createQuorum({ publicKeys: [signIn.publicKeySpki], name: 'Owner' })
  const signer = ctx.enclave.generateSignerKey()
  const signerId = await ctx.enclave.createQuorum({ publicKeys: [signer.publicKey], name: 'agent' })
  const idempotencyKey = randomBytes(16).toString('hex')
  const policyId = await ctx.enclave.createPolicy({ name: 'agent', ownerQuorumId, idempotencyKey })
  const signers = [{ signerId, policyIds: [policyId] }]
  const made = await ctx.enclave.createWallet({ ownerQuorumId, signers, name: 'Old', idempotencyKey })
  const wallet: Wallet = {
    accountId,
    mode,
    address: made.address,
    name: 'Old',
    enclaveWalletId: made.enclaveWalletId,
    ownerQuorumId,
    signInOwner: { credentialId: signIn.credentialId, publicKeyCose: signIn.publicKeyCose },
    createdAt: ctx.clock.now(),
  }
  await ctx.db.runDurable(insertWallet(wallet))
  await readRows(
    ctx.db,
    `insert into grants (account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
        recipient_allowlist, contract_allowlist, status, enclave_policy_id, created_at, activated_at)
      values ($1, $2, $3, $4, $5, 1, 1, '{}', $6, 'active', $7, $8, $8)`,
    [accountId, `grt_${idempotencyKey}`, mode, agentId, made.address, [made.address], policyId, wallet.createdAt],
  )
  return { wallet, signIn }
}

/** Prepares the move of a wallet to a wallet passkey. */
export async function prepareMove(
  ctx: Context,
  { accountId, mode, actor }: Owned,
  { wallet, to }: { wallet: Wallet; to: SoftwarePasskey },
): Promise<{ requestId: string; challenge: Buffer; rpId: string | undefined }> {
  assert.equal(actor.kind, 'user')
  const mover = { kind: 'user', id: actor.id, ...justProved(ctx) } as const
  const { address } = wallet
  const opened = await openWalletMove(ctx, { accountId, mode, address, credentialId: to.credentialId, actor: mover })
  assert.ok(opened !== null, 'there is something to sign')
  const { challenge, rpId } = opened.options
  return { requestId: opened.requestId, challenge: Buffer.from(challenge, 'base64url'), rpId }
}
