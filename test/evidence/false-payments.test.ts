import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { exportFiles } from './proven-payments.ts'
import { openProvenSandbox, type ProvenSandbox } from './proven-sandbox.ts'

/** Whether the owner signed, whether the payment is within the limits, and whether it happened. */
const ANSWERS: Readonly<Record<string, readonly [string, string, string]>> = {
  'an honest payment': ['yes', 'yes', 'yes'],
  'a payment above the cap that the owner signed': ['yes', 'no', 'yes'],
  'a payment under a grant that an owner did not resume': ['not checked', 'no', 'yes'],
  'a payment that never happened': ['yes', 'yes', 'no'],
}

describe('the evidence of a service whose database somebody else changes', () => {
  let proven: ProvenSandbox
  let files: ReadonlyMap<string, string>
  before(async () => {
    proven = await openProvenSandbox()
    files = await exportFiles(proven.fixture, proven.falsePayments)
  })

  for (const [name, [ownerSigned, withinLimits, onChain]] of Object.entries(ANSWERS)) {
    test(`shows ${name}`, async () => {
      const ownerKeys = [proven.falsePayments.owned.owner.publicKeySpki]
      const found = await proven.verifiers.verify(files.get(name) ?? '', { ...proven.given, ownerKeys })
      const payment = proven.falsePayments.ids.get(name)
      assert.deepEqual(found, {
        ...{ valid: true, payment },
        ...{ owner_signed: ownerSigned, within_limits: withinLimits, on_chain: onChain },
      })
    })
  }
})
