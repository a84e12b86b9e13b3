import { one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { MissingGrantReason } from '../grants/missing-grant-store.ts'
import type { Payment } from './payment.ts'

const { grants, wallet_slots: slots, wallets } = tables

const SIGNING_ROW = {
  enclave_wallet_id: wallets.enclave_wallet_id,
  slot: grants.slot,
  slot_key: slots.signer_private_key_sealed,
  expires_at: grants.expires_at,
  status: grants.status,
  suspended_at: grants.suspended_at,
}

/** The private key of a slot's signer, encrypted. */
export interface SignerKey {
  readonly slot: number
  readonly sealed: Buffer
}

export interface SigningParties {
  readonly enclaveWalletId: string
  readonly signerKey: SignerKey
}

export type SigningGrant =
  | (SigningParties & { readonly expiresAt: Date | null; readonly missing: null })
  /** The grant is not active any more, or is suspended. */
  | { readonly missing: MissingGrantReason }

/** Finds the grant of a resumed payment, with the wallet and the key that sign. Uses primary keys. */
export function findSigningGrant(payment: Pick<Payment, 'workspaceId' | 'grantId'>): Query<SigningGrant> {
  return {
    name: 'find_signing_grant',
    text: `select w.enclave_wallet_id, g.slot, s.signer_private_key_sealed as slot_key, g.expires_at, g.status, g.suspended_at
      from grants g
      join wallets w on w.workspace_id = g.workspace_id and w.mode = g.mode and w.address = g.wallet_address
      join wallet_slots s on s.workspace_id = g.workspace_id and s.mode = g.mode
        and s.wallet_address = g.wallet_address and s.slot = g.slot
      where g.workspace_id = $1 and g.id = $2`,
    values: [payment.workspaceId, payment.grantId],
    read: one(SIGNING_ROW, (row) => {
      if (row.status !== 'active') return { missing: row.status }
      if (row.suspended_at !== null) return { missing: 'suspended' }
      return {
        missing: null,
        enclaveWalletId: row.enclave_wallet_id,
        signerKey: { slot: row.slot, sealed: row.slot_key },
        expiresAt: row.expires_at,
      }
    }),
  }
}
