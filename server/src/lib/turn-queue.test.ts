import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TurnQueue } from './turn-queue.ts'

describe('a queue in which groups take turns', () => {
  test('a group with one item waits for one item of each other group, however many these have', () => {
    const queue = new TurnQueue<string>()
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) queue.push(item.charAt(0), item)
    const taken = Array.from({ length: 8 }, () => queue.take())
    assert.deepEqual(taken, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', undefined])
    assert.equal(queue.size, 0)
  })

  test('the parts of a group take turns in its turns, also if one comes later', () => {
    const queue = new TurnQueue<string>()
    const push = (group: string, ...items: string[]) => items.forEach((item) => queue.push(group, item, item.charAt(0)))
    push('ab', 'a1', 'a2', 'a3', 'b1')
    push('c', 'c1', 'c2', 'c3')
    assert.deepEqual([queue.take(), queue.take(), queue.take()], ['a1', 'c1', 'b1'])
    push('ab', 'b2', 'a4')
    const rest = Array.from({ length: queue.size }, () => queue.take())
    assert.deepEqual(rest, ['c2', 'a2', 'c3', 'b2', 'a3', 'a4'])
  })

  test('a group that is skipped keeps its turn', () => {
    const queue = new TurnQueue<string>()
    for (const item of ['a1', 'b1', 'b2']) queue.push(item.charAt(0), item)
    assert.equal(
      queue.take((group) => group !== 'a'),
      'b1',
    )
    assert.equal(queue.take(), 'a1')
    assert.deepEqual([queue.size, queue.sizeOf('b'), queue.sizeOf('a')], [1, 1, 0])
  })

  test('an item that is removed is never taken', () => {
    const queue = new TurnQueue<string>()
    for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item)
    assert.deepEqual([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('b', 'b1')], [true, false, true])
    assert.deepEqual([queue.take(), queue.take(), queue.size], ['a2', undefined, 0])
  })
})
