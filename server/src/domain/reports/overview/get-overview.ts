import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { addPurchases } from '../../purchases/add-purchases.ts'
import { countUndelivered } from '../../purchases/purchase-sums-store.ts'
import { listEndpointRows } from '../../webhooks/endpoints-store.ts'
import {
  REFUSAL_GROUPS_MAX,
  REFUSALS_READ_MAX,
  REFUSALS_REPEAT_MIN,
  REFUSALS_REPEAT_WITHIN_MS,
  UNDELIVERED_READ_MAX,
  UNDELIVERED_SHOWN_MS,
} from '../conditions/conditions.ts'
import { listRepeatedRefusals } from '../conditions/facts-store.ts'
import { addUpFunds, listFullest } from '../funds/funds.ts'
import { selectFunds } from '../funds/get-funds.ts'
import { listNewestPayments } from '../listing/listing-store.ts'
import { CAPS_SHOWN_MAX, PAYMENTS_SHOWN_MAX, type Overview } from './overview.ts'
import { findSteps } from './overview-store.ts'

/**
 * Returns what needs attention in a workspace and mode, what its wallets hold, how much of the fullest 24-hour limits is
 * used, the latest payments, and which steps of the setup are done. Needs one round trip to the database, and a second
 * one if one of the latest payments is a purchase. The chain is not called.
 */
export async function getOverview(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<Overview> {
  const now = ctx.clock.now()
  const place = { workspaceId, mode }
  const since = new Date(now.getTime() - UNDELIVERED_SHOWN_MS)
  const refusedSince = new Date(now.getTime() - REFUSALS_REPEAT_WITHIN_MS)
  const [balances, grants, endpoints, refusals, count, payments, steps] = await ctx.db.readSlow(
    [
      ...selectFunds(place, now),
      listEndpointRows(workspaceId, mode),
      listRepeatedRefusals(place, {
        from: idBoundary('refusal', refusedSince),
        readMax: REFUSALS_READ_MAX,
        timesMin: REFUSALS_REPEAT_MIN,
        limit: REFUSAL_GROUPS_MAX,
      }),
      countUndelivered(place, { from: idBoundary('payment', since), rowsMax: UNDELIVERED_READ_MAX, now }),
      listNewestPayments(workspaceId, mode, PAYMENTS_SHOWN_MAX),
      findSteps(workspaceId, mode),
    ],
    workspaceId,
  )
  const wallets = addUpFunds(balances, grants, now)
  return {
    facts: { now, mode, wallets, grants, endpoints, refusals, undelivered: { count, since } },
    wallets,
    caps: listFullest(wallets, grants, { now, limit: CAPS_SHOWN_MAX }),
    capsCount: grants.length,
    payments: await addPurchases(ctx, { workspaceId, payments }),
    steps,
  }
}
