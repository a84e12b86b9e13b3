import { randomBytes } from 'node:crypto'
import { createId } from '../server/src/values/ids.ts'
import type { SandboxDatabase } from '../test/support/sandbox/sandbox-database.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const DAYS = 30
const RECIPIENTS = 40

/**
 * Inserts settled payments directly into the table: in the demo workspace's test mode, over the last 30 days, for all
 * agents with a grant. The measured pages show these payments; inserting them is not measured. One payment in 50 has
 * failed.
 */
export async function seedPayments(database: SandboxDatabase, count: number, now: Date): Promise<void> {
  const grants = await database.query(
    `select g.account_id, g.id, g.agent_id, g.wallet_address from grants g join accounts a on a.id = g.account_id
      where a.slug = 'demo' and g.mode = 'test' and g.status = 'active' order by g.id`,
  )
  const recipients = Array.from({ length: RECIPIENTS }, () => `0x${randomBytes(20).toString('hex')}`)
  const rows = Array.from({ length: count }, (_, index) => {
    const createdAt = new Date(now.getTime() - Math.floor(((count - index) * DAYS * DAY_MS) / (count + 1)))
    // The busiest agent has half of the payments, the next agent a quarter, and so on.
    const grant = grants[Math.min(Math.clz32(index % 64) - 26, grants.length - 1)] ?? grants[0]
    return {
      ...grant,
      payment_id: createId('payment', createdAt),
      recipient: recipients[index % RECIPIENTS],
      amount: String((((index * 7_919) % 900) + 1) * 10_000),
      failed: index % 50 === 49,
      tx_hash: `0x${randomBytes(32).toString('hex')}`,
      created_at: createdAt.toISOString(),
      block: index + 1,
    }
  })
  await database.query(
    `insert into payments (account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro, amount_usdc,
        memo, status, failure_code, tx_hash, created_at, max_per_tx_micro, daily_cap_micro, spent_24h_micro, attempt,
        mined_block, mined_block_hash, accepted_at, settled_at)
      select account_id, 'test', payment_id, agent_id, wallet_address, id, recipient, amount,
        trim(trailing '.' from trim(trailing '0' from to_char(amount / 1000000, 'FM999990.999999'))), 'Invoice ' || block,
        case when failed then 'failed' else 'confirmed' end, case when failed then 'reverted' end, tx_hash, created_at,
        10000000, 1000000000000, 0, 1, 1, tx_hash, created_at, created_at + interval '2 seconds'
      from jsonb_to_recordset($1::jsonb) as t (account_id text, id text, agent_id text, wallet_address text,
        payment_id text, recipient text, amount numeric, failed boolean, tx_hash text, created_at timestamptz, block bigint)`,
    [JSON.stringify(rows)],
  )
  await database.query('vacuum analyze payments')
}
