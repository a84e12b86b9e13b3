import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Creators } from './creators.ts'
import { type FairPlaces, type Ticket } from './fair-places.ts'
import { shareOf } from '../domain/webhooks/places.ts'
import { BYTES, openPools, POOLS, SENDER_PLACES, type PoolName } from './pools.ts'

const SPECIFICATION = new URL('../../../docs/specification.md', import.meta.url)
/** More holders than can hold something in any pool. */
const HOLDERS_MAX = 100

/** Who holds all that they can, while eight others come. Each group is a workspace, or the network of a stranger. */
const ATTACKS = [
  { holders: 1, groups: 1 },
  { holders: 1, groups: 10 },
  { holders: 1, groups: 50 },
  { holders: 9, groups: 9 },
  { holders: 16, groups: 16 },
  { holders: 64, groups: 64 },
] as const
const OTHERS = 8
/** As many as a process may open. */
const CONNECTIONS = 10

const names = Object.keys(POOLS) as PoolName[]

describe('the pools of a process', () => {
  test('are those of the specification, with its sizes and bounds', () => {
    const pools = openPools()
    const rows = names.map((name) => {
      const { placesMax, waitingMax } = POOLS[name]
      const others = 'share' in POOLS[name] ? 'turns' : countOthers(pools[name])
      return [name, placesMax === 0 ? 'configured' : placesMax, waitingMax, others].map((cell) => format(cell))
    })
    assert.deepEqual(readTable(), rows)
  })

  test('and so are the bytes and the attempts of the webhook sender', () => {
    const bytes = Object.entries(BYTES).map(([name, size]) => [name, `${size / 1_024 / 1_024} MiB`, 'any'])
    const attempts = Object.entries(SENDER_PLACES).map(([name, size]) => [name, `${size}`, `${countOthersOf(size)}`])
    const rows = readCells('name').map((cells) => [cells[1]?.replaceAll('`', ''), cells[3], cells[4]])
    assert.deepEqual(rows, [...bytes, ...attempts])
  })

  test('the bytes belong to the creators of workspaces, and known credentials and strangers have their own', () => {
    const { creators, arrivingBodies } = openPools({ arrivingBodies: 100 })
    for (const workspace of ['acc_1', 'acc_2', 'acc_3']) creators.remember(workspace, 'usr_1')
    const ended: string[] = []
    const hold = (group: string, size: number) => arrivingBodies.known.hold(group, size, () => ended.push(group))
    arrivingBodies.strangers.hold('192.0.2.1', 100, () => ended.push('192.0.2.1'))
    for (const workspace of ['acc_1', 'acc_2', 'acc_3']) hold(workspace, 20)
    // The other workspace holds more than each of the three, but less than the person who created them.
    hold('acc_4', 30)
    hold('acc_4', 15)
    assert.deepEqual(ended, ['acc_1'])
  })

  test('belong to the creators of workspaces, and to networks', () => {
    const pools = openPools({ purchases: { placesMax: 8 } })
    for (const workspace of ['acc_1', 'acc_2', 'acc_3']) pools.creators.remember(workspace, 'usr_1')
    const states = ['acc_1', 'acc_2', 'acc_3', 'acc_1', 'acc_2'].map(
      (workspace) => pools.purchases.enter(workspace, () => undefined).state,
    )
    assert.deepEqual(states, ['placed', 'placed', 'placed', 'placed', 'rejected'])
    assert.equal(pools.purchases.enter('acc_4', () => undefined).state, 'placed')
  })

  test('a process remembers the creators of the workspaces that were used last', () => {
    const creators = new Creators()
    creators.remember('acc_first', 'usr_1')
    creators.remember('acc_second', 'usr_1')
    creators.remember('acc_operator', null)
    for (let index = 0; index < 9_999; index += 1) {
      creators.remember('acc_first', 'usr_1')
      creators.remember(`acc_${index}`, 'usr_2')
    }
    assert.deepEqual(
      ['acc_first', 'acc_second', 'acc_operator', '192.0.2.1'].map((group) => creators.holderOf(group)),
      ['usr_1', 'acc_second', 'acc_operator', '192.0.2.1'],
    )
  })
})

describe('eight others', () => {
  for (const name of names) {
    for (const attack of ATTACKS) {
      const { holders, groups } = attack
      test(`find places in ${name} while ${holders} with ${groups} workspaces hold all that they can`, (t) => {
        const pools = openPools({ transactions: { placesMax: CONNECTIONS } })
        const pool = pools[name]
        const mayEnd = readMayEnd(name)
        const held: Ticket[] = []
        t.after(() => held.forEach((ticket) => ticket.leave()))
        const enter = (group: string): Ticket => {
          const ticket = pool.enter(group, () => undefined, mayEnd ? { end: () => undefined } : {})
          held.push(ticket)
          return ticket
        }
        const serveOthers = (): string[] => {
          const tickets = Array.from({ length: OTHERS }, (_, index) => {
            const ticket = enter(`other ${index}`)
            // Without a free place, a newcomer waits for at most one turn of each of those who came before.
            for (let turn = 0; turn <= holders && ticket.state === 'waiting'; turn += 1) {
              held.find(({ state }) => state === 'placed')?.leave()
            }
            const { state } = ticket
            ticket.leave()
            return state
          })
          return tickets
        }
        assert.deepEqual(new Set(serveOthers()), new Set(['placed']))
        for (let index = 0; index < groups; index += 1)
          pools.creators.remember(`acc_${index}`, `usr_${index % holders}`)
        // They come again and again, until none of them can have any more.
        for (let isOver = false; !isOver;) {
          const states = Array.from({ length: groups }, (_, index) => enter(`acc_${index}`).state)
          isOver = states.every((state) => state === 'rejected')
        }
        const states = serveOthers()
        const hasQueue = POOLS[name].waitingMax > 0
        const isWithinBound = mayEnd ? holders < pool.placesMax : holders <= countOthers(openPools()[name])
        if (hasQueue || isWithinBound) assert.deepEqual(new Set(states), new Set(['placed']))
        for (const ticket of held) ticket.leave()
        assert.deepEqual(new Set(serveOthers()), new Set(['placed']))
      })
    }
  }
})

/** Counts how many holders hold all that they can before a newcomer finds no free place. */
function countOthers(pool: FairPlaces): number {
  for (let holders = 0; holders < HOLDERS_MAX; holders += 1) {
    const enter = () => pool.enter(`holder ${holders}`, () => undefined)
    let ticket = enter()
    if (ticket.state !== 'placed') {
      ticket.leave()
      return holders - 1
    }
    while (ticket.state === 'placed') ticket = enter()
    ticket.leave()
  }
  throw new Error('the pool never filled')
}

/** Does the same for the attempts of the webhook sender. */
function countOthersOf(attempts: number): number {
  let free = attempts
  for (let holders = 0; ; holders += 1) {
    let held = 0
    while (free > 0 && held < shareOf(free)) {
      held += 1
      free -= 1
    }
    if (free === 0) return holders
  }
}

function format(cell: string | number): string {
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : cell
}

/** Returns whether work may end, as the table of D91 says. */
function readMayEnd(name: PoolName): boolean {
  return readCells().find((cells) => cells[1] === `\`${name}\``)?.[7] !== 'no'
}

/** Reads name, places, waiting and others of each row in the table of D91. */
function readTable(): string[][] {
  return readCells().map((cells) => {
    return [cells[1]?.replaceAll('`', '') ?? '', cells[3] ?? '', cells[4] ?? '', cells[5] ?? '']
  })
}

/** Reads the rows of one of the tables, which is named by its first column. */
function readCells(table = 'pool'): string[][] {
  const lines = readFileSync(SPECIFICATION, 'utf8').split('\n')
  const start = lines.findIndex((line) => line.startsWith(`  | ${table} `))
  const rows = lines.slice(start + 2, lines.indexOf('', start))
  return rows.map((row) => row.split('|').map((cell) => cell.trim()))
}
