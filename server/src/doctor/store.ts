import { computed, narrow, nullable, pick } from '../db/column.ts'
import { all, one, rowsOf, type Query } from '../db/query.ts'
import { tables } from '../db/tables.ts'
import { parseAddress, type Address } from '../values/address.ts'
import type { Mode } from '../values/mode.ts'

const { wallet_slots, wallets, webhook_endpoints } = tables

/** The encrypted key of a slot's signer, and the slot to which the encryption binds it. */
export interface SealedSlotKey {
  readonly workspaceId: string
  readonly mode: Mode
  readonly walletAddress: string
  readonly slot: number
  readonly sealed: Buffer
}

export interface SealedSecret {
  readonly workspaceId: string
  readonly endpointId: string
  readonly sealed: Buffer
}

export function listSealedSlots(countMax: number): Query<SealedSlotKey[]> {
  return {
    name: 'list_sealed_slots',
    text: `select workspace_id, mode, wallet_address, slot, signer_private_key_sealed from wallet_slots
      where signer_private_key_sealed <> '' limit $1`,
    values: [countMax],
    read: all(SEALED_SLOT_ROW, (row) => ({
      workspaceId: row.workspace_id,
      mode: row.mode,
      walletAddress: row.wallet_address,
      slot: row.slot,
      sealed: row.signer_private_key_sealed,
    })),
  }
}

const SEALED_SLOT_ROW = {
  ...pick(wallet_slots, 'workspace_id', 'wallet_address', 'slot', 'signer_private_key_sealed'),
  mode: narrow<Mode>(wallet_slots.mode),
}

export function listSealedSecrets(countMax: number): Query<SealedSecret[]> {
  return {
    name: 'list_sealed_secrets',
    text: 'select workspace_id, id, secret_sealed from webhook_endpoints where deleted_at is null limit $1',
    values: [countMax],
    read: all(pick(webhook_endpoints, 'workspace_id', 'id', 'secret_sealed'), (row) => ({
      workspaceId: row.workspace_id,
      endpointId: row.id,
      sealed: row.secret_sealed,
    })),
  }
}

export function listWalletAddresses(mode: Mode, countMax: number): Query<Address[]> {
  return {
    name: 'list_addresses_of_wallets',
    text: 'select address from wallets where mode = $1 limit $2',
    values: [mode, countMax],
    read: rowsOf(pick(wallets, 'address'), (rows) => rows.flatMap(({ address }) => parseAddress(address) ?? [])),
  }
}

/**
 * Returns when a payment of a mode was last confirmed, or null if none was. Reads a limited number of workspaces. Uses
 * the index `payments_listed`.
 */
export function findLastConfirmed(mode: Mode, countMax: number): Query<Date | null> {
  return {
    name: 'find_last_confirmed_payment',
    text: `select max(p.settled_at) as settled_at
      from (select id from workspaces limit $2) a
      cross join lateral (
        select settled_at from payments
        where workspace_id = a.id and mode = $1 and status = 'confirmed'
        order by id desc limit 1
      ) p`,
    values: [mode, countMax],
    read: one({ settled_at: nullable(computed.timestamptz) }, (row) => row.settled_at),
  }
}
