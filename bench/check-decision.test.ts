import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CostRound } from './check-cost.ts'
import { estimateCost, findRise, type RecordedCosts } from './check-decision.ts'

const MACHINE = { processor: 'a processor', processors: 2, load: [4, 9, 9] }
const RECORDED: RecordedCosts = { machine: MACHINE, cases: { read: 4 } }

/** A round whose processor time is `ratio` times its floor's. */
function round(ratio: number): CostRound {
  return { serverUs: 60 * ratio, databaseUs: 40 * ratio, serverFloorUs: 70, databaseFloorUs: 30 }
}

function rise(rounds: readonly CostRound[], machine = MACHINE, name = 'read'): string | null {
  return findRise(RECORDED, { name, rounds, machine })
}

describe('the decision of bench:check', () => {
  test('a case that costs what was recorded passes', () => {
    assert.equal(rise([round(4), round(3.9), round(4.1), round(4)]), null)
  })

  test('a case passes if its share of the floor fell by less than a quarter, and fails if it fell by more', () => {
    assert.equal(rise([round(5.3), round(5.3), round(5.3), round(5.3)]), null)
    assert.match(
      rise([round(5.4), round(5.4), round(5.4), round(5.4)]) ?? '',
      /^processor time of read: 5.40 times .*\+35 %/,
    )
  })

  test('a case fails if at least three quarters of its rounds are too slow', () => {
    assert.equal(rise([round(8), round(8), round(4), round(4)]), null)
    assert.match(rise([round(8), round(8), round(8), round(4)]) ?? '', /3 of 4 rounds/)
  })

  test('a machine other than the recorded one may need up to twice as much', () => {
    const rounds = [round(7.9), round(7.9), round(7.9), round(7.9)]
    assert.equal(rise(rounds, { ...MACHINE, processors: 64 }), null)
    assert.notEqual(rise(rounds), null)
    assert.notEqual(rise([round(8.1)], { ...MACHINE, processor: 'another' }), null)
  })

  test('a busy machine may need up to half more', () => {
    assert.equal(rise([round(5.9)], { ...MACHINE, load: [6.1, 1, 1] }), null)
    assert.notEqual(rise([round(5.9)], { ...MACHINE, load: [6, 9, 9] }), null)
    assert.notEqual(rise([round(6.1)], { ...MACHINE, load: [20, 1, 1] }), null)
  })

  test('a case that was never recorded fails', () => {
    assert.match(rise([round(4)], MACHINE, 'new case') ?? '', /no recorded cost.*--record/)
  })

  test('the cost is the median of the rounds', () => {
    assert.equal(estimateCost([round(2), round(4), round(9)]), 4)
    assert.equal(estimateCost([round(2), round(4)]), 3)
  })
})
