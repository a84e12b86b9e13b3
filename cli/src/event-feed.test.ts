import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Event } from 'bursar'
import { OVERLAP_MS, SeenEvents } from './event-feed.ts'

const START = Date.parse('2026-11-23T12:00:00.000Z')

function eventAt(id: string, ms: number): Event {
  return { id, created_at: new Date(START + ms).toISOString() } as Event
}

describe('events that were seen', () => {
  test('each event comes once, oldest first, by time and then by id', () => {
    const seen = new SeenEvents(new Date(START))
    const first = seen.take([eventAt('c', 5), eventAt('b', 1), eventAt('a', 5)])
    assert.deepEqual(
      first.map(({ id }) => id),
      ['b', 'a', 'c'],
    )
    const second = seen.take([eventAt('d', 9), eventAt('c', 5), eventAt('b', 1), eventAt('a', 5)])
    assert.deepEqual(
      second.map(({ id }) => id),
      ['d'],
    )
  })

  test('an event that appears late, behind newer ones, still comes', () => {
    const seen = new SeenEvents(new Date(START))
    seen.take([eventAt('new', OVERLAP_MS + 1_000)])
    assert.equal(seen.from.getTime(), START + 1_000)
    const late = seen.take([eventAt('new', OVERLAP_MS + 1_000), eventAt('late', 1_000)])
    assert.deepEqual(
      late.map(({ id }) => id),
      ['late'],
    )
  })

  test('what can still be read again is remembered, and the rest is forgotten', () => {
    const seen = new SeenEvents(new Date(START))
    seen.take([eventAt('old', 0)])
    seen.take([eventAt('new', OVERLAP_MS)])
    assert.deepEqual(seen.take([eventAt('old', 0)]), [], 'it is exactly as old as the next look reads')
    seen.take([eventAt('newer', OVERLAP_MS + 1)])
    assert.deepEqual(seen.take([eventAt('old', 0)]).length, 1, 'the next look does not read it any more')
    assert.equal(seen.from.getTime(), START + 1)
  })

  test('without events, the beginning stays where it was', () => {
    const seen = new SeenEvents(new Date(START))
    assert.deepEqual(seen.take([]), [])
    assert.equal(seen.from.getTime(), START)
  })
})
