import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { Session } from '../domain/sessions/session.ts'
import { PaymentExports } from './payment-exports.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const [ADA, BOB] = [session('ada'), session('bob')]

describe('running exports', () => {
  test('an export that takes too long is ended, whether it is starting or being read', async () => {
    const exports = new PaymentExports(20)
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
    const exports = new PaymentExports()
    const open = await Promise.all([exports.open(ADA, never), exports.open(BOB, never)])
    const outcomes = open.map((source) => assert.rejects(text(source), { code: 'ABORT_ERR' }))
    exports.close()
    await Promise.all(outcomes)
    await assert.rejects(exports.open(ADA, whole), { type: 'unavailable' })
  })

  test('an export that fails to start no longer counts', async () => {
    const exports = new PaymentExports()
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

async function never(): Promise<Readable> {
  return new Readable({ read: () => undefined })
}

async function whole(): Promise<Readable> {
  return Readable.from(['all'])
}

function session(name: string): Session {
  return {
    secretHash: Buffer.from(name),
    userId: name,
    userName: name,
    createdAt: NOW,
    lastSeenAt: NOW,
    expiresAt: NOW,
    verifiedAt: NOW,
    device: 'Test browser',
  }
}
