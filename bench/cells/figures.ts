import type { Assumptions } from './assumptions.ts'
import { addUses, useOfFollower, usesOfCell, type ChainUse, type Way } from './chain-calls.ts'
import { MEASURED } from './measured.ts'
import {
  drawWorkspaces,
  loadOfCell,
  loadOfPayments,
  nodeOf,
  placeWorkspaces,
  PLACEMENTS,
  SECONDS_PER_DAY,
  STANDBYS,
  sumCells,
  sumNodes,
  type Cell,
  type Workspaces,
} from './simulate.ts'

const GB = 1e9
const DAYS_PER_YEAR = 365
const DAYS_OF_EVENTS = 30
/** What a network and a disk copy in a second while a standby is made. Assumed, not measured. */
const COPIED_BYTES_PER_SECOND = 100e6
/** `DATABASE_CONNECTIONS`, and nine more (the page "Several processes"). */
const CONNECTIONS_PER_PROCESS = 19
/** `payment.created` and `payment.confirmed`. */
const EVENTS_PER_PAYMENT = 2

/** Returns all figures of one seed, by their names. */
export function figuresOf(seed: number, assumptions: Assumptions): ReadonlyMap<string, number> {
  const workspaces = drawWorkspaces(seed, assumptions)
  const [random, moved] = PLACEMENTS.map((placement) =>
    sumCells(workspaces, placeWorkspaces(seed, workspaces, { placement, cells: assumptions.cells }), assumptions),
  )
  if (random === undefined || moved === undefined) throw new Error('there are two placements')
  return new Map([
    ...figuresOfWorkspaces(workspaces, assumptions),
    ...figuresOfLoad(random, moved, assumptions),
    ...figuresOfDisk(moved, assumptions),
    ...figuresOfMoves(workspaces, moved),
    ...figuresOfLoss(moved, assumptions),
    ...figuresOfRouter(moved, assumptions),
    ...figuresOfCalls(moved, assumptions),
  ])
}

type Figure = readonly [name: string, value: number]

function figuresOfWorkspaces(workspaces: Workspaces, assumptions: Assumptions): Figure[] {
  const { cells, nodes, processorsPerNode, busyShareMax } = assumptions
  const perDay = workspaces.paymentsPerDay
  const total = sum(perDay)
  const largest = maxOf(perDay)
  const { service, database: largestDatabase } = loadOfPayments(largest, assumptions)
  const limit = processorsPerNode * busyShareMax
  const isTooLarge = (one: number): boolean => one * largestDatabase > limit * largest
  return [
    ['workspaces', perDay.length],
    ['agents of the largest workspace', maxOf(workspaces.agents)],
    ['payments in a second, mean of the day', total / SECONDS_PER_DAY],
    ['payments in a second, busiest minute', (total / SECONDS_PER_DAY) * assumptions.peakFactor],
    ['the busiest workspace, share of all payments, %', (largest / total) * 100],
    ['the busiest workspace, processors: processes', service],
    ['the busiest workspace, processors: PostgreSQL', largestDatabase],
    ['workspaces that need more than the mean of a cell', countOf(perDay, (one) => one > total / cells)],
    ['workspaces that need more than the mean of a node', countOf(perDay, (one) => one > total / nodes)],
    [`workspaces whose PostgreSQL needs more than ${limit.toFixed(1)} processors`, countOf(perDay, isTooLarge)],
  ]
}

function figuresOfLoad(random: readonly Cell[], moved: readonly Cell[], assumptions: Assumptions): Figure[] {
  const { nodes, cells, processesPerCell } = assumptions
  const idle = loadOfCell({ workspaces: 0, agents: 0, wallets: 0, paymentsPerDay: 0 }, assumptions)
  const total = sum(loadsOf(moved, assumptions))
  const busiest = (some: readonly Cell[]): number =>
    maxOf(sumNodes(loadsOf(some, assumptions), { nodes, standby: 'server' }))
  const fullest = (some: readonly Cell[]): number => maxOf(some.map(({ paymentsPerDay }) => paymentsPerDay))
  const mean = sum(moved.map(({ paymentsPerDay }) => paymentsPerDay)) / cells
  return [
    ['processors of all nodes', total],
    ['of these, what cells need without payments, %', (((idle.service + idle.database) * cells) / total) * 100],
    ['processors of a node, mean', total / nodes],
    ['processors of the busiest node, placed at random', busiest(random)],
    ['processors of the busiest node, largest moved', busiest(moved)],
    ['the busiest cell, as a multiple of the mean, placed at random', fullest(random) / mean],
    ['the busiest cell, as a multiple of the mean, largest moved', fullest(moved) / mean],
    ['database connections of a node', (cells / nodes) * processesPerCell * CONNECTIONS_PER_PROCESS],
  ]
}

function figuresOfDisk(cells: readonly Cell[], { nodes }: Assumptions): Figure[] {
  const { bytesKept, walBytes, idleWalBytes } = MEASURED
  const spread = { nodes, standby: 'server' } as const
  const perDay = cells.map(({ paymentsPerDay }) => paymentsPerDay)
  const nodesPerDay = sumNodes(perDay, spread)
  const wal = perDay.map((payments) => payments * walBytes + idleWalBytes * SECONDS_PER_DAY)
  const [nodeMean, cellMean] = [sum(perDay) / nodes, sum(perDay) / cells.length]
  return [
    ['disk of a node that is kept, GB a day, mean', (nodeMean * bytesKept) / GB],
    ['disk of a node that is kept, GB a day, fullest', (maxOf(nodesPerDay) * bytesKept) / GB],
    ['database of a cell after a year, GB, mean', bytesAfterYear(cellMean) / GB],
    ['database of a cell after a year, GB, fullest', bytesAfterYear(maxOf(perDay)) / GB],
    ['write-ahead log of a node, GB a day, mean', sum(wal) / nodes / GB],
    ['write-ahead log of a node, GB a day, fullest', maxOf(sumNodes(wal, spread)) / GB],
    [
      'of the write-ahead log, what cells write without payments, %',
      ((idleWalBytes * SECONDS_PER_DAY * cells.length) / sum(wal)) * 100,
    ],
  ]
}

/** A cell moves as a copy of its files. A workspace moves row by row: its payments, and the events of 30 days. */
function figuresOfMoves({ paymentsPerDay }: Workspaces, cells: readonly Cell[]): Figure[] {
  const hours = (payments: number): number => bytesAfterYear(payments) / COPIED_BYTES_PER_SECOND / 3_600
  const rows = DAYS_PER_YEAR + EVENTS_PER_PAYMENT * DAYS_OF_EVENTS
  const seconds = (payments: number): number => (payments * rows) / MEASURED.movedRowsPerSecond
  const sorted = paymentsPerDay.toSorted()
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const ofCells = cells.map((cell) => cell.paymentsPerDay)
  return [
    ['a cell copied to another node after a year, hours, mean', hours(sum(ofCells) / cells.length)],
    ['a cell copied to another node after a year, hours, fullest', hours(maxOf(ofCells))],
    ['a workspace moved after a year, seconds, median workspace', seconds(at(0.5))],
    ['a workspace moved after a year, minutes, 1 of 1,000 has more', seconds(at(0.999)) / 60],
    ['a workspace moved after a year, days, busiest workspace', seconds(maxOf(sorted)) / SECONDS_PER_DAY],
  ]
}

function bytesAfterYear(paymentsPerDay: number): number {
  const { bytesKept, bytesOf30Days } = MEASURED
  return paymentsPerDay * (bytesKept * DAYS_PER_YEAR + bytesOf30Days * DAYS_OF_EVENTS)
}

/** What happens when one node is lost, for the node whose loss is the worst. */
function figuresOfLoss(cells: readonly Cell[], assumptions: Assumptions): Figure[] {
  const { nodes } = assumptions
  const loads = loadsOf(cells, assumptions)
  const counts = cells.map(({ workspaces }) => workspaces)
  const away = Array.from({ length: nodes }, (_, lost) => shareOf(counts, (cell) => nodeOf(cell, nodes) === lost))
  const payments = cells.map(({ paymentsPerDay }) => paymentsPerDay)
  const unpaid = Array.from({ length: nodes }, (_, lost) => shareOf(payments, (cell) => nodeOf(cell, nodes) === lost))
  return [
    ['a node lost: workspaces that are away, %, worst node', maxOf(away) * 100],
    ['a node lost: payments that are away, %, worst node', maxOf(unpaid) * 100],
    ...STANDBYS.map((standby): Figure => {
      const after = Array.from({ length: nodes }, (_, lost) => maxOf(sumNodes(loads, { nodes, standby, lost })))
      const name = standby === 'server' ? 'one standby for each node' : 'standbys of its cells on different nodes'
      return [`a node lost: processors of the busiest node then, ${name}`, maxOf(after)]
    }),
  ]
}

function figuresOfRouter(cells: readonly Cell[], { peakFactor, readsPerPayment }: Assumptions): Figure[] {
  const perSecond = (sum(cells.map(({ paymentsPerDay }) => paymentsPerDay)) / SECONDS_PER_DAY) * peakFactor
  const requests = perSecond * (1 + readsPerPayment)
  return [
    ['router: requests in a second, busiest minute', requests],
    ['router: processors, busiest minute', (requests * MEASURED.routerUs) / 1e6],
  ]
}

function figuresOfCalls(cells: readonly Cell[], assumptions: Assumptions): Figure[] {
  const name = { today: 'today', 'without repeats': 'without repeats', 'one follower': 'one follower' } as const
  return (Object.keys(name) as Way[]).flatMap((way): Figure[] => {
    const { calls, requests, logBytes } = addUses(Object.values(usesOfCells(cells, way, assumptions)))
    return [
      [`calls to both chains in a second, ${way}`, calls],
      [`HTTP requests to nodes in a second, ${way}`, requests],
      [`logs from nodes, GB a day, ${way}`, (logBytes * SECONDS_PER_DAY) / GB],
    ]
  })
}

/** What all cells together ask the nodes of both chains for, by purpose, over a whole day. */
export function usesOfCells(cells: readonly Cell[], way: Way, assumptions: Assumptions): Record<string, ChainUse> {
  const { transfersPerBlock, testWallets } = assumptions
  const uses = new Map<string, ChainUse>()
  const add = (purpose: string, use: ChainUse): void => {
    uses.set(purpose, addUses([uses.get(purpose) ?? { calls: 0, requests: 0, logBytes: 0 }, use]))
  }
  for (const { wallets, paymentsPerDay } of cells) {
    const followers = [
      { wallets, paymentsPerSecond: paymentsPerDay / SECONDS_PER_DAY, transfersPerBlock: transfersPerBlock.live },
      { wallets: wallets * testWallets, paymentsPerSecond: 0, transfersPerBlock: transfersPerBlock.test },
    ]
    for (const follower of followers)
      for (const [purpose, use] of Object.entries(usesOfCell(follower, way, assumptions))) add(purpose, use)
  }
  if (way === 'one follower')
    for (const transfers of Object.values(transfersPerBlock)) add('the follower', useOfFollower(transfers, assumptions))
  return Object.fromEntries(uses)
}

/** The processors that each cell keeps busy in the busiest minute. */
function loadsOf(cells: readonly Cell[], assumptions: Assumptions): number[] {
  return cells.map((cell) => {
    const { service, database } = loadOfCell(cell, assumptions)
    return service + database
  })
}

function shareOf(values: readonly number[], isCounted: (index: number) => boolean): number {
  return sum(values.filter((_, index) => isCounted(index))) / sum(values)
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}

/** Not `Math.max(...values)`: a million arguments are too many. */
function maxOf(values: Iterable<number>): number {
  let most = -Infinity
  for (const value of values) if (value > most) most = value
  return most
}

function countOf(values: Iterable<number>, isCounted: (value: number) => boolean): number {
  let count = 0
  for (const value of values) if (isCounted(value)) count += 1
  return count
}
