import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../support/database/fresh-database.ts'
import { STRANGE } from './strange-values.ts'

/**
 * The columns whose values the service makes itself, or copies from a column of `STRANGE`, or seals or hashes first.
 * Times are left out, because the service sets all of them by its own clock.
 */
const OWN: Readonly<Record<string, string>> = {
  access_tokens: 'token_hash workspace_id connection_id scopes',
  workspaces: 'id slug plan created_by',
  agents: 'workspace_id mode',
  allowances: 'workspace_id month used',
  api_keys: 'workspace_id id mode secret_hash created_by agent_id scopes last4',
  attempt_windows: 'subject bucket hits',
  audit_entries: 'log_id id actor_kind actor_id action subject details',
  authorization_codes: 'code_hash workspace_id connection_id failures',
  authorization_requests: 'handle_hash client_id scopes resource',
  carried_leaves: 'workspace_id move_id subject type position content proof',
  carried_logs: 'workspace_id move_id checkpoint verifier_key',
  ceremonies: 'secret_hash kind challenge user_id data',
  connection_errors: 'workspace_id connection_id code mode agent_id user_id client_id',
  connections: 'workspace_id id mode agent_id user_id client_id scopes resource rate_subject revoked_because',
  deliveries: 'workspace_id id mode endpoint_id event_id event_type trigger status attempts',
  delivery_attempts: 'workspace_id delivery_id number duration_ms error mode response_bytes',
  deposit_cursors: 'mode',
  deposits: 'workspace_id id mode wallet_address',
  events: 'workspace_id id mode type data data_text',
  grants:
    'workspace_id id mode agent_id wallet_address recipient_allowlist contract_allowlist status signing_request replaces replaced_by activated_by slot x402 stop_id created_by',
  hourly_host_sums: 'workspace_id mode host is_claimed spent_micro purchases',
  hourly_payment_sums: 'workspace_id mode agent_id spent_micro confirmed failed below_id',
  hourly_sums: 'workspace_id mode part name spent_micro confirmed failed below_id',
  invitations: 'workspace_id id secret_hash role uses_left created_by',
  leases: 'name holder',
  ledger_cursors: 'mode',
  log_head: 'is_only origin size checkpoint verifier_key',
  log_leaves: 'position log_id type subject content',
  log_queue: 'number log_id type subject',
  log_tiles: 'level number hashes',
  members: 'workspace_id user_id role',
  month_balances: 'workspace_id mode wallet_address month',
  month_blocks: 'mode month is_final',
  moves: 'id workspace_id slug cell state',
  moved_credentials: 'secret_hash move_id',
  moved_rows: 'move_id table_name number content',
  oauth_clients: 'redirect_uris scopes kind',
  outbound_counts: 'workspace_id requests',
  outbound_requests: 'workspace_id number mode credential_id method response_bytes',
  owner_requests: 'workspace_id id mode wallet_address kind details created_by submitted_by',
  owner_signatures:
    'workspace_id mode kind subject credential_id user_id public_key registration relying_party_id origin received_from challenge_sha256 statement assertion_sealed assertion entry_sha256 took_effect',
  passkeys: 'user_id credential_id public_key_cose transports',
  payment_notes: 'workspace_id mode payment_id',
  payment_refusals: 'workspace_id id mode credential_id code details bytes',
  payments:
    'workspace_id mode id grant_id status failure_code max_per_tx_micro daily_cap_micro spent_24h_micro allowance_month attempt credential_id request_id pending_reason lookups kind authorization_nonce',
  purchases:
    'workspace_id mode payment_id protocol method request_hash order_sealed header_sealed delivery attempts response_sealed kept_bytes reserved_bytes resolved_by',
  rate_windows: 'subject bucket hits',
  recipients: 'workspace_id mode',
  recovery_codes: 'user_id code_hash',
  refresh_tokens: 'token_hash workspace_id connection_id',
  saved_views: 'workspace_id id mode query',
  server_keys: 'name key_sealed',
  encryption_keys: 'fingerprint id',
  sessions: 'secret_hash user_id',
  stops: 'workspace_id id mode agent_id wallet_address created_by',
  stored_bytes: 'workspace_id mode kind used_bytes budget_bytes',
  unexplained_transfers: 'workspace_id mode wallet_address payment_id authorization_nonce',
  users: 'id user_handle',
  wallet_owners: 'workspace_id mode wallet_address credential_id record_assertion',
  wallet_passkeys: 'user_id credential_id public_key transports counter registration',
  wallet_balances: 'workspace_id mode wallet_address',
  wallet_slots: 'workspace_id mode wallet_address slot signer_private_key_sealed',
  wallets: 'workspace_id mode',
  webhook_endpoints: 'workspace_id id mode events secret_sealed previous_secret_sealed disabled_because hangs',
}

interface Column {
  readonly name: string
  readonly table: string
  readonly column: string
  readonly type: string
  /** The check constraints that are about this column alone. */
  readonly checks: readonly string[]
}

const COLUMNS = `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
    array(select pg_get_constraintdef(k.oid) from pg_constraint k
      where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]) as checks
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'schema_migrations'
    and a.atttypid <> 'timestamptz'::regtype
  order by c.relname, a.attnum`

/** What strangers send must fit into the columns that it is stored in. If a column is new, say who supplies its values. */
describe('the columns that strangers can reach', () => {
  let database: FreshDatabase
  let client: pg.Client
  let columns: readonly Column[]
  before(async () => {
    database = await createFreshDatabase()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query<Omit<Column, 'name'>>(COLUMNS)
    columns = rows.map((row) => ({ ...row, name: `${row.table}.${row.column}` }))
  })
  after(async () => {
    await client.end()
    await database.drop()
  })

  test('every column is either the service’s own or has the values of a stranger', () => {
    const own = Object.entries(OWN).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`))
    const strange = Object.keys(STRANGE)
    assert.deepEqual([...own, ...strange].toSorted(), columns.map(({ name }) => name).toSorted())
  })

  for (const [name, list] of Object.entries(STRANGE)) {
    test(`${name} holds everything that its parser accepts`, async () => {
      const column = columns.find((one) => one.name === name)
      assert.ok(column !== undefined)
      const values = await list()
      assert.ok(values.length > 0, 'the parser accepts none of the values')
      assert.deepEqual(await findRejected(column, values), [])
    })
  }

  test('the test finds a column that is narrower than its parser', async () => {
    const narrow = { name: 'a.b', table: 'a', column: 'b', type: 'integer', checks: ['CHECK (b < 600)'] }
    assert.deepEqual(await findRejected(narrow, [200, 600, 2n ** 31n]), ['600', '2147483648'])
    const text = { ...narrow, type: 'text', checks: ['CHECK (char_length(b) <= 3)'] }
    assert.deepEqual(await findRejected(text, ['ab', 'a\0b', '\ud800', 'abcd']), ['a\0b', '\ud800', 'abcd'])
  })

  /** Returns the values that the column does not accept, or does not return as they were stored. */
  async function findRejected({ column, type, checks }: Column, values: readonly unknown[]): Promise<string[]> {
    await client.query(`create temporary table probe (${[`${column} ${type}`, ...checks].join(', ')})`)
    try {
      const distinct = [...new Set(values.map(String))]
      const store = async (some: readonly string[]): Promise<readonly string[]> => {
        const text = `insert into probe select value::${type} from unnest($1::text[]) value returning ${column}::text as stored`
        const result = await client.query<{ stored: string }>(text, [some]).catch(() => null)
        return result?.rows.map(({ stored }) => stored) ?? []
      }
      // Usually everything is accepted, so one statement is enough.
      if (isDeepStrictEqual(await store(distinct), distinct)) return []
      const rejected: string[] = []
      for (const value of distinct) {
        if ((await store([value]))[0] !== value) rejected.push(value)
      }
      return rejected
    } finally {
      await client.query('drop table probe')
    }
  }
})
