import { decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import type { OwnerAssertion } from '../../enclave/enclave.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { toSpki } from '../wallets/owner-passkey.ts'
import { listSlots } from '../wallets/slots-store.ts'
import { listRecordOwners } from '../wallets/wallet-owners-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { findWallet } from '../wallets/wallets-store.ts'

/** The record of a wallet, and the signatures of the owners who have confirmed it. */
export interface WalletRecord {
  readonly wallet: Wallet
  /** The exact bytes that the owners sign. */
  readonly statement: Uint8Array
  readonly assertions: readonly (OwnerAssertion & { readonly credentialId: string })[]
  /** All owners of the wallet. `publicKey` is base64 SPKI DER. */
  readonly owners: readonly { readonly credentialId: string; readonly publicKey: string; readonly name: string }[]
}

/**
 * Returns the record of a wallet. Leaves out every signature over an earlier statement, for example over a statement
 * that contains another address of the enclave.
 *
 * Errors: 404 `wallet_not_found`.
 */
export async function getWalletRecord(
  ctx: Pick<Context, 'db' | 'enclave'>,
  { workspaceId, mode, address }: { workspaceId: string; mode: Mode; address: Address },
): Promise<WalletRecord> {
  const [wallet, owners] = await ctx.db.read([
    findWallet(workspaceId, mode, address),
    listRecordOwners(workspaceId, mode, address),
  ])
  if (wallet === null) throw problem('wallet_not_found')
  const slots = await ctx.db.read(listSlots(wallet))
  const statement = ctx.enclave.describeWallet(wallet, slots)
  const challenge = Buffer.from(statement).toString('base64url')
  return {
    wallet,
    statement,
    assertions: owners.flatMap(({ credentialId, recordAssertion }) =>
      recordAssertion === null || decodeClientDataJSON(recordAssertion.clientDataJSON).challenge !== challenge
        ? []
        : [{ credentialId, ...recordAssertion }],
    ),
    owners: owners.map(({ credentialId, publicKeyCose, name }) => ({
      credentialId,
      publicKey: toSpki(publicKeyCose),
      name,
    })),
  }
}
