/**
 * The rows of the tests of query plans: one huge workspace among small ones. Each table has fewer than 30,000 rows, so
 * `analyze` reads all of them, and the statistics are the same in each run. For each workspace `t`, a statement inserts
 * rows that are numbered `n = 1, 2, …`. The number of rows is proportional to `t.size`, which is 120 for the huge
 * workspace and 4 for a small one. Both sizes are multiples of 4, so that a row and the rows that it refers to have the
 * same mode (see `mode_of` and `ref`).
 */

/** The time of the newest rows. */
export const NOW = new Date('2026-06-01T12:00:00Z')
export const HUGE = 'acc_huge'
export const SMALL = 'acc_s07'
/** A workspace that was created after the tables were analyzed. */
export const NEW = 'acc_new'

/** The workspaces for which the statements are run, with the numbers that the ids of their rows contain. */
export const SAMPLED = [
  { id: HUGE, number: 0 },
  { id: SMALL, number: 7 },
  { id: NEW, number: 99 },
] as const

const SMALL_COUNT = 30
export const now = `timestamptz '${NOW.toISOString()}'`
export const hash = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`
/** The number of the row that row `n` refers to: from 1 to `per` times the workspace's size. */
export const ref = (per: number): string => `((n - 1) % (t.size * ${per}) + 1)`
export const ago = (unit: string): string => `${now} - n * interval '1 ${unit}'`
export const scopes = `'{wallet:read}'`

export const PREPARE = `
  create temp table tenants (k int, id text, size int);
  create function mode_of(n bigint) returns text immutable language sql
    return case when n % 4 = 0 then 'live' else 'test' end;
  create function address_of(k bigint, n bigint) returns text immutable language sql
    return '0x' || lpad(to_hex(k * 1000000 + n), 40, '0');
  insert into tenants values (0, '${HUGE}', 120);
  insert into tenants select k, 'acc_s' || lpad(k::text, 2, '0'), 4 from generate_series(1, ${SMALL_COUNT}) k;`

/** Replaces the workspaces with the new one, so that the statements below insert its rows. */
export const SELECT_NEW = `truncate tenants; insert into tenants values (99, '${NEW}', 4)`
/** Selects all workspaces again. */
export const SELECT_ALL = `
  insert into tenants select k, 'acc_s' || lpad(k::text, 2, '0'), 4 from generate_series(1, ${SMALL_COUNT}) k;
  insert into tenants values (0, '${HUGE}', 120)`

/** Returns a statement that inserts `per` rows for each unit of a workspace's size. */
export function rows(table: string, per: number, values: Readonly<Record<string, string>>, suffix = ''): string {
  const names = Object.keys(values).join(', ')
  const list = Object.values(values).join(',\n  ')
  return `insert into ${table} (${names})\nselect ${list}\nfrom tenants t cross join lateral generate_series(1, t.size * ${per}) n ${suffix}`
}

export const own = { workspace_id: 't.id' }
export const user = (n: string): string => `'usr_' || t.k || '_' || ${n}`
/** True for every second row. These rows belong to one agent, one wallet or one endpoint. */
export const HOT = 'n % 2 = 1'
/** How many webhook endpoints a workspace has at most. */
export const ENDPOINTS = 20
export const endpoint = `'whk_' || case when ${HOT} then 1 else (n - 1) % least(t.size, ${ENDPOINTS}) + 1 end`
export const agent = `'agent' || ${ref(1)}`
export const wallet = (n: string): string => `address_of(t.k, ${n})`
export const payment = (hot: string) => ({
  ...own,
  mode: `case when ${hot} then 'test' else mode_of(n) end`,
  wallet_address: `case when ${hot} then ${wallet('1')} else ${wallet(ref(2))} end`,
  to_address: wallet('7'),
  amount_micro: '1 + n % 7',
  amount_usdc: `'0.000001'`,
  attempt: '1',
})
/** The columns of a payment that have values only if an agent made it. */
export const ofGrant = (hot: string) => ({
  agent_id: `case when ${hot} then 'agent1' else ${agent} end`,
  grant_id: `'grt_' || case when ${hot} then 1 else ${ref(2)} end`,
  max_per_tx_micro: '10',
  daily_cap_micro: '1000000000',
  spent_24h_micro: '0',
  allowance_month: `case when not (${hot}) and n % 4 = 0 then date '2026-05-01' end`,
  idempotency_key: `case when n % 3 = 0 then 'key' || n end`,
})
/** Returns the SQL for an id. Among ids with the same prefix, the id of a newer row is greater. */
export const idOf = (prefix: string, kind = ''): string =>
  `'${prefix}_01${kind}' || lpad((1000000 - n)::text, 8, '0') || t.k`
