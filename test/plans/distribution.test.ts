import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { PLANNER_SETTINGS } from '../../server/src/db/database.ts'
import type { Query } from '../../server/src/db/query.ts'
import { listStatements } from '../contract/every-statement.ts'
import { createFreshDatabase, type FreshDatabase } from '../support/database/fresh-database.ts'
import { ACROSS_WORKSPACES } from './across-workspaces.ts'
import type { PlanNode } from './check-plan.ts'

type Statement = Pick<Query<unknown>, 'name' | 'text'>

/** The conditions of a scan, which `explain (verbose)` shows. */
interface ScanNode extends PlanNode {
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly ScanNode[]
}

/** What Citus, which distributes a database over several servers, and its schema-based sharding accept. */
describe('the statements on a database that Citus distributes', () => {
  let database: FreshDatabase
  let client: pg.Client
  let statements: readonly Statement[]
  let tables: ReadonlySet<string>
  before(async () => {
    database = await createFreshDatabase()
    const options = Object.entries(PLANNER_SETTINGS).map(([name, value]) => `-c ${name}=${value}`)
    client = new pg.Client({ connectionString: database.url, options: options.join(' ') })
    await client.connect()
    const { rows } = await client.query<{ table: string }>(
      `select table_name as table from information_schema.columns
        where table_schema = current_schema() and column_name = 'workspace_id'`,
    )
    tables = new Set(rows.map(({ table }) => table))
    statements = [...new Map((await listStatements()).map((statement) => [statement.name, statement])).values()]
  })
  after(async () => {
    await client.end()
    await database.drop()
  })

  test('each reads the rows of one workspace that is a parameter, apart from those with a reason', async () => {
    const found: string[] = []
    for (const statement of statements) if (!(await readsOneWorkspace(statement))) found.push(statement.name)
    const known = Object.values(ACROSS_WORKSPACES).flat()
    assert.deepEqual(
      { unknown: found.filter((name) => !known.includes(name)), solved: known.filter((name) => !found.includes(name)) },
      { unknown: [], solved: [] },
      'compare workspace_id with a parameter, or remove the names that are solved from across-workspaces.ts',
    )
  })

  for (const [text, isFound] of [
    ['select id from payments where workspace_id = $1 and id = $2', false],
    ['select p.id from payments p join grants g on g.workspace_id = p.workspace_id where p.workspace_id = $1', false],
    ['select id from payments where id = $1', true],
    [`select id from payments where workspace_id || '' = $1`, true],
    ['select p.id from payments p, grants g where p.workspace_id = $1 and g.workspace_id = $2', true],
  ] as const) {
    test(`the test ${isFound ? 'finds' : 'accepts'}: ${text}`, async () => {
      assert.equal(await readsOneWorkspace({ name: 'tried', text }), !isFound)
    })
  }

  test('each calls only immutable functions after `returning`', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select distinct proname as name from pg_proc where provolatile <> 'i'`,
    )
    const changing = new Set(rows.map(({ name }) => name))
    const faults = statements.flatMap(({ name, text }) =>
      listReturned(text).flatMap((returned) =>
        [...returned.matchAll(/\b(\w+)\(/g)].flatMap(([, called = '']) =>
          changing.has(called) ? [`${name} calls ${called}`] : [],
        ),
      ),
    )
    assert.deepEqual(faults, [], 'return the column, and call the function in the query around the statement')
    assert.deepEqual(listReturned('with a as (insert into t returning now(), b) select f() from a'), [' now(), b'])
  })

  test('none assigns a slice: Citus takes it for the elements that are assigned, and crashes', () => {
    const slice = /\bset\b[^;]*?=\s*(?:\w+\.)?(?:\w+|\([^()]*\))\[[^\]]*:[^\]]*\](?!\s*\|\|)/
    assert.match('update w set hits = (w.hits || $1)[2 :] where id = $2', slice)
    assert.deepEqual(
      statements.filter(({ text }) => slice.test(text)).map(({ name }) => name),
      [],
    )
  })

  async function readsOneWorkspace({ text }: Statement): Promise<boolean> {
    if (!/\b(?:from|update|into)\b/.test(text)) return true
    const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: ScanNode }[] }>(
      `explain (generic_plan, verbose, format json) ${text}`,
    )
    const parameters = listScans(rows[0]?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan')).map(
      (scan) => /workspace_id = (\$\d+)/.exec([scan['Index Cond'], scan['Recheck Cond'], scan.Filter].join(' '))?.[1],
    )
    return parameters.every((parameter) => parameter !== undefined && parameter === parameters[0])
  }

  /** Returns the scans of the tables that have a column `workspace_id`. */
  function listScans(plan: ScanNode): ScanNode[] {
    const isOwn = plan['Node Type'].endsWith('Scan') && tables.has(plan['Relation Name'] ?? '')
    return [...(isOwn ? [plan] : []), ...(plan.Plans ?? []).flatMap(listScans)]
  }
})

/** Returns what follows each `returning` of a statement, up to its end or to the parenthesis that closes it. */
function listReturned(text: string): string[] {
  return text
    .split(/\breturning\b/)
    .slice(1)
    .map((rest) => {
      let depth = 0
      for (let end = 0; end < rest.length; end += 1) {
        if (rest[end] === '(') depth += 1
        if (rest[end] === ')') depth -= 1
        if (depth < 0) return rest.slice(0, end)
      }
      return rest
    })
}
