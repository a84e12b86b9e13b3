import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { waitFor } from '../../../test/support/wait-for.ts'
import { FailureLog } from './failure-log.ts'

/** Longer than a test waits. */
const LONG_MS = 600_000
const SHORT_MS = 1

test('only the first failure of a kind has a line, and another place, code or thrower is another kind', () => {
  const { lines, log } = open(LONG_MS)
  const fail = (name: string): Error => Object.assign(new Error('away'), { name })
  for (const request of ['req_1', 'req_2', 'req_3']) log.add({ ...failure(request), error: fail('EnclaveUnavailable') })
  log.add({ ...failure('req_4'), error: fail('DatabaseUnavailable') })
  log.add({ ...failure('req_5'), error: fail('EnclaveUnavailable'), where: '/v1/x402/pay' })
  log.add({ ...failure('req_6'), error: fail('EnclaveUnavailable'), code: 'internal' })
  log.add({ ...failure('req_7'), error: new Error('caught', { cause: new TypeError('elsewhere') }) })
  log.add({ ...failure('req_8'), error: new Error('caught', { cause: new RangeError('elsewhere') }) })
  assert.deepEqual(
    lines.map(({ request }) => request),
    ['req_1', 'req_4', 'req_5', 'req_6', 'req_7', 'req_8'],
  )
  assert.ok(lines.every(({ err }) => /^ +at /m.test((err as Error).stack ?? '')))
})

test('the failures after the first one have one line with their number, and then a new period begins', async () => {
  const { lines, log } = open(SHORT_MS)
  const error = new Error('away')
  for (const request of ['req_1', 'req_2', 'req_3']) log.add({ ...failure(request), error })
  await waitFor('the sum', () => lines.length === 2)
  const { count, first, example, where, code, err } = lines[1] ?? {}
  assert.deepEqual([count, first, example, where, code], [2, 'req_1', 'req_3', '/v1/payments', 'privy_call_failed'])
  assert.equal(err, undefined)
  log.add({ ...failure('req_4'), error })
  assert.equal(lines[2]?.['request'], 'req_4')
})

test('kinds beyond the first 200 share a line', () => {
  const { lines, log } = open(LONG_MS)
  for (let kind = 0; kind < 300; kind += 1) log.add({ ...failure('req_1'), error: null, where: `/${kind}` })
  assert.equal(lines.length, 201)
})

function open(periodMs: number) {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'error' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  return { lines, log: new FailureLog(logger, periodMs) }
}

function failure(request: string) {
  return { where: '/v1/payments', code: 'privy_call_failed', message: 'The enclave did not respond.', request }
}
