import { nullable } from '../../db/column.ts'
import { firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Payment } from './payment.ts'

const { agents, grants, wallet_slots: slots, wallets } = tables

/** The key that signs is in the slot. If the wallet has no slots, the key is in the row of the agent. */
const SIGNING_ROW = {
  enclave_wallet_id: wallets.enclave_wallet_id,
  slot: grants.slot,
  slot_key: nullable(slots.signer_private_key_sealed),
  agent_key: agents.signer_private_key_sealed,
  expires_at: grants.expires_at,
}

/** A signer's private key, encrypted. */
export interface SignerKey {
  /** The slot that has the key. Null if the agent has it, because its wallet has no slots. */
  readonly slot: number | null
  readonly sealed: Buffer
}

export interface SigningParties {
  readonly enclaveWalletId: string
  readonly signerKey: SignerKey
}

/**
 * Finds the wallet and the key that sign a resumed payment, if its grant is active and not suspended. Uses primary
 * keys.
 */
export function findSigningParties(
  payment: Pick<Payment, 'accountId' | 'grantId'>,
): Query<(SigningParties & { readonly expiresAt: Date | null }) | null> {
  return {
    name: 'find_signing_parties',
    text: `select w.enclave_wallet_id, g.slot, s.signer_private_key_sealed as slot_key,
        a.signer_private_key_sealed as agent_key, g.expires_at
      from grants g
      join wallets w on w.account_id = g.account_id and w.mode = g.mode and w.address = g.wallet_address
      join agents a on a.account_id = g.account_id and a.mode = g.mode and a.id = g.agent_id
      left join wallet_slots s on s.account_id = g.account_id and s.mode = g.mode
        and s.wallet_address = g.wallet_address and s.slot = g.slot
      where g.account_id = $1 and g.id = $2 and g.status = 'active' and g.suspended_at is null`,
    values: [payment.accountId, payment.grantId],
    read: firstOrNull(SIGNING_ROW, (row) => ({
      enclaveWalletId: row.enclave_wallet_id,
      signerKey: requireKey(toSignerKey(row.slot, row.slot === null ? row.agent_key : row.slot_key)),
      expiresAt: row.expires_at,
    })),
  }
}

/** Returns the key, or null if there is none. */
export function toSignerKey(slot: number | null, sealed: Buffer | null): SignerKey | null {
  return sealed === null ? null : { slot, sealed }
}

function requireKey(key: SignerKey | null): SignerKey {
  if (key === null) throw new Error('an active grant has no key')
  return key
}
