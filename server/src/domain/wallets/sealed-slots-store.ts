import { computed, narrow, nullable, pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Replacement } from '../../lib/sealing.ts'
import type { Mode } from '../../values/mode.ts'

const { wallet_slots } = tables

export interface SlotKey {
  readonly workspaceId: string
  readonly mode: Mode
  readonly walletAddress: string
  readonly slot: number
}

const SLOT_KEY = {
  ...pick(wallet_slots, 'workspace_id', 'wallet_address', 'slot'),
  mode: narrow<Mode>(wallet_slots.mode),
}

/**
 * Lists slots in the order of their primary keys. A signing key is null if it begins with the mark of the newest key, or
 * if it is lost. Uses the primary key.
 */
export function pageSlotKeys(
  after: SlotKey,
  mark: Buffer,
  rowsMax: number,
): Query<(SlotKey & { signerKey: Buffer | null })[]> {
  return {
    name: 'page_slot_keys',
    text: `select workspace_id, mode, wallet_address, slot,
        case when signer_private_key_sealed <> '' and substring(signer_private_key_sealed for $6) <> $5
          then signer_private_key_sealed end as signer_key
      from wallet_slots where (workspace_id, mode, wallet_address, slot) > ($1, $2, $3, $4)
      order by workspace_id, mode, wallet_address, slot limit $7`,
    values: [after.workspaceId, after.mode, after.walletAddress, after.slot, mark, mark.length, rowsMax],
    read: all({ ...SLOT_KEY, signer_key: nullable(computed.bytea) }, (row) => ({
      workspaceId: row.workspace_id,
      mode: row.mode,
      walletAddress: row.wallet_address,
      slot: row.slot,
      signerKey: row.signer_key,
    })),
  }
}

export function replaceSlotKey(key: SlotKey, signerKey: Replacement): Query<boolean> {
  return {
    name: 'replace_slot_key',
    text: `update wallet_slots set signer_private_key_sealed = $6
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and slot = $4 and signer_private_key_sealed = $5`,
    values: [key.workspaceId, key.mode, key.walletAddress, key.slot, signerKey?.old, signerKey?.new],
    read: changed,
  }
}

/** Records that the signing keys of these slots are lost. No grant uses these slots any more. Uses the primary key. */
export function retireSlots(keys: readonly SlotKey[]): Query<boolean> {
  return {
    name: 'retire_wallet_slots',
    text: `update wallet_slots s set signer_private_key_sealed = ''
      from unnest($1::text[], $2::text[], $3::text[], $4::int[]) as lost (workspace_id, mode, wallet_address, slot)
      where s.workspace_id = lost.workspace_id and s.mode = lost.mode and s.wallet_address = lost.wallet_address
        and s.slot = lost.slot`,
    values: [
      keys.map(({ workspaceId }) => workspaceId),
      keys.map(({ mode }) => mode),
      keys.map(({ walletAddress }) => walletAddress),
      keys.map(({ slot }) => slot),
    ],
    read: changed,
  }
}
