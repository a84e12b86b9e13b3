import { ASSUMPTIONS, type Assumptions } from './cells/assumptions.ts'
import { addUses, WAYS } from './cells/chain-calls.ts'
import { figuresOf, usesOfCells } from './cells/figures.ts'
import { drawWorkspaces, placeWorkspaces, sumCells } from './cells/simulate.ts'
import { say } from './report.ts'
import { quantile } from './statistics.ts'

/**
 * `npm run simulate:cells [-- first seed]` computes what 10 million agents in 100 cells need, from measured costs and
 * stated assumptions. It only computes, and prints the same for the same seed. The page "A hundred cells" of the
 * documentation explains the results, and says what they leave out.
 */
const SEEDS = 20
const SEEDS_OF_OTHERS = 5

/** What else is simulated, each with one change of the assumptions. */
const OTHERS: Readonly<Record<string, Partial<Assumptions>>> = {
  '1 payment of an agent a day': { paymentsPerAgentDay: 1 },
  '50 payments of an agent a day': { paymentsPerAgentDay: 50 },
  'each payment costs what one of many costs': { gatheredFrom: 0 },
  'workspaces of more equal sizes (exponent 1.3)': { sizeExponent: 1.3 },
  '20 cells, one on each node': { cells: 20 },
  '400 cells': { cells: 400 },
}
const SHOWN_OF_OTHERS = [
  'the busiest workspace, processors: PostgreSQL',
  'processors of all nodes',
  'of these, what cells need without payments, %',
  'processors of the busiest node, largest moved',
  'calls to both chains in a second, today',
  'calls to both chains in a second, without repeats',
  'logs from nodes, GB a day, today',
]

/** The values of each figure, by its name. */
type Simulated = ReadonlyMap<string, readonly number[]>

const firstSeed = Number(process.argv[2] ?? 1)
if (!Number.isSafeInteger(firstSeed)) throw new Error('the seed is a whole number')

const figures = simulate(ASSUMPTIONS, SEEDS)
say(`${SEEDS} seeds from ${firstSeed}. Each figure: median (5th to 95th percentile)\n`)
sayRow('figure', '')
sayRow('---', '---')
for (const [name, values] of figures) sayRow(name, formatSpread(values))

say(`\nCalls in a second, mean of the day, seed ${firstSeed}\n`)
sayRow('purpose', ...WAYS)
sayRow(...['---', ...WAYS].map(() => '---'))
const uses = WAYS.map((way) => usesOfCells(drawCells(ASSUMPTIONS), way, ASSUMPTIONS))
for (const purpose of new Set(uses.flatMap(Object.keys)))
  sayRow(purpose, ...uses.map((one) => format(one[purpose]?.calls ?? 0)))
sayRow('all', ...uses.map((one) => format(addUses(Object.values(one)).calls)))

say(`\nOther assumptions, ${SEEDS_OF_OTHERS} seeds\n`)
sayRow('assumption', ...SHOWN_OF_OTHERS)
sayRow(...['---', ...SHOWN_OF_OTHERS].map(() => '---'))
sayOther('as above', figures)
for (const [name, changes] of Object.entries(OTHERS))
  sayOther(name, simulate({ ...ASSUMPTIONS, ...changes }, SEEDS_OF_OTHERS))

function sayOther(name: string, values: Simulated): void {
  sayRow(name, ...SHOWN_OF_OTHERS.map((shown) => formatSpread(values.get(shown) ?? [])))
}

function sayRow(...columns: readonly string[]): void {
  say(`| ${columns.join(' | ')} |`)
}

/** Returns the values of each figure, one for each seed. */
function simulate(assumptions: Assumptions, seeds: number): Simulated {
  const values = new Map<string, number[]>()
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1)
    for (const [name, value] of figuresOf(seed, assumptions)) values.set(name, [...(values.get(name) ?? []), value])
  return values
}

function drawCells(assumptions: Assumptions) {
  const workspaces = drawWorkspaces(firstSeed, assumptions)
  const { cells } = assumptions
  return sumCells(
    workspaces,
    placeWorkspaces(firstSeed, workspaces, { placement: 'largest moved', cells }),
    assumptions,
  )
}

function formatSpread(values: readonly number[]): string {
  const [middle, low, high] = [0.5, 0.05, 0.95].map((share) => format(quantile(values, share)))
  return low === high ? `${middle}` : `${middle} (${low} to ${high})`
}

/** Rounds to two or three digits: nothing here is more exact. */
function format(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const rounded = Math.abs(value) >= 1_000 ? Number(value.toPrecision(3)) : Number(value.toFixed(digits))
  return rounded.toLocaleString('en-US')
}
