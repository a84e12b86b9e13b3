import pg from 'pg'
import { readResult, type Query } from './query.ts'

/**
 * A workspace is moved with all its rows, whatever tables exist. So the statements of this file read the names of the
 * tables from the database. The rows wait in `moved_rows`, as JSON, in the cell that they leave and in the one that they
 * enter.
 */

/** The workspace's table itself. Its rows are found by `id`, those of all others by `workspace_id`. */
const WORKSPACES = 'workspaces'
/** It has a column `workspace_id`, but says what happened in this cell. */
const STAYS = ['moves']
/** How much is read and sent at once. A single row may be larger. */
const BATCH_BYTES = 8_000_000
const BATCH_ROWS = 500

/**
 * Settings of a transaction that moves rows. The time zone and the form of binary values determine how `to_json` writes
 * a row, so they must be the same in both cells.
 */
const MOVE_SETTINGS = `select set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true),
  set_config('lock_timeout', '10s', true), set_config('statement_timeout', '0', true),
  set_config('idle_in_transaction_session_timeout', '10min', true)`

/** A table whose rows belong to one workspace each. */
export interface WorkspaceTable {
  readonly name: string
  /** The column that contains the id of the workspace. */
  readonly key: string
}

/** A column of a workspace's table that names a row of a table that workspaces share. */
interface SharedReference extends WorkspaceTable {
  readonly column: string
  readonly shared: string
}

/** How the rows of a shared table are put into the other cell, where they may exist already. */
interface SharedTable {
  readonly name: string
  /** The columns that must have the same values, if the row exists. Empty if it does not matter. */
  readonly identity: readonly string[]
  /** Whether to leave out the rows of people who exist in the other cell, and may have removed them there. */
  readonly ofNewPeopleOnly?: boolean
}

/** In the order in which they refer to each other. */
export const SHARED_TABLES: readonly SharedTable[] = [
  { name: 'users', identity: ['id', 'user_handle'] },
  { name: 'passkeys', identity: ['credential_id', 'user_id', 'public_key_cose'], ofNewPeopleOnly: true },
  { name: 'recovery_codes', identity: ['code_hash', 'user_id'], ofNewPeopleOnly: true },
  { name: 'wallet_passkeys', identity: ['credential_id', 'user_id', 'public_key'] },
  { name: 'oauth_clients', identity: ['id', 'kind'] },
  { name: 'audit_entries', identity: ['log_id', 'id', 'action'] },
  { name: 'rate_windows', identity: [] },
  { name: 'deposit_cursors', identity: [] },
  { name: 'ledger_cursors', identity: [] },
  { name: 'month_blocks', identity: [] },
]

/** Work of a workspace that has begun and is not finished. */
export interface WorkUnderWay {
  /** Payments that are being sent to the enclave. */
  readonly payments: number
  /** Purchases for which a process waits for the seller. */
  readonly purchases: number
  /** Wallets with a change that an owner was asked to sign. */
  readonly ownerChanges: number
  /** Webhooks that are being sent. */
  readonly deliveries: number
  /** Changes that are not in the transparency log yet. Their leaves must go with the workspace. */
  readonly leaves: number
}

/** The class of PostgreSQL's errors about rows that violate a constraint. */
const VIOLATION_PATTERN = /^23/

/** The rows in the two cells are not the same, or a row of another person has the same key. */
export class RowsDiffer extends Error {
  override readonly name = 'RowsDiffer'
}

export async function runQuery<Result>(client: pg.Client, query: Query<Result>): Promise<Result> {
  return readResult(query, await client.query({ text: query.text, values: [...query.values] }))
}

/** Runs `verb` in a transaction with `MOVE_SETTINGS`. */
export async function inMoveTransaction<Result>(client: pg.Client, verb: () => Promise<Result>): Promise<Result> {
  await client.query('begin isolation level read committed')
  try {
    await client.query(MOVE_SETTINGS)
    const result = await verb()
    await client.query('commit')
    return result
  } catch (error) {
    // An error here does not matter: if the connection is lost, the server has rolled back already.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Lists the tables of workspaces, so that a table comes after all tables to which it refers. */
export async function listWorkspaceTables(client: pg.Client): Promise<WorkspaceTable[]> {
  const { rows: tables } = await client.query<WorkspaceTable>(
    `select c.relname::text as name, a.attname::text as key from pg_class c
      join pg_attribute a on a.attrelid = c.oid
        and a.attname = case when c.relname = $1 then 'id' else 'workspace_id' end
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> all ($2) order by 1`,
    [WORKSPACES, STAYS],
  )
  const references = await listReferences(client)
  const ordered: WorkspaceTable[] = []
  while (ordered.length < tables.length) {
    const left = tables.filter((table) => !ordered.includes(table))
    const names = new Set(left.map(({ name }) => name))
    const free = left.filter(
      ({ name }) => !references.some(({ from, to }) => from === name && to !== name && names.has(to)),
    )
    if (free.length === 0) throw new Error(`the tables ${[...names].join(', ')} refer to each other in a circle`)
    ordered.push(...free)
  }
  return ordered
}

/** Lists the columns of workspaces' tables that refer to tables which workspaces share. */
export async function listSharedReferences(client: pg.Client): Promise<SharedReference[]> {
  const tables = await listWorkspaceTables(client)
  const references = await listReferences(client)
  return tables.flatMap((table) =>
    references
      .filter(({ from, to }) => from === table.name && !tables.some(({ name }) => name === to))
      .map(({ to, columns }) => ({ ...table, column: columns[0] ?? '', shared: to })),
  )
}

async function listReferences(client: pg.Client): Promise<{ from: string; to: string; columns: string[] }[]> {
  const { rows } = await client.query<{ from: string; to: string; columns: string[] }>(
    `select f.conrelid::regclass::text as from, f.confrelid::regclass::text as to,
        array(select a.attname::text from unnest(f.conkey) with ordinality as k (n, place)
          join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.n order by k.place) as columns
      from pg_constraint f where f.contype = 'f' and f.connamespace = current_schema()::regnamespace`,
  )
  return rows
}

/**
 * Counts the work of a workspace that processes are doing now. Reads all its pending payments, purchases and wallets,
 * which a statement of the service may not do.
 */
export async function countWorkUnderWay(client: pg.Client, workspaceId: string, now: Date): Promise<WorkUnderWay> {
  const { rows } = await client.query<{ [Kind in keyof WorkUnderWay]: number }>(
    `select
      (select count(*)::int4 from payments
        where workspace_id = $1 and settled_at is null and attempt_until > $2) as payments,
      (select count(*)::int4 from purchases where workspace_id = $1 and worked_until > $2) as purchases,
      (select count(*)::int4 from wallets where workspace_id = $1 and signer_change_until > $2) as "ownerChanges",
      (select count(*)::int4 from deliveries
        where workspace_id = $1 and leased_until is not null and leased_until > $2) as deliveries,
      (select count(*)::int4 from log_queue where log_id = $1) as leaves`,
    [workspaceId, now],
  )
  const [counts] = rows
  if (counts === undefined) throw new Error('nothing was counted')
  return counts
}

/**
 * Locks the workspace's rows that transactions lock before they write, so that nothing is written until this transaction
 * ends. Foreign keys to the workspace wait for the lock on its own row.
 */
export async function lockWorkspaceRows(client: pg.Client, workspaceId: string): Promise<void> {
  await client.query('select mode from deposit_cursors for share')
  await client.query('select mode from ledger_cursors for share')
  await client.query('select id from workspaces where id = $1 for update', [workspaceId])
  await client.query('select address from wallets where workspace_id = $1 order by mode, address for update', [
    workspaceId,
  ])
  await client.query('select id from grants where workspace_id = $1 order by id for update', [workspaceId])
}

/**
 * Moves all rows of a workspace to `moved_rows`, and copies the rows there that it shares with others: people, clients,
 * its audit log, its rate limits, and how far the chains were read.
 */
export async function takeOutRows(
  client: pg.Client,
  { id: moveId, workspaceId }: { readonly id: string; readonly workspaceId: string },
): Promise<void> {
  const copy = async (table: string, condition: string) => {
    await client.query(
      `insert into moved_rows (move_id, table_name, number, content)
        select $1, $2, row_number() over (), to_json(t) from ${table} t where ${condition}`,
      condition.includes('$3') ? [moveId, table, workspaceId] : [moveId, table],
    )
  }
  const references = await listSharedReferences(client)
  const named = (shared: string) =>
    references
      .filter((reference) => reference.shared === shared)
      .map(({ name, key, column }) => `select ${column} from ${name} where ${key} = $3`)
      .join(' union ')
  const people = `select user_id from wallet_passkeys where credential_id in (${named('wallet_passkeys')})
    union ${named('users')}`
  await copy('users', `id in (${people})`)
  for (const table of ['passkeys', 'recovery_codes', 'wallet_passkeys']) await copy(table, `user_id in (${people})`)
  await copy('oauth_clients', `id in (${named('oauth_clients')})`)
  await copy('audit_entries', 'log_id = $3')
  await copy(
    'rate_windows',
    `subject in (select secret_hash from api_keys where workspace_id = $3
      union all select rate_subject from connections where workspace_id = $3)`,
  )
  for (const table of ['deposit_cursors', 'ledger_cursors', 'month_blocks']) await copy(table, 'true')
  for (const { name, key } of (await listWorkspaceTables(client)).toReversed()) {
    await client.query(
      `with gone as (delete from ${name} t where ${key} = $3 returning t as line)
        insert into moved_rows (move_id, table_name, number, content)
          select $1, $2, row_number() over (), to_json(line) from gone`,
      [moveId, name, workspaceId],
    )
  }
}

/** Sends the rows of a move from one cell to the other. */
export async function sendRows(from: pg.Client, to: pg.Client, moveId: string): Promise<void> {
  let after = { table: '', number: '0' }
  for (;;) {
    // `summed.number` is the number. An `order by number` would mean the text in the result, and sort 100 before 11.
    const { rows } = await from.query<{ table: string; number: string; content: string }>(
      `select "table", number::text, content from (
          select *, sum(octet_length(content)) over (order by "table", number) - octet_length(content) as before from (
            select table_name as "table", number, content::text as content from moved_rows
            where move_id = $1 and (table_name, number) > ($2, $3::bigint) order by table_name, number limit $4
          ) next
        ) summed where before < $5 order by summed."table", summed.number`,
      [moveId, after.table, after.number, BATCH_ROWS, BATCH_BYTES],
    )
    const last = rows.at(-1)
    if (last === undefined) break
    await to.query(
      `insert into moved_rows (move_id, table_name, number, content)
        select $1, * from unnest($2::text[], $3::bigint[], $4::json[])`,
      [moveId, rows.map(({ table }) => table), rows.map(({ number }) => number), rows.map(({ content }) => content)],
    )
    after = last
  }
  if ((await digestRows(from, moveId)) !== (await digestRows(to, moveId))) {
    throw new RowsDiffer('the other cell did not receive the same rows')
  }
}

async function digestRows(client: pg.Client, moveId: string): Promise<string> {
  const { rows } = await client.query<{ digest: string }>(
    `select count(*) || ' ' || coalesce(md5(string_agg(table_name || number || md5(content::text), ' '
        order by table_name, number)), '') as digest from moved_rows where move_id = $1`,
    [moveId],
  )
  return rows[0]?.digest ?? ''
}

/** Puts the rows of a workspace from `moved_rows` into its tables, and compares each of them with what was taken out. */
export async function putInRows(
  client: pg.Client,
  { id: moveId, workspaceId }: { readonly id: string; readonly workspaceId: string },
): Promise<void> {
  for (const { name, key } of await listWorkspaceTables(client)) {
    await insertRows(
      client,
      `insert into ${name} select r.* from moved_rows m, json_populate_record(null::${name}, m.content) r
        where m.move_id = $1 and m.table_name = $2 order by m.number`,
      [moveId, name],
    )
    const { rows } = await client.query<{ differing: number }>(
      `with stored as (select to_json(t)::text as content from ${name} t where ${key} = $3),
        expected as (select content::text from moved_rows where move_id = $1 and table_name = $2)
        select ((select count(*) from (table stored except all table expected) a)
          + (select count(*) from (table expected except all table stored) b))::int4 as differing`,
      [moveId, name, workspaceId],
    )
    if (rows[0]?.differing !== 0) throw new RowsDiffer(`the rows of ${name} are not what was taken out`)
  }
}

/**
 * Puts the shared rows into the other cell. Rows that exist there stay as they are. Throws `RowsDiffer` if such a row
 * belongs to somebody else.
 */
export async function putInSharedRows(client: pg.Client, moveId: string): Promise<void> {
  const people = await client.query<{ id: string }>(
    `select u.id from users u where u.id in (
      select content ->> 'id' from moved_rows where move_id = $1 and table_name = 'users')`,
    [moveId],
  )
  const known = people.rows.map(({ id }) => id)
  for (const { name, identity, ofNewPeopleOnly } of SHARED_TABLES) {
    const source = `moved_rows m, json_populate_record(null::${name}, m.content) r
      where m.move_id = $1 and m.table_name = '${name}' and ${ofNewPeopleOnly === true ? 'r.user_id <> all ($2)' : '$2::text[] is not null'}`
    await insertRows(client, `insert into ${name} select r.* from ${source} on conflict do nothing`, [moveId, known])
    if (identity.length === 0) continue
    const same = identity.map((column) => `t.${column} = r.${column}`).join(' and ')
    const { rows } = await client.query(
      `select 1 from ${source} and not exists (select from ${name} t where ${same}) limit 1`,
      [moveId, known],
    )
    if (rows.length > 0) throw new RowsDiffer(`a row of ${name} exists in the other cell, but is somebody else's`)
  }
}

/** Runs a statement that inserts rows. Throws `RowsDiffer` if a row violates a constraint of the other cell. */
async function insertRows(client: pg.Client, text: string, values: readonly unknown[]): Promise<void> {
  try {
    await client.query(text, [...values])
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !VIOLATION_PATTERN.test(error.code ?? '')) throw error
    const { table, constraint } = error
    // The error's detail is left out, because it contains values of the row.
    throw new RowsDiffer(
      `a row of the table ${table} violates the constraint ${constraint} there, because the other cell has a row with the same value`,
      { cause: error },
    )
  }
}

/** Returns the rows of a table that a move took out or copied, with each value as text. */
export async function readMovedRows(
  client: pg.Client,
  moveId: string,
  table: string,
): Promise<Readonly<Record<string, string | null>>[]> {
  const { rows } = await client.query<{ line: Record<string, string | null> }>(
    `select (select json_object_agg(key, value) from json_each_text(content)) as line from moved_rows
      where move_id = $1 and table_name = $2`,
    [moveId, table],
  )
  return rows.map(({ line }) => line)
}

/** Deletes the rows that a move took out. */
export async function deleteMovedRows(client: pg.Client, moveId: string): Promise<void> {
  await client.query('delete from moved_rows where move_id = $1', [moveId])
}

/** Deletes the rows that a move took out, but for those that say who was a member. */
export async function forgetRows(client: pg.Client, moveId: string): Promise<void> {
  await client.query(`delete from moved_rows where move_id = $1 and table_name <> 'members'`, [moveId])
}
