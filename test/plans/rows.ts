/**
 * The rows of the tests of query plans: one huge workspace among small ones. Each table has fewer than 30,000 rows, of
 * which `analyze` reads all, so that the statistics are the same in each run. Each statement inserts `n = 1, 2, …` rows
 * of each workspace `t`, where `t.size` is 120 for the huge workspace and 4 for a small one. All numbers of rows are
 * multiples of 4, so that a row and the rows that it refers to have the same mode (see `mode_of`).
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
const now = `timestamptz '${NOW.toISOString()}'`
const hash = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`
/** The number, from 1 to `per` times the workspace's size, of the row that row `n` refers to. */
const ref = (per: number): string => `((n - 1) % (t.size * ${per}) + 1)`
const ago = (unit: string): string => `${now} - n * interval '1 ${unit}'`
const scopes = `'{wallet:read}'`

export const PREPARE = `
  create temp table tenants (k int, id text, size int);
  create function mode_of(n bigint) returns text immutable language sql
    return case when n % 4 = 0 then 'live' else 'test' end;
  create function address_of(k bigint, n bigint) returns text immutable language sql
    return '0x' || lpad(to_hex(k * 1000000 + n), 40, '0');
  insert into tenants values (0, '${HUGE}', 120);
  insert into tenants select k, 'acc_s' || lpad(k::text, 2, '0'), 4 from generate_series(1, ${SMALL_COUNT}) k;`

/** Replaces the workspaces by the new one, so that the statements below insert its rows. */
export const SELECT_NEW = `truncate tenants; insert into tenants values (99, '${NEW}', 4)`
/** Selects all workspaces again. */
export const SELECT_ALL = `
  insert into tenants select k, 'acc_s' || lpad(k::text, 2, '0'), 4 from generate_series(1, ${SMALL_COUNT}) k;
  insert into tenants values (0, '${HUGE}', 120)`

/** Returns a statement that inserts `per` rows for each unit of a workspace's size. */
function rows(table: string, per: number, values: Readonly<Record<string, string>>, suffix = ''): string {
  const names = Object.keys(values).join(', ')
  const list = Object.values(values).join(',\n  ')
  return `insert into ${table} (${names})\nselect ${list}\nfrom tenants t cross join lateral generate_series(1, t.size * ${per}) n ${suffix}`
}

const own = { account_id: 't.id' }
const user = (n: string): string => `'usr_' || t.k || '_' || ${n}`
/** Half of the payments, deposits and deliveries are of one agent, wallet and endpoint. */
const HOT = 'n % 2 = 1'
/** How many webhook endpoints a workspace has at most. */
const ENDPOINTS = 20
const endpoint = `'whk_' || case when ${HOT} then 1 else (n - 1) % least(t.size, ${ENDPOINTS}) + 1 end`
const agent = `'agent' || ${ref(1)}`
const wallet = (n: string): string => `address_of(t.k, ${n})`
const payment = (hot: string) => ({
  ...own,
  mode: `case when ${hot} then 'test' else mode_of(n) end`,
  wallet_address: `case when ${hot} then ${wallet('1')} else ${wallet(ref(2))} end`,
  to_address: wallet('7'),
  amount_micro: '1 + n % 7',
  amount_usdc: `'0.000001'`,
  attempt: '1',
})
/** The columns of payments that only agents make. */
const ofGrant = (hot: string) => ({
  agent_id: `case when ${hot} then 'agent1' else ${agent} end`,
  grant_id: `'grt_' || case when ${hot} then 1 else ${ref(2)} end`,
  max_per_tx_micro: '10',
  daily_cap_micro: '1000000000',
  spent_24h_micro: '0',
  allowance_month: `case when not (${hot}) and n % 4 = 0 then date '2026-05-01' end`,
  idempotency_key: `case when n % 3 = 0 then 'key' || n end`,
})
/** The ids of rows with the same prefix grow with their time. */
const idOf = (prefix: string, kind = ''): string => `'${prefix}_01${kind}' || lpad((1000000 - n)::text, 8, '0') || t.k`

/** The rows that exist when the tables are analyzed for the first time: hardly anything is pending. */
export const SETTLED: readonly string[] = [
  `insert into accounts (id, slug, name, plan, created_at) select id, 'slug-' || k, id, 'scale', ${now} from tenants`,
  rows('users', 1, { id: user('n'), name: `'Ann'`, user_handle: hash(user('n')), created_at: ago('hour') }),
  rows('members', 1, { ...own, user_id: user('n'), role: `'owner'`, created_at: ago('hour') }),
  rows('agents', 1, {
    ...own,
    mode: `'test'`,
    id: agent,
    created_at: ago('hour'),
    signer_id: `'signer'`,
    signer_private_key_sealed: `'x'`,
  }),
  rows('agents', 1, { ...own, mode: `'live'`, id: agent, created_at: ago('hour') }),
  rows('passkeys', 2, {
    user_id: user(ref(1)),
    credential_id: `'crd_' || t.k || '_' || n`,
    name: `'Phone'`,
    public_key_cose: hash(`n::text`),
    counter: '1',
    transports: `'{}'`,
    created_at: ago('hour'),
  }),
  rows('wallet_passkeys', 2, {
    user_id: user(ref(1)),
    credential_id: `'wpk_' || t.k || '_' || n`,
    name: `'Phone'`,
    public_key: hash(`n::text`),
    transports: `'{}'`,
    created_at: ago('hour'),
  }),
  rows('recovery_codes', 4, {
    user_id: user(ref(1)),
    code_hash: hash(`'code' || t.k || '_' || n`),
    created_at: ago('hour'),
    used_at: `case when n % 4 = 0 then ${now} end`,
  }),
  rows('sessions', 8, {
    secret_hash: hash(`'session' || t.k || '_' || n`),
    user_id: user(ref(1)),
    created_at: ago('minute'),
    last_seen_at: ago('minute'),
    expires_at: `${now} + n * interval '1 minute'`,
    verified_at: ago('minute'),
    device: `'Firefox'`,
  }),
  rows('wallets', 2, {
    ...own,
    mode: 'mode_of(n)',
    address: wallet('n'),
    name: `'Wallet ' || n`,
    enclave_wallet_id: `'w' || t.k || '_' || n`,
    owner_quorum_id: `'q'`,
    owner_credential_id: `'crd_' || t.k || '_' || n`,
    owner_public_key: hash(`n::text`),
    created_at: ago('hour'),
    signer_change_until: `case when n % 2 = 1 then ${now} end`,
  }),
  rows('wallet_owners', 2, {
    ...own,
    mode: 'mode_of(n)',
    wallet_address: wallet('n'),
    credential_id: `'wpk_' || t.k || '_' || n`,
    added_at: ago('hour'),
  }),
  rows(
    'wallet_slots',
    2,
    {
      ...own,
      mode: 'mode_of(n)',
      wallet_address: wallet('n'),
      slot: 's',
      enclave_policy_id: `'p' || t.k || '_' || n || '_' || s`,
      signer_id: `'s' || t.k || '_' || n || '_' || s`,
      signer_private_key_sealed: `'x'`,
    },
    'cross join generate_series(1, 5) s',
  ),
  // Each agent has an active grant on two wallets, the grants that it had before, and requests to replace some.
  rows('grants', 16, {
    ...own,
    id: `'grt_' || n`,
    mode: 'mode_of(n)',
    agent_id: agent,
    wallet_address: wallet(ref(2)),
    max_per_tx_micro: '10',
    daily_cap_micro: '1000000000',
    recipient_allowlist: `'{}'`,
    contract_allowlist: `'{x}'`,
    slot: 'case when n <= 2 * t.size then 1 when n <= 3 * t.size then 2 else 3 end',
    status: `case when n <= 2 * t.size then 'active' when n <= 3 * t.size then 'pending' else 'revoked' end`,
    activated_at: `case when n <= 2 * t.size or n > 3 * t.size then ${now} end`,
    activated_by: user('1'),
    created_at: ago('hour'),
    revoked_at: `case when n > 3 * t.size then ${now} end`,
    replaces: `case when n > 2 * t.size and n <= 3 * t.size then 'grt_' || (n - 2 * t.size) end`,
  }),
  rows('payments', 40, {
    ...payment(HOT),
    ...ofGrant(HOT),
    id: idOf('pay'),
    created_at: ago('minute'),
    status: `case when n % 10 = 0 then 'failed' else 'confirmed' end`,
    failure_code: `case when n % 10 = 0 then 'reverted' end`,
    settled_at: ago('minute'),
    tx_hash: `'0x' || lpad(to_hex(t.k * 1000000 + n), 64, '0')`,
    log_index: '0',
    mined_block: '1000000 - n',
    mined_block_hash: `'0x1'`,
  }),
  rows('payments', 2, {
    ...payment('false'),
    id: idOf('pay', 'w'),
    kind: `'withdrawal'`,
    created_at: ago('hour'),
    status: `'confirmed'`,
    settled_at: ago('hour'),
    tx_hash: `'0x' || lpad(to_hex(t.k * 1000000 + 500000 + n), 64, '0')`,
    log_index: '0',
    mined_block: '900000',
    mined_block_hash: `'0x1'`,
  }),
  rows('payment_refusals', 20, {
    ...own,
    id: idOf('ref'),
    mode: 'mode_of(n)',
    agent_id: agent,
    wallet_address: wallet(ref(2)),
    to_address: wallet('7'),
    amount_usdc: `'1'`,
    code: `'daily_cap_exceeded'`,
    details: `'{}'`,
    created_at: ago('minute'),
  }),
  rows('events', 30, {
    ...own,
    id: idOf('evt'),
    mode: 'mode_of(n)',
    type: `'type' || n % 7`,
    created_at: ago('minute'),
    data: `jsonb_build_object('payment', jsonb_build_object('id', ${idOf('pay')}))`,
  }),
  rows(
    'webhook_endpoints',
    1,
    {
      ...own,
      id: `'whk_' || n`,
      mode: `'test'`,
      url: `'https://example.com/' || n`,
      events: `'{type1}'`,
      secret_sealed: `'x'`,
      created_at: ago('hour'),
      deleted_at: `case when n % 20 = 0 then ${ago('day')} end`,
      disabled_at: `case when n % 20 = 10 then ${now} end`,
      disabled_because: `case when n % 20 = 10 then 'owner' end`,
    },
    `where n <= ${ENDPOINTS}`,
  ),
  rows('deliveries', 30, {
    ...own,
    id: idOf('dlv'),
    mode: `'test'`,
    endpoint_id: endpoint,
    event_id: idOf('evt'),
    event_type: `'type' || n % 7`,
    trigger: `'event'`,
    status: `case when n % 50 = 1 then 'failed' else 'succeeded' end`,
    attempts: '1',
    created_at: ago('minute'),
    finished_at: ago('minute'),
  }),
  rows('delivery_attempts', 30, {
    ...own,
    delivery_id: idOf('dlv'),
    number: '1',
    started_at: ago('minute'),
    duration_ms: '10',
    status_code: '200',
  }),
  rows('deposits', 20, {
    ...own,
    id: idOf('dep'),
    mode: `case when ${HOT} then 'test' else mode_of(n) end`,
    wallet_address: `case when ${HOT} then ${wallet('1')} else ${wallet(ref(2))} end`,
    from_address: wallet('7'),
    amount_micro: '1',
    tx_hash: `'0x' || lpad(to_hex(t.k * 1000000 + n), 64, '0')`,
    position: '0',
    block_number: 'n',
    block_hash: `'0x1'`,
    created_at: ago('minute'),
  }),
  rows('audit_entries', 20, {
    log_id: 't.id',
    id: idOf('adt'),
    created_at: ago('minute'),
    actor_kind: `'user'`,
    actor_id: user('1'),
    action: `case when n % 50 = 0 then 'withdrawal.submitted' else 'grant.revoked' end`,
    details: `'{"mode":"test"}'`,
  }),
  rows('recipients', 8, {
    ...own,
    mode: 'mode_of(n)',
    address: wallet('n'),
    label: `'Label ' || n`,
    created_at: ago('hour'),
  }),
  rows('allowances', 1, { ...own, month: `(date '2026-05-01' - n::int * interval '1 month')::date`, used: 'n' }),
  rows('api_keys', 8, {
    ...own,
    id: idOf('key'),
    mode: 'mode_of(n)',
    secret_hash: hash(`'key' || t.k || '_' || n`),
    created_at: ago('hour'),
    created_by: user(ref(1)),
    agent_id: `case when n % 2 = 1 then ${agent} end`,
    revoked_at: `case when n > t.size * 4 then ${now} end`,
  }),
  rows('rate_windows', 8, { subject: hash(`'key' || t.k || '_' || n`), bucket: `'default'`, hits: `'{1,2,3}'` }),
  rows('attempt_windows', 8, {
    subject: hash(`t.k || '_' || n`),
    bucket: `'sign_in'`,
    hits: `'{1,2,3}'`,
    expires_at: `${now} + n * interval '1 minute'`,
  }),
  rows('invitations', 4, {
    ...own,
    id: `'inv_' || n`,
    secret_hash: hash(`'invitation' || t.k || '_' || n`),
    role: `'viewer'`,
    uses_left: 'case when n % 20 = 1 then 1 else 0 end',
    created_by: user(ref(1)),
    created_at: ago('hour'),
    expires_at: `${now} + n * interval '1 minute'`,
  }),
  rows('owner_requests', 20, {
    ...own,
    id: idOf('owr'),
    mode: 'mode_of(n)',
    wallet_address: wallet(ref(2)),
    kind: `case when n % 5 = 0 then 'withdraw' else 'move' end`,
    details: `jsonb_build_object('credential_id', 'wpk_' || t.k || '_1')`,
    expires_at: `${now} + n * interval '1 minute'`,
    created_at: ago('hour'),
    created_by: user(ref(1)),
    submitted_by: `'{}'`,
    done_at: now,
  }),
  rows('oauth_clients', 4, {
    id: `'cli_' || t.k || '_' || n`,
    name: `'App'`,
    redirect_uris: `'{https://example.com}'`,
    scopes,
    created_at: ago('hour'),
    last_used_at: now,
  }),
  rows('authorization_requests', 8, {
    handle_hash: hash(`'request' || t.k || '_' || n`),
    client_id: `'cli_' || t.k || '_' || ${ref(4)}`,
    redirect_uri: `'https://example.com'`,
    scopes,
    state: `'s'`,
    code_challenge: `repeat('c', 43)`,
    created_at: ago('minute'),
    expires_at: `${now} + n * interval '1 minute'`,
    decided_at: now,
  }),
  rows('connections', 12, {
    ...own,
    id: idOf('con'),
    mode: 'mode_of(n)',
    agent_id: agent,
    user_id: user(ref(1)),
    member_since: `${now} - ${ref(1)} * interval '1 hour'`,
    client_id: `'cli_' || t.k || '_' || ${ref(4)}`,
    scopes,
    rate_subject: hash(`'connection' || t.k || '_' || n`),
    created_at: ago('minute'),
    expires_at: `${now} + n * interval '1 minute'`,
    connected_at: now,
    revoked_at: `case when n % 4 > 1 then ${now} end`,
    revoked_because: `case when n % 4 > 1 then 'user' end`,
  }),
  rows('access_tokens', 12, {
    token_hash: hash(`'access' || t.k || '_' || n`),
    ...own,
    connection_id: idOf('con'),
    scopes,
    expires_at: `${now} + n * interval '1 minute'`,
  }),
  rows('refresh_tokens', 12, {
    token_hash: hash(`'refresh' || t.k || '_' || n`),
    ...own,
    connection_id: idOf('con'),
    created_at: ago('minute'),
    expires_at: `${now} + n * interval '1 minute'`,
    taken_at: `case when n % 3 = 0 then ${now} end`,
  }),
  rows('authorization_codes', 12, {
    code_hash: hash(`'code' || t.k || '_' || n`),
    ...own,
    connection_id: idOf('con'),
    redirect_uri: `'https://example.com'`,
    code_challenge: `repeat('c', 43)`,
    expires_at: `${now} + n * interval '1 minute'`,
    taken_at: now,
  }),
  rows('connection_errors', 4, {
    ...own,
    connection_id: idOf('con'),
    code: `'code_expired'`,
    mode: 'mode_of(n)',
    agent_id: agent,
    user_id: user(ref(1)),
    client_id: `'cli_' || t.k || '_' || ${ref(4)}`,
    happened_at: `${now} - n * interval '1 second'`,
  }),
  rows('ceremonies', 8, {
    secret_hash: hash(`'ceremony' || t.k || '_' || n`),
    kind: `'verification'`,
    challenge: `'c'`,
    user_id: user(ref(1)),
    expires_at: `${now} + n * interval '1 minute'`,
  }),
  `insert into leases select 'job' || n, 'process', ${now} from generate_series(1, 10) n on conflict do nothing`,
  `insert into deposit_cursors values ('test', 1, '0x1'), ('live', 1, '0x1') on conflict do nothing`,
]

/** The rows of a time in which much is pending, or has expired. They are inserted after the tables were analyzed. */
export const PENDING: readonly string[] = [
  rows('payments', 16, {
    ...payment(HOT),
    ...ofGrant(HOT),
    id: idOf('pay', 'x'),
    idempotency_key: 'null',
    created_at: `${now} - n * interval '20 seconds'`,
    status: `'pending'`,
    tx_hash: `case when n % 4 <> 0 then '0x' || lpad(to_hex(t.k * 1000000 + 700000 + n), 64, '0') end`,
    log_index: 'case when n % 4 <> 0 then 0 end',
    next_look_at: `${now} + (n - 20) * interval '1 second'`,
  }),
  rows('deliveries', 20, {
    ...own,
    id: idOf('dlv', 'x'),
    mode: `'test'`,
    endpoint_id: endpoint,
    event_id: idOf('evt'),
    event_type: `'type' || n % 7`,
    trigger: `case when n % 10 = 1 then 'replay' else 'event' end`,
    status: `'pending'`,
    created_at: ago('second'),
    next_attempt_at: ago('second'),
    leased_until: `case when n % 50 = 1 then ${now} + interval '10 seconds' end`,
  }),
  rows('users', 8, {
    id: `'new_' || t.k || '_' || n`,
    name: `'Bob'`,
    user_handle: hash(`'new' || t.k || '_' || n`),
    created_at: `${now} - interval '3 days' + n * interval '1 minute'`,
    joined_at: 'null',
  }),
  rows('connections', 10, {
    ...own,
    id: idOf('con', 'x'),
    mode: 'mode_of(n)',
    agent_id: agent,
    user_id: user(ref(1)),
    member_since: ago('hour'),
    client_id: `'cli_' || t.k || '_' || ${ref(4)}`,
    scopes,
    rate_subject: hash(`'connection x' || t.k || '_' || n`),
    created_at: `${now} - interval '1 day'`,
    expires_at: ago('second'),
  }),
  rows('oauth_clients', 8, {
    id: `'cli_x' || t.k || '_' || n`,
    name: `'App'`,
    redirect_uris: `'{https://example.com}'`,
    scopes,
    created_at: `${now} - interval '3 days' + n * interval '1 minute'`,
  }),
  rows('owner_requests', 8, {
    ...own,
    id: idOf('owr', 'x'),
    mode: 'mode_of(n)',
    wallet_address: wallet(ref(2)),
    kind: `'move'`,
    details: `jsonb_build_object('credential_id', 'wpk_' || t.k || '_1')`,
    expires_at: ago('second'),
    created_at: ago('hour'),
    created_by: user(ref(1)),
  }),
  rows('sessions', 4, {
    secret_hash: hash(`'session x' || t.k || '_' || n`),
    user_id: user(ref(1)),
    created_at: ago('minute'),
    last_seen_at: ago('minute'),
    expires_at: ago('minute'),
    verified_at: ago('minute'),
    device: `'Firefox'`,
  }),
  ...[
    ['ceremonies', 'secret_hash', { kind: `'verification'`, challenge: `'c'` }],
    ['attempt_windows', 'subject', { bucket: `'sign_in'`, hits: `'{1}'` }],
  ].map(([table, key, rest]) =>
    rows(table as string, 8, {
      [key as string]: hash(`'${table as string} x' || t.k || '_' || n`),
      ...(rest as object),
      expires_at: ago('second'),
    }),
  ),
  ...[
    ['access_tokens', 'token_hash', { scopes }],
    ['refresh_tokens', 'token_hash', { created_at: ago('day'), taken_at: now }],
    ['authorization_codes', 'code_hash', { redirect_uri: `'https://example.com'`, code_challenge: `repeat('c', 43)` }],
  ].map(([table, key, rest]) =>
    rows(table as string, 8, {
      [key as string]: hash(`'x' || t.k || '_' || n`),
      ...own,
      connection_id: idOf('con'),
      ...(rest as object),
      expires_at: ago('second'),
    }),
  ),
  rows('authorization_requests', 8, {
    handle_hash: hash(`'request x' || t.k || '_' || n`),
    client_id: `'cli_' || t.k || '_' || ${ref(4)}`,
    redirect_uri: `'https://example.com'`,
    scopes,
    state: `'s'`,
    code_challenge: `repeat('c', 43)`,
    created_at: ago('day'),
    expires_at: ago('second'),
  }),
]
