import { serverKeySealContext } from '../../db/server-key.ts'
import type { Query } from '../../db/query.ts'
import { pageServerKeys, replaceServerKey } from '../../db/server-keys-store.ts'
import type { Replacement } from '../../lib/sealing.ts'
import type { Context } from '../context.ts'
import type { PurchasePlace } from '../purchases/purchases-store.ts'
import { purchaseSealContext } from '../purchases/seal-purchase.ts'
import { pagePurchases, replacePurchaseSecrets } from '../purchases/sealed-purchases-store.ts'
import { pageSlotKeys, replaceSlotKey, type SlotKey } from '../wallets/sealed-slots-store.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { secretSealContext } from '../webhooks/endpoint.ts'
import { pageWebhookSecrets, replaceWebhookSecrets, type EndpointPlace } from '../webhooks/sealed-secrets-store.ts'
/** A statement reads at most this many rows, and a transaction locks as many. */
const ROWS_PER_PAGE = 200

const FIRST_SLOT: SlotKey = { workspaceId: '', mode: 'live', walletAddress: '', slot: 0 }
const FIRST_ENDPOINT: EndpointPlace = { workspaceId: '', id: '' }
const FIRST_PURCHASE: PurchasePlace = { workspaceId: '', paymentId: '' }

type ResealContext = Pick<Context, 'db' | 'sealer'>

/** How many secrets were encrypted again, and how many still need another key than the newest. */
export interface Resealing {
  readonly resealed: number
  readonly left: number
}

/**
 * Encrypts all stored secrets again that the newest key did not encrypt (D74). Reads every table with secrets once, in
 * bounded pages. `mayGoOn` is called before each page; if it returns false, the rest is left for the next call, and the
 * result is null. A secret that no known key decrypts is left as it is, and counted.
 */
export async function resealSecrets(ctx: ResealContext, mayGoOn: () => Promise<boolean>): Promise<Resealing | null> {
  const { mark } = ctx.sealer
  const count = { resealed: 0, left: 0 }
  const renew = (old: Buffer | null, context: string): Replacement => {
    if (old === null) return null
    try {
      const renewed = ctx.sealer.seal(ctx.sealer.open(old, context), context)
      count.resealed += 1
      return { old, new: renewed }
    } catch {
      count.left += 1
      return null
    }
  }
  const isComplete =
    (await eachPage(
      ctx,
      FIRST_SLOT,
      mayGoOn,
      (after) => pageSlotKeys(after, mark, ROWS_PER_PAGE),
      (row) => {
        const signerKey = renew(row.signerKey, slotSealContext(row, row.slot))
        return signerKey === null ? null : replaceSlotKey(row, signerKey)
      },
    )) &&
    (await eachPage(
      ctx,
      FIRST_ENDPOINT,
      mayGoOn,
      (after) => pageWebhookSecrets(after, mark, ROWS_PER_PAGE),
      (row) => {
        const context = secretSealContext(row.workspaceId, row.id)
        const [secret, previous] = [renew(row.secret, context), renew(row.previousSecret, context)]
        return secret === null && previous === null ? null : replaceWebhookSecrets(row, secret, previous)
      },
    )) &&
    (await eachPage(
      ctx,
      FIRST_PURCHASE,
      mayGoOn,
      (after) => pagePurchases(after, mark, ROWS_PER_PAGE),
      (row) => {
        if (row.isResponseStale) count.left += 1
        const order = renew(row.order, purchaseSealContext('order', row))
        const header = renew(row.header, purchaseSealContext('header', row))
        return order === null && header === null ? null : replacePurchaseSecrets(row, order, header)
      },
    )) &&
    (await eachPage(
      ctx,
      { name: '' },
      mayGoOn,
      ({ name }) => pageServerKeys(name, mark, ROWS_PER_PAGE),
      (row) => {
        const key = renew(row.key, serverKeySealContext(row.name))
        return key === null ? null : replaceServerKey(row.name, key)
      },
    ))
  return isComplete ? count : null
}

/** Reads a table page by page, and runs the update of each row that needs one. Returns false if it had to stop. */
async function eachPage<Key, Row extends Key>(
  { db }: ResealContext,
  first: Key,
  mayGoOn: () => Promise<boolean>,
  page: (after: Key) => Query<Row[]>,
  update: (row: Row) => Query<boolean> | null,
): Promise<boolean> {
  let after: Key = first
  for (;;) {
    if (!(await mayGoOn())) return false
    const rows = await db.readSlow(page(after))
    const updates = rows.flatMap((row) => update(row) ?? [])
    if (updates.length > 0) await db.transaction((transaction) => transaction.commit(updates))
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_PAGE) return true
    after = last
  }
}
