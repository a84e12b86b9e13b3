import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { Session } from '../domain/sessions/session.ts'
import { openPools } from '../lib/pools.ts'
import { Exports } from './exports.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const [ADA, BOB] = [member('ada'), member('bob')]

describe('running exports', () => {
  test('an export that takes too long is ended, whether it is starting or being read', async () => {
    const exports = openExports(20)
    const beginning = exports.open(ADA, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
      return Readable.from([])
    })
    await assert.rejects(beginning, {
      type: 'unavailable',
      message: 'The export took too long. Choose a shorter time range.',
    })
    await assert.rejects(text(await exports.open(ADA, never)), { code: 'ABORT_ERR' })
    assert.equal(await text(await exports.open(ADA, whole)), 'all')
  })

  test('when the service stops, all exports end and no other one begins', async () => {
    const exports = openExports()
    const open = await Promise.all([exports.open(ADA, never), exports.open(BOB, never)])
    const outcomes = open.map((source) => assert.rejects(text(source), { code: 'ABORT_ERR' }))
    exports.close()
    await Promise.all(outcomes)
    await assert.rejects(exports.open(ADA, whole), { type: 'unavailable' })
  })

  test('one person runs at most three exports, in whatever workspaces; a newcomer to a full process ends the newest of them', async () => {
    const pools = openPools()
    for (const name of ['w1', 'w2', 'w3', 'w4']) pools.creators.remember(`acc_${name}`, 'usr_1')
    const exports = new Exports(pools.exports)
    const sources = []
    for (const name of ['w1', 'w2', 'w3', 'a', 'b', 'c']) {
      if (name === 'a') {
        await assert.rejects(exports.open(member('w4'), whole), { type: 'rate_limited', code: 'rate_limit_exceeded' })
      }
      sources.push(await exports.open(member(name), never))
    }
    const outcomes = sources.map((source) => assert.rejects(text(source), { code: 'ABORT_ERR' }))
    assert.equal(await text(await exports.open(member('newcomer'), whole)), 'all')
    await outcomes[2]
    assert.deepEqual(
      sources.map(({ destroyed }) => destroyed),
      [false, false, true, false, false, false],
    )
    exports.close()
    await Promise.all(outcomes)
  })

  test('when the client is gone, nothing more is read', async () => {
    const exports = openExports()
    let reading: AbortSignal | null = null
    const source = await exports.open(ADA, async (signal) => {
      reading = signal
      return await never()
    })
    source.destroy()
    await new Promise((resolve) => source.once('close', resolve))
    assert.throws(() => reading?.throwIfAborted(), { type: 'unavailable', message: 'The export has ended.' })
  })

  test('an export that fails to start no longer counts', async () => {
    const exports = openExports()
    await assert.rejects(
      exports.open(ADA, () => Promise.reject(new Error('broken'))),
      /broken/,
    )
    const source = await exports.open(ADA, never)
    await assert.rejects(exports.open(ADA, whole), { type: 'rate_limited', code: 'rate_limit_exceeded' })
    assert.equal(await text(await exports.open(BOB, whole)), 'all')
    source.destroy()
    await new Promise((resolve) => source.once('close', resolve))
    assert.equal(await text(await exports.open(ADA, whole)), 'all')
    exports.close()
  })
})

function openExports(msMax?: number): Exports {
  return new Exports(openPools().exports, msMax)
}

async function never(): Promise<Readable> {
  return new Readable({ read: () => undefined })
}

async function whole(): Promise<Readable> {
  return Readable.from(['all'])
}

function member(name: string): { session: Session; workspaceId: string } {
  const session = {
    secretHash: Buffer.from(name),
    userId: name,
    userName: name,
    createdAt: NOW,
    lastSeenAt: NOW,
    expiresAt: NOW,
    verifiedAt: NOW,
    device: 'Test browser',
  }
  return { session, workspaceId: `acc_${name}` }
}
