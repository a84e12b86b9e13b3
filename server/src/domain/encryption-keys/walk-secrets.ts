import { pageServerKeys } from '../../db/server-keys-store.ts'
import type { Query } from '../../db/query.ts'
import type { Context } from '../context.ts'
import { FIRST_SIGNATURE, pageSealedSignatures } from '../owner-signatures/owner-signatures-store.ts'
import type { PurchasePlace } from '../purchases/purchases-store.ts'
import { pagePurchases } from '../purchases/sealed-purchases-store.ts'
import { pageSlotKeys, type SlotKey } from '../wallets/sealed-slots-store.ts'
import { pageWebhookSecrets, type EndpointPlace } from '../webhooks/sealed-secrets-store.ts'

/** A statement reads at most this many rows, and a transaction locks as many. */
const ROWS_PER_PAGE = 200

const FIRST_SLOT: SlotKey = { workspaceId: '', mode: 'live', walletAddress: '', slot: 0 }
const FIRST_ENDPOINT: EndpointPlace = { workspaceId: '', id: '' }
const FIRST_PURCHASE: PurchasePlace = { workspaceId: '', paymentId: '' }

type RowsOf<Page extends (...values: never[]) => Query<readonly unknown[]>> =
  ReturnType<Page> extends Query<infer Rows> ? Rows : never

/** What is done with each page of each table that has secrets. */
export interface SecretVisitors {
  slots(rows: RowsOf<typeof pageSlotKeys>): Promise<void>
  endpoints(rows: RowsOf<typeof pageWebhookSecrets>): Promise<void>
  purchases(rows: RowsOf<typeof pagePurchases>): Promise<void>
  /** Gets every signature that is still encrypted, with any key. */
  signatures(rows: RowsOf<typeof pageSealedSignatures>): Promise<void>
  serverKeys(rows: RowsOf<typeof pageServerKeys>): Promise<void>
}

/**
 * Reads every table with secrets once, in bounded pages. A secret that begins with `mark` is read as null. `mayGoOn` is
 * called before each page; if it returns false, the rest is not read, and the result is false.
 */
export async function walkSecrets(
  ctx: Pick<Context, 'db'>,
  { mark, mayGoOn }: { readonly mark: Buffer; readonly mayGoOn: () => Promise<boolean> },
  visitors: SecretVisitors,
): Promise<boolean> {
  const eachPage = async <Key, Row extends Key>(
    first: Key,
    page: (after: Key, mark: Buffer, rowsMax: number) => Query<Row[]>,
    visit: (rows: Row[]) => Promise<void>,
  ): Promise<boolean> => {
    let after: Key = first
    for (;;) {
      if (!(await mayGoOn())) return false
      const rows = await ctx.db.readSlow(page(after, mark, ROWS_PER_PAGE))
      await visit(rows)
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_PER_PAGE) return true
      after = last
    }
  }
  return (
    (await eachPage(FIRST_SLOT, pageSlotKeys, (rows) => visitors.slots(rows))) &&
    (await eachPage(FIRST_ENDPOINT, pageWebhookSecrets, (rows) => visitors.endpoints(rows))) &&
    (await eachPage(FIRST_PURCHASE, pagePurchases, (rows) => visitors.purchases(rows))) &&
    (await eachPage(
      FIRST_SIGNATURE,
      (after, _mark, rowsMax) => pageSealedSignatures(after, rowsMax),
      (rows) => visitors.signatures(rows),
    )) &&
    (await eachPage(
      { name: '' },
      ({ name }, ...rest) => pageServerKeys(name, ...rest),
      (rows) => visitors.serverKeys(rows),
    ))
  )
}
