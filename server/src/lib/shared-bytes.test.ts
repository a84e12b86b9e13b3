import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SharedBytes } from './shared-bytes.ts'

const BYTES_MAX = 100
const GROUPS = 4

describe('shared bytes', () => {
  test('the group that holds most loses its oldest holder', () => {
    const bytes = new SharedBytes(BYTES_MAX)
    const ended: string[] = []
    const hold = (group: string, size: number, name: string) => bytes.hold(group, size, () => ended.push(name))
    const first = hold('a', 30, 'a1')
    hold('a', 30, 'a2')
    hold('b', 40, 'b1')
    assert.deepEqual([ended, bytes.bytes], [[], 100])
    hold('c', 10, 'c1')
    assert.deepEqual([ended, bytes.bytes], [['a1'], 80])
    first.release()
    first.grow(50)
    assert.equal(bytes.bytes, 80, 'a holder that has ended counts no more')
  })

  test('a holder that is larger than everything ends at once', () => {
    const bytes = new SharedBytes(BYTES_MAX)
    let ended = 0
    bytes.hold('a', BYTES_MAX + 1, () => (ended += 1)).release()
    assert.deepEqual([ended, bytes.bytes], [1, 0])
  })

  test('never keeps more than the most, and a group with less than its equal share loses nothing', () => {
    const step = fc.record({ group: fc.integer({ min: 1, max: GROUPS }), size: fc.integer({ min: 1, max: BYTES_MAX }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bytes = new SharedBytes(BYTES_MAX)
        const held = new Set<{ readonly group: number; readonly size: number }>()
        for (const one of steps) {
          held.add(one)
          bytes.hold(String(one.group), one.size, () => {
            const ofGroup = [...held].filter(({ group }) => group === one.group)
            assert.equal(ofGroup[0], one, 'the oldest')
            assert.ok(ofGroup.reduce((sum, { size }) => sum + size, 0) > BYTES_MAX / GROUPS)
            held.delete(one)
          })
          assert.equal(
            bytes.bytes,
            [...held].reduce((sum, { size }) => sum + size, 0),
          )
          assert.ok(bytes.bytes <= BYTES_MAX)
        }
      }),
    )
  })
})
