import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.ts'
import { fieldFaults } from './field-faults.ts'

test('faults stand at their fields, the first one of each', () => {
  const rows: readonly (readonly [unknown, Readonly<Record<string, string>>])[] = [
    [[{ path: 'name', message: 'must be short' }], { name: 'It must be short.' }],
    [[{ path: '/name', message: 'Too long.' }], { name: 'Too long.' }],
    [
      [
        { path: 'recipient_allowlist[1]', message: 'is no address' },
        { path: 'recipient_allowlist/2', message: 'neither' },
      ],
      { recipient_allowlist: 'is no address.' },
    ],
    [[{ path: 'amount' }], { amount: 'Refused.' }],
    [[{ path: '', message: 'no' }, 'x', null, { path: 7 }], {}],
    [{ grants: [] }, {}],
    [undefined, {}],
  ]
  for (const [details, faults] of rows) {
    const error = new ApiError(400, { type: 'validation_failed', message: 'Refused.', details })
    assert.deepEqual(fieldFaults(error), faults)
  }
})

test('an error that is not the server’s names no field', () => assert.deepEqual(fieldFaults(new Error('x')), {}))
