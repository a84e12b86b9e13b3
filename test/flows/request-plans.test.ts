import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { ITEMS_PER_BATCH_MAX } from '../../server/src/db/batcher.ts'
import type { Query } from '../../server/src/db/query.ts'
import { findAgents, listSpendableGrants } from '../../server/src/domain/agents/agents-store.ts'
import { countTokenRequests } from '../../server/src/domain/connections/access-tokens-store.ts'
import { takeCodesAndIssue } from '../../server/src/domain/connections/issue-at-once-store.ts'
import { findClientsAndCount } from '../../server/src/domain/connections/requests-store.ts'
import { takeRefreshTokensAndIssue } from '../../server/src/domain/connections/take-refresh-tokens-store.ts'
import { countKeyRequests } from '../../server/src/domain/keys/keys-store.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'

const NOW = new Date('2026-06-01T12:00:00Z')
const FEW = 3
const MANY = 5_000
/** In the tables of agents and grants, the rows up to this number belong to the first workspace. */
const HUGE = 1_000
const SIZES = [1, ITEMS_PER_BATCH_MAX] as const
const PLAN_MODES = ['force_generic_plan', 'force_custom_plan'] as const

/** The parts of a node of `explain (format json)` that this test uses. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Operation?: string
  readonly 'Conflict Arbiter Indexes'?: readonly string[]
  readonly Plans?: readonly PlanNode[]
}

const ISSUED = { now: NOW, accessHash: hashOf(2), accessEnd: NOW, refreshHash: hashOf(3), refreshEnd: NOW }

const STATEMENTS: readonly { make: (size: number) => Query<unknown>; indexes: readonly string[] }[] = [
  {
    make: (size) =>
      countKeyRequests(
        'default',
        repeat(size, (index) => ({ secretHash: hashOf(index), requiredScope: 'wallet:read', now: NOW })),
      ),
    indexes: ['workspaces_pkey', 'api_keys_by_secret_hash', 'rate_windows_pkey'],
  },
  {
    make: (size) =>
      countTokenRequests(
        'default',
        repeat(size, (index) => ({ tokenHash: hashOf(index), requiredScope: 'wallet:read', now: NOW })),
      ),
    indexes: ['access_tokens_pkey', 'workspaces_pkey', 'connections_pkey', 'members_pkey', 'rate_windows_pkey'],
  },
  {
    make: (size) =>
      findAgents(
        repeat(size, (index) => ({ workspaceId: `acc_${index}`, mode: 'test', id: `agent ${index}`, now: NOW })),
      ),
    indexes: ['agents_pkey', 'grants_live_by_agent', 'payments_in_window', 'unexplained_transfers_of_wallet'],
  },
  {
    make: (size) =>
      listSpendableGrants(
        repeat(size, (index) => ({
          workspaceId: `acc_${index}`,
          mode: 'test',
          agentId: index % 2 === 0 ? null : 'agent',
          now: NOW,
        })),
      ),
    indexes: ['grants_one_active_per_agent_and_wallet'],
  },
  {
    make: (size) =>
      takeRefreshTokensAndIssue(
        repeat(size, (index) => {
          return {
            secretHash: hashOf(index),
            clientId: 'cli_0',
            scopes: ['wallet:read'],
            resource: null,
            arrivedAtMs: 0,
            ...ISSUED,
          }
        }),
      ),
    indexes: ['connections_pkey', 'members_pkey', 'refresh_tokens_pkey'],
  },
  {
    make: (size) =>
      takeCodesAndIssue(
        repeat(size, (index) => {
          const proof = { clientId: 'cli_0', redirectUri: '', codeChallenge: '', resource: null }
          return { secretHash: hashOf(index), ...proof, ...ISSUED }
        }),
      ),
    indexes: ['authorization_codes_pkey', 'connections_pkey', 'members_pkey'],
  },
  {
    make: (size) =>
      findClientsAndCount(
        'token',
        repeat(size, (index) => ({ id: 'cli_0', subject: hashOf(index), now: NOW })),
      ),
    indexes: ['attempt_windows_pkey', 'oauth_clients_pkey'],
  },
]

describe('the plans of the statements that most requests run', () => {
  let given: TestContext
  let client: pg.Client
  before(async () => {
    given = await openTestContext()
    client = new pg.Client({ connectionString: given.config.database.url })
    await client.connect()
    for (const table of TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = false)`)
  })
  after(async () => {
    await client.end()
    await given.close()
  })

  const STATES: readonly { name: string; prepare: () => Promise<void> }[] = [
    { name: 'a few rows, analyzed', prepare: () => fill(0, FEW) },
    { name: 'many rows, analyzed while there were few', prepare: () => fill(FEW, MANY, { analyze: false }) },
    { name: 'many rows, analyzed', prepare: () => fill(MANY, MANY) },
  ]
  for (const { name, prepare } of STATES) {
    test(`${name}: each table is read by the index that the statement names`, async () => {
      await prepare()
      for (const { make, indexes } of STATEMENTS) {
        for (const size of SIZES) for (const mode of PLAN_MODES) await check(make(size), { indexes, mode })
      }
    })
  }

  async function check(
    { name, text, values }: Query<unknown>,
    { indexes, mode }: { indexes: readonly string[]; mode: string },
  ): Promise<void> {
    const literals = values.map((value) => (value === null ? 'null' : client.escapeLiteral(toText(value)))).join()
    const plan = await given.context.db.transaction(async (transaction) => {
      const raw = (statement: string): Query<readonly Readonly<Record<string, unknown>>[]> => ({
        name: '',
        text: statement,
        values: [],
        read: (rows) => rows,
      })
      const [, , rows] = await transaction.batch([
        raw(`set local plan_cache_mode = ${mode}`),
        raw(`prepare statement as ${text}`),
        raw(`explain (format json) execute statement (${literals})`),
        raw('deallocate statement'),
      ])
      return (rows[0]?.['QUERY PLAN'] as { Plan: PlanNode }[] | undefined)?.[0]?.Plan
    })
    assert.ok(plan !== undefined)
    const told = `${name} (${mode}): ${JSON.stringify(plan, null, 2)}`
    const nodes = listNodes(plan)
    const scans = nodes.filter((node) => node['Relation Name'] !== undefined && node.Operation === undefined)
    for (const scan of scans) assert.ok(scan['Index Cond'] !== undefined, told)
    const used = [
      ...scans.map((scan) => scan['Index Name']),
      ...nodes.flatMap((n) => n['Conflict Arbiter Indexes'] ?? []),
    ]
    assert.deepEqual(new Set(used), new Set(indexes), told)
  }

  /** Inserts the rows with numbers from `from` to below `to`. */
  async function fill(from: number, to: number, { analyze = true } = {}): Promise<void> {
    for (const statement of INSERTS) await client.query(statement, [from, to, NOW])
    if (analyze) await client.query(`vacuum analyze ${TABLES.join()}`)
  }
})

const TABLES = [
  'workspaces',
  'users',
  'members',
  'oauth_clients',
  'agents',
  'wallets',
  'grants',
  'api_keys',
  'connections',
  'access_tokens',
  'refresh_tokens',
  'authorization_codes',
  'attempt_windows',
  'rate_windows',
  'payments',
]

/** The rows up to `HUGE` belong to the first workspace. Each later row belongs to a workspace of its own. */
const WORKSPACE = `'acc_' || case when n between 1 and ${HUGE} then 0 else n end`
const HASH = `sha256(n::text::bytea)`
const NUMBERS = `generate_series($1::int, $2::int - 1) n where $3::timestamptz is not null`
const WALLET = `'0x' || lpad(to_hex(n), 40, '0')`

const INSERTS: readonly string[] = [
  `insert into workspaces (id, slug, name, plan, created_at) select 'acc_' || n, 'w' || n, 'Name', 'pro', $3 from ${NUMBERS}`,
  `insert into users (id, name, user_handle, created_at, joined_at) select 'usr_' || n, 'Name', sha256((n || 'h')::bytea), $3, $3 from ${NUMBERS}`,
  `insert into members (workspace_id, user_id, role, created_at) select ${WORKSPACE}, 'usr_' || n, 'owner', $3 from ${NUMBERS}`,
  `insert into oauth_clients (id, name, redirect_uris, scopes, created_at)
    select 'cli_' || n, 'Name', '{https://example.com}', '{wallet:read}', $3 from ${NUMBERS}`,
  `insert into agents (workspace_id, mode, id, created_at) select ${WORKSPACE}, 'test', 'agent ' || n, $3 from ${NUMBERS}`,
  `insert into wallets (workspace_id, mode, address, name, enclave_wallet_id, owner_quorum_id, created_at)
    select ${WORKSPACE}, 'test', ${WALLET}, 'Name', 'wal_' || n, 'quorum', $3 from ${NUMBERS}`,
  `insert into wallet_slots (workspace_id, mode, wallet_address, slot, enclave_policy_id, signer_id,
      signer_private_key_sealed)
    select ${WORKSPACE}, 'test', ${WALLET}, 1, 'pol_' || n, 'sig_' || n, 'x' from ${NUMBERS}`,
  `insert into grants (workspace_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
      recipient_allowlist, contract_allowlist, status, slot, created_at, activated_at)
    select ${WORKSPACE}, 'grt_' || n, 'test', 'agent ' || n, ${WALLET}, 1, 1, '{}', '{0x}', 'active', 1, $3, $3
    from ${NUMBERS}`,
  `insert into api_keys (workspace_id, id, mode, secret_hash, last4, created_at)
    select ${WORKSPACE}, 'key_' || n, 'test', ${HASH}, 'abcd', $3 from ${NUMBERS}`,
  `insert into connections (workspace_id, id, mode, agent_id, user_id, member_since, client_id, scopes, rate_subject,
      created_at, expires_at)
    select ${WORKSPACE}, 'con_' || n, 'test', 'agent ' || n, 'usr_' || n, $3, 'cli_' || n, '{wallet:read}', ${HASH}, $3,
      'infinity' from ${NUMBERS}`,
  `insert into access_tokens (token_hash, workspace_id, connection_id, scopes, expires_at)
    select ${HASH}, ${WORKSPACE}, 'con_' || n, '{wallet:read}', 'infinity' from ${NUMBERS}`,
  `insert into refresh_tokens (token_hash, workspace_id, connection_id, created_at, expires_at)
    select ${HASH}, ${WORKSPACE}, 'con_' || n, $3, 'infinity' from ${NUMBERS}`,
  `insert into authorization_codes (code_hash, workspace_id, connection_id, redirect_uri, code_challenge, expires_at)
    select ${HASH}, ${WORKSPACE}, 'con_' || n, '', repeat('x', 43), 'infinity' from ${NUMBERS}`,
  `insert into attempt_windows (subject, bucket, hits, expires_at)
    select ${HASH}, 'token', '{}', 'infinity' from ${NUMBERS}`,
  `insert into rate_windows (subject, bucket) select ${HASH}, unnest('{default,payments}'::text[]) from ${NUMBERS}`,
]

function repeat<Item>(size: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: size }, (_, index) => make(index))
}

function hashOf(index: number): Buffer {
  return Buffer.alloc(32, index)
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)]
}

/** Returns a parameter as text. Items of arrays need no escapes: none is null or contains a special character. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map((item) => `"${toText(item)}"`).join()}}`
  if (Buffer.isBuffer(value)) return String.raw`\\x${value.toString('hex')}`
  return value instanceof Date ? value.toISOString() : String(value)
}
