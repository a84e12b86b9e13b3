import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WalletSigner } from '../../enclave/signer-change.ts'
import { signersAfter, type GrantChange } from './grant.ts'

const SIGNER = { signerId: 'agent', policyIds: ['mine'] }
const ELSE = { signerId: 'else', policyIds: ['theirs'] }

describe('the list of signers that the owner signs', () => {
  const rows: readonly [string, GrantChange, listed: string | null, others: string[], then: string | null][] = [
    ['puts in a signer that is not there', 'activate', null, [], 'mine'],
    ['puts a signer under the new policy', 'activate', 'old', ['old'], 'mine'],
    ['takes a signer out', 'revoke', 'mine', [], null],
    ['takes a signer out, whatever waits', 'revoke', 'mine', ['next'], null],
    ['leaves it under another grant that holds or waits', 'revoke', 'next', ['next'], 'next'],
    ['takes it out from under one that is revoked', 'revoke', 'gone', ['next'], null],
    ['is as it was where the signer is not there', 'revoke', null, ['next'], null],
  ]
  for (const [name, change, listed, others, then] of rows) {
    test(`${name}, and leaves the others`, () => {
      const after = signersAfter([...list(listed), ELSE], { signer: SIGNER, change, others })
      assert.deepEqual(new Set(after), new Set([ELSE, ...list(then)]))
      assert.equal(after.length, then === null ? 1 : 2)
    })
  }

  function list(policy: string | null): WalletSigner[] {
    return policy === null ? [] : [{ signerId: SIGNER.signerId, policyIds: [policy] }]
  }
})
