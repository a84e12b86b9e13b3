import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTimeZone } from './time-zone.ts'

test('a time is written as people read it in the zone, also on the day when the clocks change', () => {
  const rows: readonly (readonly [zone: string, iso: string, text: string])[] = [
    ['UTC', '2026-10-31T23:59:59.999Z', '2026-10-31 23:59:59'],
    ['UTC', '2026-11-01T00:00:00.000Z', '2026-11-01 00:00:00'],
    ['America/Los_Angeles', '2026-11-01T06:57:52.000Z', '2026-10-31 23:57:52'],
    ['America/Los_Angeles', '2026-11-01T09:30:00.000Z', '2026-11-01 01:30:00'],
    ['Europe/Berlin', '2026-10-25T00:30:00.000Z', '2026-10-25 02:30:00'],
    ['Europe/Berlin', '2026-10-25T01:30:00.000Z', '2026-10-25 02:30:00'],
    ['Asia/Kathmandu', '2026-01-01T00:00:00.000Z', '2026-01-01 05:45:00'],
  ]
  for (const [zone, iso, text] of rows) {
    assert.equal(parseTimeZone(zone)?.format(new Date(iso)), text)
    assert.equal(parseTimeZone(zone)?.formatDay(new Date(iso)), text.slice(0, 10))
  }
})

test('a name that is no time zone is refused', () => {
  for (const name of ['', 'Mars/Olympus', '+01:00', 'UTC;x', 'a b']) assert.equal(parseTimeZone(name), null)
})
