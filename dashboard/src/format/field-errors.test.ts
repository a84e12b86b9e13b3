import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.ts'
import { addressError, fieldErrors } from './field-errors.ts'

test('the first error of each field is returned under its name', () => {
  const rows: readonly (readonly [unknown, Readonly<Record<string, string>>])[] = [
    [[{ path: 'name', message: '`name` must be short.' }], { name: 'It must be short.' }],
    [[{ path: 'from', message: 'Choose a shorter time.' }], { from: 'Choose a shorter time.' }],
    [
      [
        { path: 'recipient_allowlist.1', message: '`recipient_allowlist.1` is no address.' },
        { path: 'recipient_allowlist.2', message: '`recipient_allowlist.2` is no address.' },
      ],
      { recipient_allowlist: 'It is no address.' },
    ],
    [[{ path: 'amount' }], { amount: 'Refused.' }],
    [[{ path: '', message: 'no' }, 'x', null, { path: 7 }], {}],
    [{ grants: [] }, {}],
    [undefined, {}],
  ]
  for (const [details, errors] of rows) {
    const error = new ApiError(400, { type: 'validation_failed', message: 'Refused.', details })
    assert.deepEqual(fieldErrors(error), errors)
  }
})

test('an error that did not come from the server has no field errors', () =>
  assert.deepEqual(fieldErrors(new Error('x')), {}))

test('an address that the server rejected is named in short form', () => {
  const sent = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070d']
  const refusal = (path: string, code = 'address_invalid') =>
    new ApiError(400, { type: 'validation_failed', code, message: 'Refused.', details: [{ path, message: 'is bad' }] })
  assert.match(addressError(refusal('recipient_allowlist.1'), sent) ?? '', /^“0x8617…070d” is not a valid address/)
  assert.match(addressError(refusal('address'), sent) ?? '', /^“0x5290…9EE7” /)
  assert.equal(addressError(refusal('recipient_allowlist.2'), sent), undefined)
  assert.equal(addressError(refusal('recipient_allowlist.1', 'other'), sent), undefined)
  assert.equal(addressError(new Error('x'), sent), undefined)
})
