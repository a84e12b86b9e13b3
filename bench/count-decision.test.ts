import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findRisenCounts, type Counts, type RecordedCounts } from './count-decision.ts'

const COUNTS: Counts = { writes: 3, sentBytes: 2_000, receivedBytes: 1_000, walBytes: 4_000 }
const RECORDED: RecordedCounts = { read: COUNTS }

describe('the decision of bench:counts', () => {
  test('a case passes if its counts are as recorded, or lower', () => {
    assert.deepEqual(find([COUNTS]), [])
    assert.deepEqual(find([{ writes: 1, sentBytes: 1, receivedBytes: 1, walBytes: 0 }]), [])
  })

  test('one more write for each request fails, and less than half a write does not', () => {
    assert.match(find([{ ...COUNTS, writes: 4 }])[0] ?? '', /read: 4\.0 writes to sockets .* recorded 3\.0/)
    assert.deepEqual(find([{ ...COUNTS, writes: 3.5 }]), [])
  })

  test('a tenth more bytes on the wire pass, and more fail', () => {
    assert.deepEqual(find([{ ...COUNTS, sentBytes: 2_200, receivedBytes: 1_100 }]), [])
    assert.equal(find([{ ...COUNTS, sentBytes: 2_201, receivedBytes: 1_101 }]).length, 2)
  })

  test("a quarter more in PostgreSQL's log passes, and more fails", () => {
    assert.deepEqual(find([{ ...COUNTS, walBytes: 5_000 }]), [])
    assert.equal(find([{ ...COUNTS, walBytes: 5_001 }]).length, 1)
  })

  test('small counts may rise by a few bytes, because some work is done for several requests at once', () => {
    const small = { read: { ...COUNTS, walBytes: 10 } }
    assert.deepEqual(findRisenCounts(small, 'read', [{ ...COUNTS, walBytes: 110 }]), [])
    assert.equal(findRisenCounts(small, 'read', [{ ...COUNTS, walBytes: 111 }]).length, 1)
  })

  test('the lowest round of each count decides, because other work only adds to it', () => {
    assert.deepEqual(
      find([
        { ...COUNTS, writes: 9 },
        { ...COUNTS, walBytes: 90_000 },
      ]),
      [],
    )
  })

  test('a case that was never recorded fails', () => {
    assert.match(findRisenCounts(RECORDED, 'new case', [COUNTS])[0] ?? '', /no recorded counts.*--record/)
  })

  function find(rounds: readonly Counts[]): string[] {
    return findRisenCounts(RECORDED, 'read', rounds)
  }
})
