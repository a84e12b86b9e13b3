import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Query } from '../../server/src/db/query.ts'
import { listStatements } from '../contract/every-statement.ts'
import {
  findWaste,
  hasScan,
  listIndexes,
  listIndexesOfRanges,
  listTablesScanned,
  type Explained,
  type PlanNode,
} from './check-plan.ts'
import { namesInBackticks, readStoreComments } from './store-comments.ts'
import { findRoles, valueFor, type Sample } from './parameters.ts'
import { HUGE, NEW, SMALL } from './rows.ts'
import { MAY_SCAN, READS_ALL_OF_ITS_OWN, VALUES } from './statement-values.ts'
import { openWorkload, type Workload } from './workload.ts'

/** A scan of the huge workspace may read this many entries more than it needs, for example to sort or filter rows. */
const SLACK = 100
/**
 * The same limit for the small workspace and the new one. No table has so many rows of either workspace, so a statement
 * may read all of them.
 */
const OWN_ROWS = 400
/**
 * The same limit for statements that read all rows of the huge workspace by design. It still catches a join that reads
 * all these rows again for each row of another table.
 */
const OWN_ROWS_OF_HUGE = 4_000
const HELP = `Name the index in backticks in the comment of the function that makes the statement, or write the statement so
  that PostgreSQL cannot choose another index. Values of parameters, and exceptions with their reasons, are in
  test/plans/statement-values.ts. Each line shows the workspace and how PostgreSQL was told to plan.`

/**
 * PostgreSQL first plans a prepared statement with the values of its parameters (a custom plan), and later without them
 * (a generic plan). The statistics do not contain the new workspace.
 */
const RUNS = [
  { workspace: HUGE, planMode: 'force_generic_plan' },
  { workspace: HUGE, planMode: 'force_custom_plan' },
  { workspace: SMALL, planMode: 'force_generic_plan' },
  { workspace: SMALL, planMode: 'force_custom_plan' },
  { workspace: NEW, planMode: 'force_custom_plan' },
] as const

type Statement = Pick<Query<unknown>, 'name' | 'text'>

describe('the plans of all statements, for a huge workspace among small ones', () => {
  let workload: Workload
  let statements: readonly Statement[]
  const { comments, commentsOf } = readStoreComments()
  const used = new Set<string>()
  before(async () => {
    const queries = await listStatements()
    statements = [...new Map(queries.map(({ name, text }) => [name, { name, text }])).values()]
    workload = await openWorkload()
  })
  after(() => workload.close())

  test('when the tables were analyzed while little was pending, and now much is', async () => {
    assert.deepEqual(await findAllFaults(), [], HELP)
  })

  test('the test finds a statement that reads the pending rows of all, because few were pending', async () => {
    const text = 'update users set joined_at = $2 where id = $1 and joined_at is null'
    const found = await findFaults({ name: 'mark_user_joined', text })
    assert.match(found.join('\n'), /uses users_never_joined, which its comment does not name/)
    assert.match(found.join('\n'), /Index Scan users_never_joined reads \d+ entries and needs 0/)
  })

  test('the test finds an index over all workspaces that PostgreSQL prefers, because few were pending', async () => {
    const index = `create index payments_unsettled on payments (mode, created_at) where status = 'pending'`
    const text = `select amount_micro from payments
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and status = 'pending' and created_at > $4`
    const found = await findFaults({ name: 'sum_unmined_payments', text }, index)
    assert.match(found.join('\n'), /uses payments_unsettled, which its comment does not name/)
    assert.match(found.join('\n'), /Index Scan payments_unsettled reads \d+ entries/)
  })

  test('when the tables were analyzed while much was pending', async () => {
    await forgetChanges()
    await workload.client.query('analyze')
    assert.deepEqual(await findAllFaults(), [], HELP)
  })

  test('when PostgreSQL believes that every index scan must also visit the table', async () => {
    await forgetChanges()
    await workload.client.query('update pg_class set relallvisible = 0')
    assert.deepEqual(await findAllFaults(), [], HELP)
  })

  // If there are very many workspaces of the same size, each with many payments, the statistics say that each
  // workspace, wallet and agent occurs once. The planner then expects that a look-up by any of them finds one payment,
  // so all indexes look equally good.
  test('of the limits of payments, when the statistics say that each workspace, wallet and agent occurs once', async () => {
    const limits = statements.filter(({ text }) => text.includes('sum(s.amount_micro)'))
    assert.ok(limits.length > 10)
    await workload.client.query(
      `update pg_statistic set stadistinct = -1, stakind1 = 0, stakind2 = 0, stakind3 = 0, stakind4 = 0, stakind5 = 0
        where (starelid, staattnum) in (select attrelid, attnum from pg_attribute
          where attrelid = 'payments'::regclass and attname in ('workspace_id', 'wallet_address', 'agent_id'))`,
    )
    const faults = await findAllFaults([...limits, get('find_releasing_payment')])
    await workload.client.query('analyze payments')
    assert.deepEqual(faults, [], HELP)
  })

  for (const [index, name] of [
    ['payments_in_window', 'read_payment_facts'],
    ['payments_holding_balance', 'list_wallet_payments_awaiting_chain'],
    ['payments_to_reconcile', 'list_payments_due_for_lookup'],
    ['deliveries_due', 'lock_due_endpoints'],
    ['sessions_by_end', 'delete_ended_sessions'],
    ['events_by_type', 'list_newest_events'],
    ['purchases_undelivered', 'count_undelivered_purchases_test'],
  ] as const) {
    test(`the test finds that ${name} has lost the index ${index}`, async () => {
      assert.notDeepEqual(await findFaults(get(name), `drop index ${index}`), [])
    })
  }

  test('every index that a comment of a store names is used by a statement', () => {
    const named = comments.flatMap(namesInBackticks).filter((name) => workload.indexes.has(name))
    const unused = [...new Set(named)].filter((name) => !used.has(name))
    assert.deepEqual(unused, [], 'no plan uses these indexes: correct the comments')
  })

  test('every index is used by a statement, is unique, or finds what still refers to a row', () => {
    const unused = [...workload.indexes].filter((name) => !used.has(name) && !workload.constraintIndexes.has(name))
    assert.deepEqual(unused, [], 'no plan uses these indexes: drop them')
  })

  test('every table has rows, so that a plan that reads too many is found', async () => {
    const empty: string[] = []
    for (const table of workload.columns.keys()) {
      const { rowCount } = await workload.client.query(`select 1 from ${table} limit 1`)
      if (rowCount === 0) empty.push(table)
    }
    assert.deepEqual(empty, [], 'add rows to test/plans/settled-rows.ts')
  })

  test('values and exceptions are given for existing statements only', () => {
    const names = new Set(statements.map(({ name }) => name))
    const given = [VALUES, READS_ALL_OF_ITS_OWN, MAY_SCAN].flatMap((table) => Object.keys(table))
    assert.deepEqual(
      given.filter((name) => !names.has(name)),
      [],
    )
  })

  /**
   * Removes what the statements of the test before have left in the indexes: each was rolled back, and one of them changes
   * all active grants.
   */
  async function forgetChanges(): Promise<void> {
    await workload.client.query('vacuum grants')
  }

  function get(name: string): Statement {
    return statements.find((statement) => statement.name === name) ?? assert.fail(`there is no statement ${name}`)
  }

  async function findAllFaults(checked = statements): Promise<string[]> {
    const faults: string[] = []
    for (const statement of checked) faults.push(...(await findFaults(statement)))
    return faults
  }

  /** Returns what is wrong with a statement's plans. Runs the SQL `change` before each plan, and then undoes it. */
  async function findFaults({ name, text }: Statement, change = ''): Promise<string[]> {
    if (!/\b(?:from|update|into)\b/.test(text)) return []
    const { client } = workload
    await client.query(`prepare statement as ${text}`)
    try {
      const { rows } = await client.query<Explained>(`explain (generic_plan, format json) ${text}`)
      const outline = planOf(rows)
      for (const index of listIndexes(outline)) used.add(index)
      return hasScan(outline) ? await findFaultsOfRuns({ name, text }, change) : []
    } finally {
      await client.query('deallocate statement')
    }
  }

  async function findFaultsOfRuns({ name, text }: Statement, change: string): Promise<string[]> {
    const { rows } = await workload.client.query<{ types: string[] }>(
      `select parameter_types::text[] as types from pg_prepared_statements where name = 'statement'`,
    )
    const faults: string[] = []
    for (const { workspace, planMode } of RUNS) {
      const sample = workload.samples.get(workspace) ?? new Map<string, never>()
      const values = literalsOf({ name, text }, rows[0]?.types ?? [], sample)
      const run = `${name} (${workspace}, ${planMode})`
      try {
        const plan = await explain(`${change}; set local plan_cache_mode = ${planMode}`, values)
        faults.push(...findFaultsOfPlan(name, plan, workspace).map((fault) => `${run}: ${fault}`))
      } catch (error) {
        await workload.client.query('rollback')
        const message = error instanceof Error ? error.message : String(error)
        return [`${run}: ${message}. Add values to VALUES in test/plans/statement-values.ts`]
      }
    }
    return faults
  }

  function literalsOf({ name, text }: Statement, types: readonly string[], sample: Sample): string {
    const roles = findRoles(text, workload.columns)
    const given = VALUES[name]?.(sample) ?? {}
    const literals = types.map((type, index) => {
      const value = index + 1 in given ? given[index + 1] : valueFor(roles.get(index + 1), type, sample)
      return value === null || value === undefined ? 'null' : workload.client.escapeLiteral(value)
    })
    return literals.length === 0 ? '' : `(${literals.join()})`
  }

  /** Runs the prepared statement after `settings`, undoes everything and returns the plan. */
  async function explain(settings: string, values: string): Promise<PlanNode> {
    const results: unknown = await workload.client.query(
      `begin; ${settings};
        explain (analyze, buffers, timing off, summary off, format json) execute statement ${values}; rollback`,
    )
    return planOf((results as readonly { readonly rows: readonly Explained[] }[]).flatMap(({ rows }) => rows))
  }

  function planOf(rows: readonly Explained[]): PlanNode {
    return rows.find((row) => 'QUERY PLAN' in row)?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan')
  }

  function findFaultsOfPlan(name: string, plan: PlanNode, workspace: string): string[] {
    for (const index of listIndexes(plan)) used.add(index)
    if (name in MAY_SCAN) return []
    const named = new Set(commentsOf(name).flatMap(namesInBackticks))
    const others = listIndexesOfRanges(plan).filter((index) => !workload.primaryKeys.has(index) && !named.has(index))
    const slackOfHuge = name in READS_ALL_OF_ITS_OWN ? OWN_ROWS_OF_HUGE : SLACK
    return [
      ...listTablesScanned(plan).map((table) => `reads the whole table ${table}`),
      // The other workspaces have so few rows that several indexes are equally good for them.
      ...(workspace === HUGE ? others.map((index) => `uses ${index}, which its comment does not name`) : []),
      ...findWaste(plan, workspace === HUGE ? slackOfHuge : OWN_ROWS),
    ]
  }
})
