import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createId, idBoundary, isId, timeOfId } from './ids.ts'

const times = fc.date({ min: new Date('2020-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })

describe('ids', () => {
  test('an id has exactly one kind', () => {
    const id = createId('payment', new Date(0))
    assert.match(id, /^pay_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.ok(isId('payment', id))
    assert.ok(!isId('grant', id))
  })

  test('ids sort by their times', () => {
    fc.assert(
      fc.property(times, times, (left, right) => {
        fc.pre(left.getTime() !== right.getTime())
        assert.equal(createId('payment', left) < createId('payment', right), left < right)
      }),
    )
  })

  test('a boundary sorts below ids of the same time or later, and above earlier ids', () => {
    fc.assert(
      fc.property(times, times, (left, right) => {
        assert.equal(createId('event', left) > idBoundary('event', right), left >= right)
      }),
    )
    assert.equal(idBoundary('event', new Date('0001-01-01')), idBoundary('event', new Date(0)))
  })

  test('an id contains the time of its creation', () => {
    fc.assert(
      fc.property(times, (time) => {
        assert.deepEqual(timeOfId('payment', createId('payment', time)), time)
      }),
    )
  })

  test('ids that are created at the same moment are all different', () => {
    const now = new Date('2026-01-01')
    assert.equal(new Set(Array.from({ length: 10_000 }, () => createId('event', now))).size, 10_000)
  })

  test('a text that cannot be an id is recognized', () => {
    const id = createId('payment', new Date(0))
    const others = [
      id.toLowerCase(),
      id.slice(0, -1),
      `${id}0`,
      id.slice(4),
      `${id.slice(0, -1)}I`,
      `${id}\n`,
      '',
      'pay_',
    ]
    for (const text of others) assert.ok(!isId('payment', text), text)
  })
})
