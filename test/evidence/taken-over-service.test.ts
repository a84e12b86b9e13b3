import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { owner, RIGHT, SEEN, stranger, UNSEEN } from './forged-cases.ts'
import { ended, sealFile, wholePayment } from './forged-file.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

describe('a service that has been taken over, with the keys of its log', () => {
  let verifiers: Verifiers
  before(() => {
    verifiers = openVerifiers()
  })
  after(() => verifiers.close())

  for (const [title, cases] of Object.entries({
    'is right about': RIGHT,
    'cannot hide': SEEN,
    'can do unseen': UNSEEN,
  })) {
    for (const [name, { parts, answers, part }] of Object.entries(cases)) {
      test(`${title}: ${name}`, async () => {
        const found = await verifiers.verify(sealFile(parts), { ownerKeys: [owner.publicKeySpki] })
        const expected =
          answers === undefined
            ? { valid: false, part }
            : {
                valid: true,
                payment: 'pay_1',
                owner_signed: answers[0],
                within_limits: answers[1],
                on_chain: 'not checked',
              }
        assert.deepEqual(found, expected)
      })
    }
  }

  test('without the key of an owner, whether the owner signed is not known', async () => {
    const found = await verifiers.verify(sealFile(wholePayment(stranger)))
    assert.deepEqual(found, {
      ...{ valid: true, payment: 'pay_1' },
      ...{ owner_signed: 'not checked', within_limits: 'yes', on_chain: 'not checked' },
    })
  })

  test('a payment that failed did not happen', async () => {
    const failed = ended({ status: 'failed', failure_code: 'enclave_refused', tx_hash: null, log_index: null })
    const found = await verifiers.verify(sealFile([...wholePayment(owner).slice(0, 4), failed]))
    assert.ok(found.valid && 'on_chain' in found)
    assert.equal(found.on_chain, 'no')
  })
})
