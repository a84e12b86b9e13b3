import { randomBytes } from 'node:crypto'
import type { Context } from '../../server/src/domain/context.ts'
import { suspendGrant } from '../../server/src/domain/grants/suspend-grant.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { makeTerms, openActive } from '../support/context/grant-fixture.ts'
import { waitForRecord } from '../support/sandbox/payer-fixture.ts'
import type { SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { openPayer, pay, type ProvenPayments } from './proven-payments.ts'

const INVENTED = 'pay_01M8JAQZ0XK1V9VDYGP9NVENTD'

/**
 * Makes payments that the owner did not allow, as somebody can who may change the database. The service then logs and
 * proves what it believes.
 */
export async function makeFalsePayments(fixture: SandboxFixture, ctx: Context): Promise<ProvenPayments> {
  const payer = await openPayer(fixture, ctx)
  const { owned, key } = payer
  const ids = new Map<string, string>()
  const grant = await openActive(ctx, owned, makeTerms(1, { dailyCapMicro: microUsdc(1_000_000n) }))
  const honest = await pay(payer)
  ids.set('an honest payment', honest)
  await fixture.query('update grants set daily_cap_micro = 100000000 where id = $1', [grant.id])
  ids.set('a payment above the cap that the owner signed', await pay(payer))

  await waitForRecord(fixture, honest, 'confirmed')
  const change = JSON.stringify({ id: INVENTED, tx_hash: `0x${randomBytes(32).toString('hex')}` })
  await fixture.query(
    `with invented as (
        insert into payments select (jsonb_populate_record(p, $1)).* from payments p where id = $2
        returning workspace_id, id, created_at)
      insert into log_queue (log_id, type, subject, at)
        select workspace_id, type, id, created_at from invented, unnest(array['payment.decided', 'payment.ended']) type`,
    [change, honest],
  )
  ids.set('a payment that never happened', INVENTED)

  const { workspaceId, actor } = owned
  await suspendGrant(ctx, { workspaceId, grantId: grant.id, actor })
  await fixture.query('update grants set suspended_at = null where id = $1', [grant.id])
  ids.set('a payment under a grant that an owner did not resume', await pay(payer))
  return { owned, key, ids }
}
