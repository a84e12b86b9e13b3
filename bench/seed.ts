import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { getAddress } from 'viem/utils'
import { openContext } from '../server/src/service.ts'
import { readConfig } from '../server/src/config.ts'
import { slotSealContext } from '../server/src/domain/wallets/slot-seal-context.ts'
import { generateSignerKey } from '../server/src/enclave/privy/signer-key.ts'
import { createClock } from '../server/src/lib/clock.ts'
import { createLogger } from '../server/src/lib/logger.ts'
import { BUCKETS } from '../server/src/limiter/bucket.ts'
import { createApiKeySecret } from '../server/src/values/api-key.ts'
import { hashSecret } from '../server/src/values/secret.ts'
import { createId } from '../server/src/values/ids.ts'

/** A workspace that can pay. It has one API key, one agent, one wallet, and one grant that never expires. */
export interface BenchTarget {
  readonly key: string
  readonly workspaceId: string
  readonly agentId: string
  readonly wallet: string
  readonly grantId: string
  /** A confirmed payment of the agent. */
  readonly paymentId: string
}

/** Creates thousands of workspaces directly in the database, before the measurement begins. */
export async function seedTargets(environment: NodeJS.ProcessEnv, count: number): Promise<BenchTarget[]> {
  const config = readConfig(environment)
  const opened = openContext(config, { clock: createClock(), logger: createLogger('silent') })
  const now = new Date()
  const { privateKey } = generateSignerKey()
  const targets = Array.from({ length: count }, (_, index) => ({
    key: createApiKeySecret('test'),
    workspaceId: createId('workspace', now),
    agentId: `agent-${index}`,
    wallet: getAddress(`0x${randomBytes(20).toString('hex')}`),
    grantId: createId('grant', now),
    paymentId: createId('payment', now),
  }))
  const seal = (target: BenchTarget) => opened.context.sealer.seal(privateKey, sealContext(target)).toString('hex')
  const rows = targets.map((target) => ({
    ...target,
    hash: hashSecret(target.key).toString('hex'),
    key_id: createId('key', now),
    sealed: seal(target),
    tx_hash: `0x${randomBytes(32).toString('hex')}`,
  }))
  const client = new pg.Client({ connectionString: config.database.url })
  await client.connect()
  const usdc = opened.context.chains.test.usdc
  for (const statement of SEED) await client.query(statement, seedValues(statement, JSON.stringify(rows), now, usdc))
  await client.query(
    'vacuum analyze workspaces, api_keys, rate_windows, agents, wallets, wallet_slots, grants, payments',
  )
  await client.end()
  await opened.close()
  return targets
}

function sealContext({ workspaceId, wallet }: BenchTarget): string {
  return slotSealContext({ workspaceId, mode: 'test', walletAddress: wallet }, 1)
}

const TARGETS = `jsonb_to_recordset($1::jsonb) as t ("workspaceId" text, "agentId" text, wallet text, "grantId" text,
  "paymentId" text, hash text, key_id text, sealed text, tx_hash text)`

const SEED = [
  `insert into workspaces select "workspaceId", lower("workspaceId"), 'Bench', 'scale', $2::timestamptz from ${TARGETS}`,
  `insert into api_keys (workspace_id, id, mode, secret_hash, last4, created_at)
    select "workspaceId", key_id, 'test', decode(hash, 'hex'), 'abcd', $2::timestamptz from ${TARGETS}`,
  `insert into rate_windows (subject, bucket)
    select decode(hash, 'hex'), bucket from ${TARGETS}, unnest('{${Object.keys(BUCKETS).join(',')}}'::text[]) bucket`,
  `insert into agents (workspace_id, mode, id, created_at)
    select "workspaceId", 'test', "agentId", $2::timestamptz from ${TARGETS}`,
  `insert into wallets (workspace_id, mode, address, name, enclave_wallet_id, owner_quorum_id, created_at)
    select "workspaceId", 'test', wallet, 'Bench', wallet, 'quorum', $2::timestamptz from ${TARGETS}`,
  `insert into wallet_slots select "workspaceId", 'test', wallet, 1, 'policy ' || wallet, 'signer ' || wallet,
    decode(sealed, 'hex') from ${TARGETS}`,
  `insert into grants (workspace_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
      recipient_allowlist, contract_allowlist, status, slot, created_at, activated_at)
    select "workspaceId", "grantId", 'test', "agentId", wallet, 1000000, 1000000000000, '{}', array[$3], 'active', 1,
      $2::timestamptz, $2::timestamptz from ${TARGETS}`,
  `insert into payments (workspace_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro, amount_usdc,
      status, tx_hash, created_at, max_per_tx_micro, daily_cap_micro, spent_24h_micro, attempt, mined_block,
      mined_block_hash, accepted_at, settled_at)
    select "workspaceId", 'test', "paymentId", "agentId", wallet, "grantId", wallet, 1, '0.000001', 'confirmed', tx_hash,
      $2::timestamptz, 1000000, 1000000000000, 0, 1, 1, tx_hash, $2::timestamptz, $2::timestamptz from ${TARGETS}`,
]

function seedValues(statement: string, rows: string, now: Date, usdc: string): unknown[] {
  if (statement.includes('$3')) return [rows, now, usdc]
  return statement.includes('$2') ? [rows, now] : [rows]
}
