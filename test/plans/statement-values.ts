import type { Sample } from './parameters.ts'
import { HUGE, NOW, SMALL } from './rows.ts'

/** The values of parameters whose meaning the statement's text does not show, by the number of the parameter. */
type Values = Readonly<Record<number, string | null>>

const at = (minutes: number): string => new Date(NOW.getTime() + minutes * 60_000).toISOString()
const get = (sample: Sample, table: string, column: string): string => sample.get(table)?.[column] ?? ''
const listOf = (...values: readonly string[]): string => `{${values.map((value) => JSON.stringify(value)).join()}}`
/** The lowest id that a payment can have in `rows.ts` if it was made at most this many hours ago. */
const idOfHoursAgo = (hours: number): string => `pay_01${`${1_000_000 - hours * 60}`.padStart(8, '0')}`
const DAY_START_ID = idOfHoursAgo(24)
/** The lowest id that an audit entry of the last 15 minutes can have. */
const LATELY_ID = `adt_01${`${1_000_000 - 15}`.padStart(8, '0')}`

/** The period before of 30 days, then the days of a chart of 30 days, then its end, in their order. */
const DAYS = listOf(
  at(-60 * 24 * 60),
  at(-30 * 24 * 60),
  ...Array.from({ length: 31 }, (_, day) => at((day - 30) * 24 * 60)),
)

/**
 * The workspaces, modes, wallets and agents of two requests. Both requests use the values of the same payment in the
 * sample.
 */
const parties = (sample: Sample): Values => {
  const list = (column: string): string => {
    const value = get(sample, 'payments', column)
    return listOf(value, value)
  }
  return { 1: list('workspace_id'), 2: list('mode'), 3: list('wallet_address'), 4: list('agent_id') }
}
const times = (minutes: number): string => listOf(at(minutes), at(minutes))

const ALL_AMOUNTS = '9999999999999999999999'

/** The parameters that all statements of the list of payments share, without conditions. */
const listed = (path: string, sample: Sample): Values => ({
  2: '',
  3: 'zzzz',
  4: path === 'of_agent' ? get(sample, 'payments', 'agent_id') : null,
  5: path === 'to_recipient' ? get(sample, 'payments', 'to_address') : null,
  11: '0',
  12: ALL_AMOUNTS,
  13: null,
  14: null,
  15: '{}',
  16: null,
})

/** Candidates for each condition: the recipient and the hash of a payment, and an amount that few payments have. */
const candidates = (sample: Sample): Values => ({
  ...listed('all', sample),
  17: '20',
  18: listOf(get(sample, 'payments', 'to_address')),
  19: '7000',
  20: '8000',
  21: get(sample, 'payments', 'tx_hash'),
  22: `${get(sample, 'payments', 'tx_hash')}g`,
  23: '20',
})

const allowances = (sample: Sample): Values => ({
  1: listOf(get(sample, 'allowances', 'workspace_id')),
  2: listOf(get(sample, 'allowances', 'month')),
})

const acceptances = (sample: Sample): Values => ({
  1: listOf(get(sample, 'payments', 'workspace_id')),
  2: listOf(get(sample, 'payments', 'id')),
  3: '{NULL}',
  4: '{NULL}',
  5: listOf(at(0)),
  6: '{NULL}',
  7: '{NULL}',
  8: listOf(at(0)),
})

const replays: (sample: Sample) => Values = () => ({ 5: listOf('dlv_a', 'dlv_b') })

/**
 * Statements whose parameters need values that `findRoles` cannot know. It knows the parameters that are compared with
 * a column (`where id = $1`), limits, and filters that may be null.
 */
export const VALUES: Readonly<Record<string, (sample: Sample) => Values>> = {
  page_sealed_signatures: () => ({ 1: at(-24 * 60), 2: '', 3: '', 4: String.raw`\x00` }),
  ...Object.fromEntries(
    ['test', 'live'].flatMap((mode) => [
      ...['all', 'of_agent', 'to_recipient'].flatMap((path) => [
        [`list_payments_${path}_newest_${mode}`, (sample: Sample) => listed(path, sample)],
        [`list_payments_${path}_oldest_${mode}`, (sample: Sample) => listed(path, sample)],
        [`count_payments_${path}_${mode}`, (sample: Sample) => listed(path, sample)],
      ]),
      [
        `list_payments_by_amount_largest_${mode}`,
        (sample: Sample) => ({ ...listed('by_amount', sample), 19: ALL_AMOUNTS, 20: '' }),
      ],
      [
        `list_payments_by_amount_smallest_${mode}`,
        (sample: Sample) => ({ ...listed('by_amount', sample), 19: '0', 20: '' }),
      ],
      ...['newest', 'oldest'].map((sort) => [`list_candidate_payments_${sort}_${mode}`, candidates]),
      ...['largest', 'smallest'].map((sort) => [
        `list_candidate_payments_${sort}_${mode}`,
        (sample: Sample) => ({ ...candidates(sample), 24: sort === 'largest' ? ALL_AMOUNTS : '0', 25: '' }),
      ]),
      [`count_candidate_payments_${mode}`, candidates],
      [`list_paid_addresses_${mode}`, () => ({ 2: '0x0000', 3: '0x0000g' })],
      [
        `list_payment_refusals_${mode}`,
        () => ({ 2: '', 3: 'zzzz', 8: '0', 9: ALL_AMOUNTS, 12: '{}', 13: null, 14: 'true', 15: 'zzzz' }),
      ],
    ]),
  ),
  add_to_allowance: () => ({ 3: '1' }),
  count_equal_payments: (sample) => ({ 7: listOf(get(sample, 'payments', 'tx_hash')) }),
  delete_users: () => ({ 1: listOf('new_0_1') }),
  delete_wallet_passkey: () => ({ 2: 'unknown' }),
  insert_stop: (sample) => ({ 2: 'stp_new', 7: get(sample, 'users', 'id') }),
  ...Object.fromEntries(
    ['mode', 'agent', 'wallet'].map((scope) => [
      `suspend_grants_of_${scope}`,
      (sample: Sample) => ({ 4: get(sample, 'stops', 'id') }),
    ]),
  ),
  find_agents: (sample) => {
    const { 1: workspaces = null, 2: modes = null, 4: agents = null } = parties(sample)
    return { 1: workspaces, 2: modes, 3: agents, 4: times(0), 5: times(-24 * 60) }
  },
  explain_transfer: (sample) => ({ 1: get(sample, 'payments', 'workspace_id'), 5: get(sample, 'payments', 'id') }),
  finish_delivery_successes: (sample) => ({
    1: listOf(get(sample, 'deliveries', 'workspace_id')),
    2: listOf(get(sample, 'deliveries', 'id')),
    3: listOf(at(1)),
    4: '{1}',
    5: listOf(at(0)),
    6: listOf(at(0)),
    7: '{1}',
    8: '{200}',
    9: '{NULL}',
    10: listOf('https://example.com/'),
    11: '{false}',
  }),
  insert_deliveries: (sample) => ({
    1: listOf(get(sample, 'events', 'workspace_id')),
    2: listOf(get(sample, 'events', 'id')),
    3: '{test}',
    4: '{type1}',
    5: listOf(at(0)),
  }),
  insert_outbound_requests: (sample) => ({
    1: listOf(get(sample, 'workspaces', 'id')),
    2: '{test}',
    3: '{key_1}',
    4: '{a.example}',
    5: '{GET}',
    6: '{200}',
    7: '{5}',
    8: listOf(at(0)),
    9: '100',
  }),
  list_spendable_grants: (sample) => {
    const { 1: workspaces = null, 2: modes = null } = parties(sample)
    return { 1: workspaces, 2: modes, 3: listOf(get(sample, 'payments', 'agent_id')), 4: times(0) }
  },
  lock_allowances: allowances,
  lock_free_allowances: allowances,
  find_admission_grants: parties,
  lock_grants: parties,
  lock_free_grants: parties,
  mark_payments_accepted: acceptances,
  mark_free_payments_accepted: acceptances,
  postpone_authorization_lookups: (sample) => ({
    1: listOf(get(sample, 'payments', 'workspace_id')),
    2: listOf(get(sample, 'payments', 'id')),
    3: listOf(at(1)),
    4: '{NULL}',
  }),
  read_payment_facts: (sample) => ({
    ...parties(sample),
    5: times(-24 * 60),
    6: '{1,1}',
    7: times(-24 * 60),
  }),
  find_log_tiles: (sample) => ({ 1: '{0}', 2: listOf(get(sample, 'log_tiles', 'number')) }),
  find_logged_entries: (sample) => ({
    1: listOf(get(sample, 'audit_entries', 'log_id')),
    2: listOf(get(sample, 'audit_entries', 'id')),
  }),
  find_logged_payments: (sample) => ({
    1: listOf(get(sample, 'payments', 'workspace_id')),
    2: listOf(get(sample, 'payments', 'id')),
  }),
  // The proof of a leaf that is alone in its log has no hash.
  insert_carried_leaves: (sample) => ({
    1: get(sample, 'carried_logs', 'workspace_id'),
    2: get(sample, 'carried_logs', 'move_id'),
    8: '{"\\\\x"}',
  }),
  set_log_head: () => ({ 1: 'api.example.com/log', 2: '1', 3: 'checkpoint', 4: 'key' }),
  find_payments_by_keys: (sample) => {
    const { 1: workspaces = null, 2: modes = null } = parties(sample)
    return { 1: workspaces, 2: modes, 3: '{unknown,NULL}' }
  },
  ...Object.fromEntries(
    ['access_token', 'code', 'refresh_token'].map((kind) => [`find_presented_${kind}`, () => ({ 2: at(-60) })]),
  ),
  find_releasing_payment: () => ({ 6: '3' }),
  find_similar_payment: () => ({ 4: DAY_START_ID }),
  find_similar_purchase: () => ({ 3: at(-10) }),
  finish_delivery: () => ({
    4: 'succeeded',
    5: '1',
    6: null,
    9: '1',
    10: '200',
    11: null,
    12: null,
    13: 'false',
    16: 'true',
  }),
  release_payment_attempt: () => ({ 4: 'true' }),
  insert_all_replays: replays,
  insert_moved_credentials: (sample) => ({ 1: get(sample, 'moves', 'id') }),
  insert_events: () => ({ 6: '[{}]' }),
  insert_deposits: (sample) => ({
    3: listOf('dep_a'),
    4: listOf(get(sample, 'wallets', 'address')),
    5: listOf('0x1'),
    6: '{1}',
    7: listOf(`0x${'e'.repeat(64)}`),
    8: '{0}',
    9: '{1}',
    10: listOf('0x1'),
  }),
  insert_failed_replays: replays,
  insert_personal_audit_entry: () => ({ 2: 'adt_a', 4: 'signed_in', 5: null, 6: '{}', 7: '{}' }),
  list_delivery_summaries: (sample) => ({
    2: listOf(get(sample, 'deliveries', 'id')),
    3: '{1}',
    4: listOf(get(sample, 'deliveries', 'event_id')),
  }),
  list_newest_events: () => ({ 3: '{type1,type2}' }),
  list_oldest_events: () => ({ 3: '{type1,type2}' }),
  list_payment_events: (sample) => ({
    3: get(sample, 'payments', 'id'),
    4: '{type1,type2}',
    5: '{evt_,evt_}',
    6: listOf(get(sample, 'events', 'id'), get(sample, 'events', 'id')),
  }),
  list_recent_changes: (sample) => ({
    1: listOf(get(sample, 'workspaces', 'id')),
    2: '{test}',
    3: '{type1,type2}',
    7: LATELY_ID,
  }),
  list_settled_payments: (sample) => ({
    1: listOf(get(sample, 'payments', 'workspace_id')),
    2: listOf(get(sample, 'payments', 'id')),
  }),
  lock_due_deliveries: () => ({ 1: listOf(HUGE, SMALL), 2: '{whk_1,whk_1}', 4: '4', 6: '{}', 7: '400' }),
  lock_due_endpoints: () => ({ 1: '', 2: '40', 4: '4', 6: '', 7: '{}', 8: '400' }),
  mark_connection_revoked: () => ({ 4: 'user' }),
  mark_grant_active: () => ({ 2: 'unknown' }),
  mark_grant_submitted: () => ({ 4: 'activate', 5: at(0) }),
  mark_owner_request_done: () => ({ 3: '{}' }),
  record_payment_lookup: () => ({ 9: null }),
  save_wallet_balances: (sample) => ({
    2: listOf(get(sample, 'wallets', 'address')),
    3: '{1000000}',
    4: '{999001}',
    5: at(0),
    6: at(-1),
  }),
  replace_payment_hash: () => ({ 4: `0x${'f'.repeat(64)}`, 7: null }),
  ...Object.fromEntries(
    ['test', 'live'].flatMap((mode) => [
      [`list_sum_progress_${mode}`, () => ({ 1: '', 3: idOfHoursAgo(31 * 24), 4: idOfHoursAgo(1) })],
      [`sum_hour_${mode}`, () => ({ 2: at(-120), 3: idOfHoursAgo(2), 4: idOfHoursAgo(1), 5: at(-31 * 24 * 60) })],
      [
        `sum_spending_${mode}`,
        () => ({
          ...{ 2: DAYS, 3: '{}', 4: listOf(idOfHoursAgo(30)), 5: listOf(idOfHoursAgo(29)), 6: idOfHoursAgo(60 * 24) },
          ...{
            7: idOfHoursAgo(0),
            8: 'host',
            9: at(-60 * 24 * 60),
            10: at(0),
            11: '6',
            12: '100',
            13: '100000',
            14: null,
          },
        }),
      ],
      [`sum_agent_recipients_${mode}`, () => ({ 3: idOfHoursAgo(60 * 24), 4: idOfHoursAgo(0), 5: DAYS, 6: '250001' })],
      [`list_repeated_refusals_${mode}`, () => ({ 2: `ref_01${`${1_000_000 - 24 * 60}`.padStart(8, '0')}`, 4: '3' })],
    ]),
  ),
  update_webhook_endpoint: () => ({ 5: null, 6: null, 7: null }),
}

/**
 * Statements that read all rows of one workspace or person in some table, because these rows are few by design. The
 * rows of other workspaces and persons must still not be read.
 */
export const READS_ALL_OF_ITS_OWN: Readonly<Record<string, string>> = {
  count_equal_payments: 'a wallet has few pending payments at a time',
  find_free_slot: 'the grants of a workspace, which an owner signed one by one',
  find_similar_pending: 'the pending payments of a workspace',
  list_active_grants_live: 'the active grants of a workspace',
  list_active_grants_test: 'the active grants of a workspace',
  list_agents: 'the agents of a workspace',
  list_api_key_summaries: 'the API keys of a workspace',
  list_connection_errors: 'the connections that failed lately',
  list_connections: 'the connections of a workspace',
  list_grant_summaries: 'the grants of a workspace, which an owner signed one by one',
  list_members: 'the members of a workspace, ordered by their names',
  list_open_invitations: 'the invitations of a workspace',
  find_wallet_like: 'the wallets of a workspace',
  list_payment_refusals_live: 'the rejected requests of a workspace, of which at most 10,000 are kept',
  list_payment_refusals_test: 'the rejected requests of a workspace, of which at most 10,000 are kept',
  list_repeated_refusals_live: 'the refusals of a day, to find those that repeat',
  list_repeated_refusals_test: 'the refusals of a day, to find those that repeat',
  list_pending_grants_of_user: 'the grants of a workspace that wait for a signature',
  list_recipients: 'the recipients of a workspace, ordered by their labels',
  list_wallet_balances_live: 'the wallets of a workspace, ordered by their age',
  list_wallet_balances_test: 'the wallets of a workspace, ordered by their age',
  list_wallet_budgets: 'the wallets of a workspace',
  list_wallet_summaries: 'the wallets of a workspace, ordered by their age',
  revoke_api_keys_of_agent: 'the API keys of a workspace that are not revoked',
  revoke_invitations_by: 'the invitations of a person',
  sum_agent_recipients_live: 'the payments of one agent in two months, which are added up by recipient',
  sum_agent_recipients_test: 'the payments of one agent in two months, which are added up by recipient',
  sum_spending_live: 'the sums of each name and bar, of which a few names are shown',
  sum_spending_test: 'the sums of each name and bar, of which a few names are shown',
}

/** Statements that no request waits for and that may read a table from its start, because they read few rows. */
export const MAY_SCAN: Readonly<Record<string, string>> = {
  list_encryption_keys: 'an installation has a few encryption keys in its whole life',
  record_unused_keys: 'an installation has a few encryption keys in its whole life',
  find_last_confirmed_payment: 'runs when an operator checks the installation',
  list_sealed_secrets: 'runs when an operator checks the installation',
  list_sealed_slots: 'runs when an operator checks the installation',
  list_addresses_of_wallets: 'runs when an operator checks the installation',
  hold_api_keys_after: 'runs when an operator has restored the database',
  revoke_connections_after: 'runs when an operator has restored the database',
  revoke_invitations_after: 'runs when an operator has restored the database',
}
