import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { createInvitation } from '../../../server/src/domain/members/create-invitation.ts'
import { createPayment } from '../../../server/src/domain/payment-requests/create-payment.ts'
import { appendLeaves } from '../../../server/src/domain/transparency-log/append-leaves.ts'
import { seedTokens } from './connection-rows.ts'
import { expectPayment } from './expect-outcome.ts'
import { seedOwner } from './people.ts'
import { seedPurchase } from './purchase-rows.ts'
import { paymentRequest, seed, type Seed } from './seed.ts'
import { seedEndpoint } from './webhook-rows.ts'

/** A workspace that can be moved to another cell, and what its users know of it. */
export interface MovableWorkspace {
  readonly seeded: Seed
  /** An access token of an application. */
  readonly token: string
  /** The secret of an open invitation. */
  readonly invitation: string
  /** The id of the workspace's owner. */
  readonly userId: string
}

/**
 * Seeds a workspace with payments, a pending purchase, webhooks that wait, an owner, an invitation and a connected
 * application. The idempotency keys of the payments are `first` and `second`.
 */
export async function seedMovableWorkspace(ctx: Context): Promise<MovableWorkspace> {
  const seeded = await seed(ctx)
  const { workspace } = seeded
  const { userId } = await seedOwner(ctx, workspace)
  await seedEndpoint(ctx, { workspace })
  for (const idempotencyKey of ['first', 'second']) {
    expectPayment(await createPayment(ctx, paymentRequest(seeded, { idempotencyKey })), 'created')
  }
  await seedPurchase(ctx, seeded, { delivery: 'failed' }, { status: 'pending' })
  const { secret: invitation } = await createInvitation(ctx, { workspace, role: 'viewer', actor: OPERATOR })
  const { tokens } = await seedTokens(ctx, { workspace })
  // A move waits until the payments are in the transparency log.
  await appendLeaves(ctx, { limit: 1_000 })
  return { seeded, token: tokens.accessToken, invitation, userId }
}
