import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { progressOf } from './payment-progress.ts'

const AT = '2026-11-21T12:00:00.000Z'
const reserved = {
  status: 'pending',
  failure_code: null,
  tx_hash: null,
  accepted_at: null,
  block_number: null,
} as const

describe('the progress of a payment', () => {
  const rows = [
    ['reserved', reserved, 'current upcoming upcoming'],
    ['accepted, hash not known yet', { ...reserved, accepted_at: AT }, 'done current upcoming'],
    ['sent', { ...reserved, accepted_at: AT, tx_hash: '0x1' }, 'done current upcoming'],
    ['in a block', { ...reserved, accepted_at: AT, tx_hash: '0x1', block_number: 7 }, 'done done current'],
    ['confirmed', { ...reserved, status: 'confirmed', tx_hash: '0x1', block_number: 7 }, 'done done done'],
    [
      'refused by the enclave',
      { ...reserved, status: 'failed', failure_code: 'enclave_refused' },
      'failed skipped skipped',
    ],
    ['never received', { ...reserved, status: 'failed', failure_code: 'never_received' }, 'failed skipped skipped'],
    ['replaced', { ...reserved, status: 'failed', failure_code: 'replaced', tx_hash: '0x1' }, 'done failed skipped'],
    ['reverted', { ...reserved, status: 'failed', failure_code: 'reverted', tx_hash: '0x1' }, 'done done failed'],
    ['without its transfer', { ...reserved, status: 'failed', failure_code: 'transfer_missing' }, 'done done failed'],
  ] as const
  for (const [name, payment, expected] of rows) {
    test(`is ${name}: ${expected}`, () => {
      const { signed, seen, settled } = progressOf(payment)
      assert.equal([signed, seen, settled].join(' '), expected)
    })
  }
})
