import { computed, narrow, nullable, pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'

/**
 * The tables with secrets that are stored encrypted. A page lists rows in the order of their primary keys. It returns
 * the secrets that do not begin with the mark of the newest key, and null for the others. An update replaces a secret
 * only if it is still the one that was read, because another process may have stored a new one.
 */

/** A secret as it was read, and the same secret encrypted with the newest key. Null if nothing is replaced. */
export type Replacement = { readonly old: Buffer; readonly new: Buffer } | null

const stale = nullable(computed.bytea)

export interface SlotKey {
  readonly workspaceId: string
  readonly mode: Mode
  readonly walletAddress: string
  readonly slot: number
}

const SLOT_KEY = {
  ...pick(tables.wallet_slots, 'workspace_id', 'wallet_address', 'slot'),
  mode: narrow<Mode>(tables.wallet_slots.mode),
}

/** Uses the primary key. */
export function pageSlotKeys(
  after: SlotKey,
  mark: Buffer,
  rowsMax: number,
): Query<(SlotKey & { signerKey: Buffer | null })[]> {
  return {
    name: 'page_slot_keys',
    text: `select workspace_id, mode, wallet_address, slot,
        case when substring(signer_private_key_sealed for $6) <> $5 then signer_private_key_sealed end as signer_key
      from wallet_slots where (workspace_id, mode, wallet_address, slot) > ($1, $2, $3, $4)
      order by workspace_id, mode, wallet_address, slot limit $7`,
    values: [after.workspaceId, after.mode, after.walletAddress, after.slot, mark, mark.length, rowsMax],
    read: all({ ...SLOT_KEY, signer_key: stale }, (row) => ({
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

export interface EndpointKey {
  readonly workspaceId: string
  readonly id: string
}

/** The secrets of a deleted endpoint are empty. Uses the primary key. */
export function pageWebhookSecrets(
  after: EndpointKey,
  mark: Buffer,
  rowsMax: number,
): Query<(EndpointKey & { secret: Buffer | null; previousSecret: Buffer | null })[]> {
  return {
    name: 'page_webhook_secrets',
    text: `select workspace_id, id,
        case when secret_sealed <> '' and substring(secret_sealed for $4) <> $3 then secret_sealed end as secret,
        case when substring(previous_secret_sealed for $4) <> $3 then previous_secret_sealed end as previous_secret
      from webhook_endpoints where (workspace_id, id) > ($1, $2) order by workspace_id, id limit $5`,
    values: [after.workspaceId, after.id, mark, mark.length, rowsMax],
    read: all(
      { ...pick(tables.webhook_endpoints, 'workspace_id', 'id'), secret: stale, previous_secret: stale },
      (row) => ({
        workspaceId: row.workspace_id,
        id: row.id,
        secret: row.secret,
        previousSecret: row.previous_secret,
      }),
    ),
  }
}

export function replaceWebhookSecrets(
  { workspaceId, id }: EndpointKey,
  secret: Replacement,
  previousSecret: Replacement,
): Query<boolean> {
  return {
    name: 'replace_webhook_secrets',
    text: `update webhook_endpoints set
        secret_sealed = case when secret_sealed = $3 then $4 else secret_sealed end,
        previous_secret_sealed = case when previous_secret_sealed = $5 then $6 else previous_secret_sealed end
      where workspace_id = $1 and id = $2`,
    values: [workspaceId, id, secret?.old, secret?.new, previousSecret?.old, previousSecret?.new],
    read: changed,
  }
}

export interface PurchaseKey {
  readonly workspaceId: string
  readonly paymentId: string
}

/**
 * A seller's response is not returned, because it may have more than 1 MiB and is deleted after 24 hours (D68).
 * `isResponseStale` says that there is one without the mark. Uses the primary key.
 */
export function pagePurchases(
  after: PurchaseKey,
  mark: Buffer,
  rowsMax: number,
): Query<(PurchaseKey & { order: Buffer | null; header: Buffer | null; isResponseStale: boolean })[]> {
  return {
    name: 'page_sealed_purchases',
    text: `select workspace_id, payment_id,
        case when substring(order_sealed for $4) <> $3 then order_sealed end as "order",
        case when substring(header_sealed for $4) <> $3 then header_sealed end as header,
        coalesce(substring(response_sealed for $4) <> $3, false) as is_response_stale
      from purchases where (workspace_id, payment_id) > ($1, $2) order by workspace_id, payment_id limit $5`,
    values: [after.workspaceId, after.paymentId, mark, mark.length, rowsMax],
    read: all(
      {
        ...pick(tables.purchases, 'workspace_id', 'payment_id'),
        order: stale,
        header: stale,
        is_response_stale: computed.bool,
      },
      (row) => ({
        workspaceId: row.workspace_id,
        paymentId: row.payment_id,
        order: row.order,
        header: row.header,
        isResponseStale: row.is_response_stale,
      }),
    ),
  }
}

export function replacePurchaseSecrets(
  { workspaceId, paymentId }: PurchaseKey,
  order: Replacement,
  header: Replacement,
): Query<boolean> {
  return {
    name: 'replace_purchase_secrets',
    text: `update purchases set
        order_sealed = case when order_sealed = $3 then $4 else order_sealed end,
        header_sealed = case when header_sealed = $5 then $6 else header_sealed end
      where workspace_id = $1 and payment_id = $2`,
    values: [workspaceId, paymentId, order?.old, order?.new, header?.old, header?.new],
    read: changed,
  }
}

/** There are only a few keys of the server. Uses the primary key. */
export function pageServerKeys(
  after: string,
  mark: Buffer,
  rowsMax: number,
): Query<{ name: string; key: Buffer | null }[]> {
  return {
    name: 'page_server_keys',
    text: `select name, case when substring(key_sealed for $3) <> $2 then key_sealed end as key
      from server_keys where name > $1 order by name limit $4`,
    values: [after, mark, mark.length, rowsMax],
    read: all({ ...pick(tables.server_keys, 'name'), key: stale }, ({ name, key }) => ({ name, key })),
  }
}

export function replaceServerKey(name: string, key: Replacement): Query<boolean> {
  return {
    name: 'replace_server_key',
    text: 'update server_keys set key_sealed = $3 where name = $1 and key_sealed = $2',
    values: [name, key?.old, key?.new],
    read: changed,
  }
}
