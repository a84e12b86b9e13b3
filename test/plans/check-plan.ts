/** A row of `explain (format json)`. */
export interface Explained {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[]
}

/** The parts of a node of `explain (analyze, format json)` that the checks use. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Conflict Arbiter Indexes'?: readonly string[]
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/**
 * A part of a plan may read at most this many entries for each entry that it needs. A join, for example, reads an entry
 * of each of its tables for each row that it returns.
 */
const READ_PER_USEFUL_MAX = 4
/** How many database pages a scan may read, in addition to `PAGES_PER_ENTRY_MAX` for each entry that it reads. */
const PAGES_MAX = 60
/** To look up one entry, a scan reads a page of each level of the index, and one or two pages of the table. */
const PAGES_PER_ENTRY_MAX = 8
const JOINS = ['Nested Loop', 'Hash Join', 'Merge Join']

/** The number of index entries and table rows that a part of a plan has read, and how many of them it needed. */
interface Use {
  readonly read: number
  readonly useful: number
}

/**
 * A look-up that reads at most this many entries may use any index: PostgreSQL chooses freely between two indexes that
 * lead to the same row.
 */
const LOOK_UP_ENTRIES_MAX = 3

/** Returns the names of the indexes that a plan reads. */
export function listIndexes(plan: PlanNode): string[] {
  const own = [plan['Index Name'], ...(plan['Conflict Arbiter Indexes'] ?? [])].filter((name) => name !== undefined)
  return [...own, ...(plan.Plans ?? []).flatMap(listIndexes)]
}

/** Returns the names of the indexes of which the plan reads more than `LOOK_UP_ENTRIES_MAX` entries at a time. */
export function listIndexesOfRanges(plan: PlanNode): string[] {
  const read =
    plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const own = plan['Index Name'] === undefined || read <= LOOK_UP_ENTRIES_MAX ? [] : [plan['Index Name']]
  return [...own, ...(plan.Plans ?? []).flatMap(listIndexesOfRanges)]
}

/** Returns the tables that a plan reads from end to end. */
export function listTablesScanned(plan: PlanNode): string[] {
  const own = plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []
  return [...own, ...(plan.Plans ?? []).flatMap(listTablesScanned)]
}

/** Returns whether the plan reads a table at all. An `insert` of given values does not. */
export function hasScan(plan: PlanNode): boolean {
  return isScan(plan) || (plan.Plans ?? []).some(hasScan)
}

/**
 * Returns the parts of a plan that read many more entries than they need. A part may read `READ_PER_USEFUL_MAX` entries
 * for each entry that it needs, and `slack` more for each scan. A sum needs every row that it adds up. A page of a list
 * needs only the rows of the page, even if more rows had to be sorted.
 */
export function findWaste(plan: PlanNode, slack: number): string[] {
  const faults: string[] = []
  const changesRows =
    plan['Node Type'] === 'ModifyTable' || (plan.Plans ?? []).some((part) => part['Node Type'] === 'ModifyTable')
  const visit = (node: PlanNode): Use => {
    const use = measure(node, (node.Plans ?? []).map(visit))
    const place = `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}`.trim()
    if (use.read > slack * Math.max(countScans(node), 1) + READ_PER_USEFUL_MAX * use.useful) {
      faults.push(`${place} reads ${use.read} entries and needs ${use.useful}`)
    }
    const rows = node['Actual Rows'] * node['Actual Loops']
    const compared = (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops']
    if (compared > slack + READ_PER_USEFUL_MAX * rows)
      faults.push(`${place} compares ${compared} pairs and needs ${rows}`)
    const pages = (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0)
    if (isScan(node) && !changesRows && pages > PAGES_MAX + PAGES_PER_ENTRY_MAX * (use.read + node['Actual Loops'])) {
      faults.push(`${place} reads ${pages} pages and only ${use.read} entries`)
    }
    return use
  }
  visit(plan)
  return faults
}

function isScan(node: PlanNode): boolean {
  return /^(?:Index|Index Only|Bitmap Index|Seq) Scan$/.test(node['Node Type'])
}

function measure(node: PlanNode, parts: readonly Use[]): Use {
  const rows = node['Actual Rows'] * node['Actual Loops']
  const below = { read: sum(parts.map(({ read }) => read)), useful: sum(parts.map(({ useful }) => useful)) }
  if (isScan(node)) {
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    return { read: below.read + rows + removed * node['Actual Loops'], useful: below.useful + rows }
  }
  // A join may read a stored intermediate result again for each row. The result is needed only once.
  if (node['Node Type'] === 'CTE Scan') return { read: below.read + rows, useful: below.useful + node['Actual Rows'] }
  if (node['Node Type'] === 'Bitmap Heap Scan') return { ...below, useful: rows }
  if (node['Node Type'] === 'Limit' && (node.Plans ?? []).some(sortsAll)) {
    return { ...below, useful: Math.min(below.useful, rows * countScans(node)) }
  }
  if (node['Node Type'] === 'Hash Join' || node['Node Type'] === 'Merge Join') {
    return { ...below, useful: Math.min(below.useful, rows * countScans(node)) }
  }
  return below
}

/** Returns whether a node passes on sorted rows, and so has read all rows before it passes on the first one. */
function sortsAll(node: PlanNode): boolean {
  if (node['Node Type'] === 'Sort') return true
  const passesOn = [...JOINS, 'Result', 'Subquery Scan', 'LockRows'].includes(node['Node Type'])
  return passesOn && (node.Plans ?? []).slice(0, 1).some(sortsAll)
}

function countScans(node: PlanNode): number {
  return Number(isScan(node)) + sum((node.Plans ?? []).map(countScans))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
