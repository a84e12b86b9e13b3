import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { computed, pick, type RowOf } from '../../db/column.ts'
import { tables } from '../../db/tables.ts'
import type { Wallet, WalletSlot } from './wallet.ts'

const { wallet_slots: slots } = tables

const SLOT_ROW = pick(slots, 'slot', 'enclave_policy_id', 'signer_id')

/** A slot with its signer's private key, encrypted. */
export interface SealedSlot extends WalletSlot {
  readonly privateKeySealed: Buffer
}

type WalletKey = Pick<Wallet, 'workspaceId' | 'mode' | 'address'>

export function insertSlots({ workspaceId, mode, address }: WalletKey, added: readonly SealedSlot[]): Query<boolean> {
  return {
    name: 'insert_wallet_slots',
    text: `insert into wallet_slots (workspace_id, mode, wallet_address, slot, enclave_policy_id, signer_id,
        signer_private_key_sealed)
      select $1, $2, $3, slot, rules_id, signer_id, decode(sealed, 'hex')
      from unnest($4::int[], $5::text[], $6::text[], $7::text[]) as added (slot, rules_id, signer_id, sealed)`,
    values: [
      workspaceId,
      mode,
      address,
      added.map(({ slot }) => slot),
      added.map(({ enclaveRulesId }) => enclaveRulesId),
      added.map(({ signerId }) => signerId),
      added.map(({ privateKeySealed }) => privateKeySealed.toString('hex')),
    ],
    read: changed,
  }
}

/** The wallet's slots, in order. Uses the primary key. */
export function listSlots({ workspaceId, mode, address }: WalletKey): Query<WalletSlot[]> {
  return {
    name: 'list_wallet_slots',
    text: `select slot, enclave_policy_id, signer_id from wallet_slots
      where workspace_id = $1 and mode = $2 and wallet_address = $3 order by slot`,
    values: [workspaceId, mode, address],
    read: all(SLOT_ROW, toSlot),
  }
}

/** Counts the slots of a wallet whose signing key is not lost. Uses the primary key. */
export function countUsableSlots({ workspaceId, mode, address }: WalletKey): Query<number> {
  return {
    name: 'count_usable_slots',
    text: `select count(*) as slots from wallet_slots
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and signer_private_key_sealed <> ''`,
    values: [workspaceId, mode, address],
    read: one({ slots: computed.int8 }, (row) => Number(row.slots)),
  }
}

/** Uses the primary key. */
export function findSlot({ workspaceId, mode, address }: WalletKey, slot: number): Query<WalletSlot | null> {
  return {
    name: 'find_wallet_slot',
    text: `select slot, enclave_policy_id, signer_id from wallet_slots
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and slot = $4`,
    values: [workspaceId, mode, address, slot],
    read: firstOrNull(SLOT_ROW, toSlot),
  }
}

function toSlot(row: RowOf<typeof SLOT_ROW>): WalletSlot {
  return { slot: row.slot, enclaveRulesId: row.enclave_policy_id, signerId: row.signer_id }
}
