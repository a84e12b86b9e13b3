import type { Assumptions } from './assumptions.ts'
import { MEASURED } from './measured.ts'
import { createRandom, drawNormal } from './random.ts'

/**
 * How workspaces get into cells:
 * - `at random`: a workspace is created in any cell, because nobody knows how large it will be.
 * - `largest moved`: the same, but the largest workspaces were moved afterwards, each to the cell with the least load.
 */
export const PLACEMENTS = ['at random', 'largest moved'] as const
export type Placement = (typeof PLACEMENTS)[number]
/** How many workspaces are moved: about one in a thousand. */
const MOVED = 1_000

/**
 * What takes over when a node is lost:
 * - `server`: the node has one PostgreSQL server with all its cells. Its standby is on the next node.
 * - `cells`: each cell has a PostgreSQL server of its own. The standbys of a node's cells are on different nodes.
 */
export const STANDBYS = ['server', 'cells'] as const
export type Standby = (typeof STANDBYS)[number]

/** One entry for each workspace. There are about a million, so these are typed arrays. */
export interface Workspaces {
  readonly agents: Float64Array
  readonly paymentsPerDay: Float64Array
}

export interface Cell {
  readonly workspaces: number
  readonly agents: number
  readonly wallets: number
  readonly paymentsPerDay: number
}

/** What a cell needs in the busiest minute. */
export interface CellLoad {
  /** Processors that the processes and PostgreSQL keep busy. */
  readonly service: number
  readonly database: number
}

/** Draws workspaces until they have all agents. The last one gets what is left. */
export function drawWorkspaces(seed: number, assumptions: Assumptions): Workspaces {
  const { agents: wanted, sizeExponent, workspaceAgentsMax, paymentsPerAgentDay, activitySpread } = assumptions
  const random = createRandom(seed)
  // So that the mean of the log-normal distribution is the mean that was asked for.
  const logMean = Math.log(paymentsPerAgentDay) - activitySpread ** 2 / 2
  const agents = new Float64Array(wanted)
  const paymentsPerDay = new Float64Array(wanted)
  let count = 0
  for (let left = wanted; left > 0; count += 1) {
    const size = Math.min(Math.floor((1 - random()) ** (-1 / sizeExponent)), workspaceAgentsMax, left)
    agents[count] = size
    paymentsPerDay[count] = size * Math.exp(logMean + activitySpread * drawNormal(random))
    left -= size
  }
  return { agents: agents.slice(0, count), paymentsPerDay: paymentsPerDay.slice(0, count) }
}

/** Returns the cell of each workspace. */
export function placeWorkspaces(
  seed: number,
  { paymentsPerDay }: Workspaces,
  { placement, cells }: { placement: Placement; cells: number },
): Uint32Array {
  const random = createRandom(seed)
  const places = new Uint32Array(paymentsPerDay.length)
  const loads = new Float64Array(cells)
  const add = (cell: number, load: number): void => void (loads[cell] = (loads[cell] ?? 0) + load)
  for (let index = 0; index < places.length; index += 1) {
    const cell = Math.floor(random() * cells)
    places[index] = cell
    add(cell, paymentsPerDay[index] ?? 0)
  }
  if (placement === 'at random') return places
  const largest = listLargest(paymentsPerDay, MOVED)
  for (const { index, load } of largest) add(places[index] ?? 0, -load)
  for (const { index, load } of largest) {
    const cell = loads.indexOf(Math.min(...loads))
    places[index] = cell
    add(cell, load)
  }
  return places
}

export function sumCells(
  { agents, paymentsPerDay }: Workspaces,
  places: Uint32Array,
  { cells, agentsPerWallet }: Pick<Assumptions, 'cells' | 'agentsPerWallet'>,
): Cell[] {
  const sums = Array.from({ length: cells }, () => ({ workspaces: 0, agents: 0, wallets: 0, paymentsPerDay: 0 }))
  for (const [index, place] of places.entries()) {
    const sum = sums[place]
    if (sum === undefined) throw new RangeError(`there is no cell ${place}`)
    const size = agents[index] ?? 0
    sum.workspaces += 1
    sum.agents += size
    sum.wallets += Math.ceil(size / agentsPerWallet)
    sum.paymentsPerDay += paymentsPerDay[index] ?? 0
  }
  return sums
}

/** Returns the workspaces with the highest loads, the highest first. */
function listLargest(loads: Float64Array, count: number): { readonly index: number; readonly load: number }[] {
  const least = loads.toSorted().at(-count) ?? 0
  const largest: { index: number; load: number }[] = []
  for (let index = 0; index < loads.length; index += 1) {
    const load = loads[index] ?? 0
    if (load >= least) largest.push({ index, load })
  }
  return largest.toSorted((a, b) => b.load - a.load)
}

/**
 * The processors that payments keep busy in the busiest minute, with their reads and webhooks. With few payments, each of
 * them has statements and transactions of its own.
 */
export function loadOfPayments(
  paymentsPerDay: number,
  { peakFactor, readsPerPayment, deliveriesPerPayment, gatheredFrom }: Assumptions,
): CellLoad {
  const perSecond = (paymentsPerDay / SECONDS_PER_DAY) * peakFactor
  const { read, delivery } = MEASURED
  const payment = perSecond < gatheredFrom ? MEASURED.payment : MEASURED.gatheredPayment
  const loadOf = (part: 'serviceUs' | 'databaseUs'): number =>
    (perSecond * (payment[part] + readsPerPayment * read[part] + deliveriesPerPayment * delivery[part])) / 1e6
  return { service: loadOf('serviceUs'), database: loadOf('databaseUs') }
}

/** What a cell needs: its payments, and what each cell needs even without any: its processes, their jobs, the chains. */
export function loadOfCell({ paymentsPerDay }: Cell, assumptions: Assumptions): CellLoad {
  const { service, database } = loadOfPayments(paymentsPerDay, assumptions)
  const { jobs, idleProcess } = MEASURED
  const others = assumptions.processesPerCell - 1
  return {
    service: service + (jobs.serviceUs + others * idleProcess.serviceUs) / 1e6,
    database: database + (jobs.databaseUs + others * idleProcess.databaseUs) / 1e6,
  }
}

/** Cells are spread over the nodes in turn. */
export function nodeOf(cell: number, nodes: number): number {
  return cell % nodes
}

function standbyOf(cell: number, { nodes, standby }: { nodes: number; standby: Standby }): number {
  const distance = standby === 'server' ? 1 : 1 + (Math.floor(cell / nodes) % (nodes - 1))
  return (nodeOf(cell, nodes) + distance) % nodes
}

/** Adds up values of cells by their nodes. If a node is lost, each of its cells is on the node of its standby. */
export function sumNodes(
  values: readonly number[],
  { nodes, standby, lost = null }: { nodes: number; standby: Standby; lost?: number | null },
): number[] {
  const sums = Array.from({ length: nodes }, () => 0)
  for (const [cell, value] of values.entries()) {
    const node = nodeOf(cell, nodes) === lost ? standbyOf(cell, { nodes, standby }) : nodeOf(cell, nodes)
    sums[node] = (sums[node] ?? 0) + value
  }
  return sums
}

export const SECONDS_PER_DAY = 86_400
