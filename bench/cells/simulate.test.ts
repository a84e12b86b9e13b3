import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASSUMPTIONS, type Assumptions } from './assumptions.ts'
import { addUses, usesOfCell, WAYS } from './chain-calls.ts'
import { figuresOf, usesOfCells } from './figures.ts'
import { drawWorkspaces, nodeOf, placeWorkspaces, PLACEMENTS, STANDBYS, sumCells, sumNodes } from './simulate.ts'

const SMALL: Assumptions = { ...ASSUMPTIONS, agents: 20_000, workspaceAgentsMax: 5_000, cells: 12, nodes: 4 }
const SEED = 7

function drawCells(placement: (typeof PLACEMENTS)[number], seed = SEED) {
  const workspaces = drawWorkspaces(seed, SMALL)
  const places = placeWorkspaces(seed, workspaces, { placement, cells: SMALL.cells })
  return { workspaces, cells: sumCells(workspaces, places, SMALL) }
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}

function assertNear(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.abs(expected), `${actual} is not ${expected}`)
}

test('all cells together have all agents, workspaces and payments, however they are placed', () => {
  for (const placement of PLACEMENTS) {
    const { workspaces, cells } = drawCells(placement)
    assert.equal(sum(cells.map(({ agents }) => agents)), SMALL.agents)
    assert.equal(sum(cells.map((cell) => cell.workspaces)), workspaces.agents.length)
    assertNear(sum(cells.map(({ paymentsPerDay }) => paymentsPerDay)), sum(workspaces.paymentsPerDay))
  }
})

test('moving the largest workspaces leaves the busiest cell with less', () => {
  const [random, moved] = PLACEMENTS.map((placement) =>
    Math.max(...drawCells(placement).cells.map(({ paymentsPerDay }) => paymentsPerDay)),
  )
  assert.ok(random !== undefined && moved !== undefined && moved < random)
})

test('the same seed gives the same figures, and another seed gives others', () => {
  assert.deepEqual(figuresOf(SEED, SMALL), figuresOf(SEED, SMALL))
  assert.notDeepEqual(figuresOf(SEED, SMALL), figuresOf(SEED + 1, SMALL))
})

test('a lost node loses all that it had, and the nodes of its standbys gain exactly that', () => {
  const payments = drawCells('at random').cells.map(({ paymentsPerDay }) => paymentsPerDay)
  const { nodes } = SMALL
  for (const standby of STANDBYS) {
    const before = sumNodes(payments, { nodes, standby })
    for (let lost = 0; lost < nodes; lost += 1) {
      const after = sumNodes(payments, { nodes, standby, lost })
      const gains = after.map((load, node) => load - (before[node] ?? 0)).filter((_, node) => node !== lost)
      assert.equal(after[lost], 0)
      assertNear(sum(gains), before[lost] ?? Number.NaN)
      assert.equal(gains.filter((gain) => gain > 0).length, standby === 'server' ? 1 : nodes - 1)
    }
  }
  assert.deepEqual(
    [0, 4, 11].map((cell) => nodeOf(cell, nodes)),
    [0, 0, 3],
  )
})

test('the calls of a cell without payments are those that were counted, and one follower for all cells asks less', () => {
  // `npm run bench:cell` counted 35 calls in a second with 4,000 wallets. Nobody asked for `/readyz` then.
  const follower = { wallets: 4_000, paymentsPerSecond: 0, transfersPerBlock: 300 }
  const { readiness, ...others } = usesOfCell(follower, 'today', SMALL)
  assert.equal(readiness?.calls, 2)
  assert.equal(addUses(Object.values(others)).calls.toFixed(1), '36.6')
  const { cells } = drawCells('at random')
  const [today = 0, withoutRepeats = 0, oneFollower = 0] = WAYS.map(
    (way) => addUses(Object.values(usesOfCells(cells, way, SMALL))).calls,
  )
  assert.ok(oneFollower < withoutRepeats && withoutRepeats < today)
})
