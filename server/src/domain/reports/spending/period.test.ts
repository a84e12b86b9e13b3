import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDay, isZone, openZoneClock } from './calendar.ts'
import { periodOf, type PeriodName } from './period.ts'

const NOW = new Date('2026-11-28T09:30:00Z')

describe('a calendar period', () => {
  const cases: readonly (readonly [PeriodName, string, string, string, string])[] = [
    ['today', '2026-11-28', '2026-11-28', '2026-11-27', '2026-11-27'],
    ['this_week', '2026-11-23', '2026-11-29', '2026-11-16', '2026-11-21'],
    ['this_month', '2026-11-01', '2026-11-30', '2026-10-01', '2026-10-28'],
    ['last_month', '2026-10-01', '2026-10-31', '2026-09-01', '2026-09-30'],
  ]
  for (const [name, from, to, previousFrom, previousTo] of cases) {
    test(`${name} has whole days, and the period before has as many as have passed`, () => {
      const { days, previous } = periodOf({ name, days: null, zone: 'UTC' }, NOW)
      assert.deepEqual(
        [days, previous.days],
        [
          { from, to },
          { from: previousFrom, to: previousTo },
        ],
      )
    })
  }

  test('the days that a reader picks are compared with as many days before them', () => {
    const days = { from: '2026-03-10', to: '2026-03-16' }
    const { bars, previous } = periodOf({ name: 'custom', days, zone: 'UTC' }, NOW)
    assert.equal(bars.length, 7)
    assert.deepEqual(previous.days, { from: '2026-03-03', to: '2026-03-09' })
  })

  test('at the end of a long month, the shorter month before is compared whole', () => {
    const { previous } = periodOf({ name: 'this_month', days: null, zone: 'UTC' }, new Date('2026-03-30T12:00:00Z'))
    assert.deepEqual(previous.days, { from: '2026-02-01', to: '2026-02-28' })
  })

  test('the day is the reader’s day, and a day begins when it begins there', () => {
    const late = new Date('2026-11-30T20:00:00Z')
    const there = periodOf({ name: 'this_month', days: null, zone: 'Asia/Kolkata' }, late)
    assert.deepEqual(there.days, { from: '2026-12-01', to: '2026-12-31' })
    assert.deepEqual(there.bars[0], new Date('2026-11-30T18:30:00Z'))
    const elsewhere = periodOf({ name: 'this_month', days: null, zone: 'America/Los_Angeles' }, late)
    assert.deepEqual(elsewhere.days, { from: '2026-11-01', to: '2026-11-30' })
    // The clocks went back on 1 November.
    assert.deepEqual(elsewhere.bars.slice(0, 2), [new Date('2026-11-01T07:00:00Z'), new Date('2026-11-02T08:00:00Z')])
    assert.deepEqual(elsewhere.end, new Date('2026-12-01T08:00:00Z'))
  })

  test('a single day has a bar for each of its hours, also when it has 23 or 25', () => {
    const hours = (day: string) =>
      periodOf({ name: 'custom', days: { from: day, to: day }, zone: 'Europe/Berlin' }, NOW).bars.length
    assert.deepEqual(['2026-03-29', '2026-10-24', '2026-10-25'].map(hours), [23, 24, 25])
  })
})

describe('the start of a day', () => {
  const cases = [
    ['Asia/Kathmandu', '2026-06-01', '2026-05-31T18:15:00.000Z'],
    ['Australia/Lord_Howe', '2026-06-01', '2026-05-31T13:30:00.000Z'],
    ['Pacific/Apia', '2026-06-01', '2026-05-31T11:00:00.000Z'],
    // There is no midnight: the clocks go from 23:59:59 to 01:00.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    // There are two midnights.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  ] as const
  for (const [zone, day, start] of cases) {
    test(`is known in ${zone}`, () => {
      const clock = openZoneClock(zone)
      const at = clock.startOf(day)
      assert.equal(at.toISOString(), start)
      assert.equal(clock.dayOf(at), day)
      assert.notEqual(clock.dayOf(new Date(at.getTime() - 1)), day)
    })
  }
})

test('zones and days that do not exist are not accepted', () => {
  assert.deepEqual(['Europe/Berlin', 'UTC', 'Mars/Olympus', '', 'a\0b'].map(isZone), [true, true, false, false, false])
  assert.deepEqual(['2028-02-29', '2026-02-29', '2026-13-01', '26-1-1', ''].map(isDay), [
    true,
    ...[false, false, false, false],
  ])
})
