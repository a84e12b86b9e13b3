import type { Query } from '../../db/query.ts'
import { serverKeySealContext } from '../../db/server-key.ts'
import { replaceServerKey } from '../../db/server-keys-store.ts'
import type { Replacement } from '../../lib/sealing.ts'
import type { Context } from '../context.ts'
import { purchaseSealContext } from '../purchases/seal-purchase.ts'
import { replacePurchaseSecrets } from '../purchases/sealed-purchases-store.ts'
import { replaceSlotKey } from '../wallets/sealed-slots-store.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { secretSealContext } from '../webhooks/endpoint.ts'
import { replaceWebhookSecrets } from '../webhooks/sealed-secrets-store.ts'
import { walkSecrets } from './walk-secrets.ts'

/** How many secrets were encrypted again, and how many still need another key than the newest. */
export interface Resealing {
  readonly resealed: number
  readonly left: number
}

/**
 * Encrypts all stored secrets again that the newest key did not encrypt (D74). `mayGoOn` is called before each page of
 * rows; if it returns false, the rest is left for the next call, and the result is null. A secret that no known key
 * decrypts is left as it is, and counted.
 */
export async function resealSecrets(
  ctx: Pick<Context, 'db' | 'sealer'>,
  mayGoOn: () => Promise<boolean>,
): Promise<Resealing | null> {
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
  const commit = async (updates: readonly Query<boolean>[]): Promise<void> => {
    if (updates.length > 0) await ctx.db.transaction((transaction) => transaction.commit(updates))
  }
  const isComplete = await walkSecrets(
    ctx,
    { mark, mayGoOn },
    {
      slots: (rows) =>
        commit(
          rows.flatMap((row) => {
            const signerKey = renew(row.signerKey, slotSealContext(row, row.slot))
            return signerKey === null ? [] : [replaceSlotKey(row, signerKey)]
          }),
        ),
      endpoints: (rows) =>
        commit(
          rows.flatMap((row) => {
            const context = secretSealContext(row.workspaceId, row.id)
            const [secret, previous] = [renew(row.secret, context), renew(row.previousSecret, context)]
            return secret === null && previous === null ? [] : [replaceWebhookSecrets(row, secret, previous)]
          }),
        ),
      purchases: (rows) =>
        commit(
          rows.flatMap((row) => {
            if (row.isResponseStale) count.left += 1
            const order = renew(row.order, purchaseSealContext('order', row))
            const header = renew(row.header, purchaseSealContext('header', row))
            return order === null && header === null ? [] : [replacePurchaseSecrets(row, order, header)]
          }),
        ),
      // They are decrypted within minutes, and then need no key.
      signatures: async (rows) => {
        count.left += rows.filter(({ sealed }) => !sealed.subarray(0, mark.length).equals(mark)).length
      },
      serverKeys: (rows) =>
        commit(
          rows.flatMap((row) => {
            const key = renew(row.key, serverKeySealContext(row.name))
            return key === null ? [] : [replaceServerKey(row.name, key)]
          }),
        ),
    },
  )
  return isComplete ? count : null
}
