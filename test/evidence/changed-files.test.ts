import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { exchangeMembers, flipBytes, removeMembers } from './changed-files.ts'
import { audit, createOwner, sealFile, signOwners, signResume, wholePayment } from './forged-file.ts'
import { ForgedLog, seal } from './forged-log.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

/** Of the bytes, every one of these is changed. `real-files.test.ts` changes all bytes of a file. */
const BYTES_STEP = 23

describe('a file with evidence that was changed', () => {
  const owner = createOwner()
  const log = new ForgedLog()
  const [record, grant, activated, decided, last] = wholePayment(owner)
  const parts = [record, grant, activated, audit('grant.suspended'), signResume(owner), decided, last].filter(
    (part) => part !== undefined,
  )
  const file = sealFile(parts, log)
  let verifiers: Verifiers
  before(() => {
    verifiers = openVerifiers()
  })
  after(() => verifiers.close())

  test('is valid before', async () => {
    const { valid } = await verifiers.verify(file)
    assert.ok(valid)
  })

  for (const [name, list] of Object.entries({
    'in one of its bytes': () => flipBytes(file).filter((_, index) => index % BYTES_STEP === 0),
    'by removing any member': () => removeMembers(file),
    'by a member of another file': () =>
      exchangeMembers(file, sealFile([signOwners(owner, [owner.publicKeySpki]), ...wholePayment(createOwner())])),
  })) {
    test(`${name} is invalid, and both verifiers name the same part`, async () => {
      const changed = list()
      assert.ok(changed.length > 20)
      for (const one of changed) {
        const verdict = await verifiers.verify(one.file)
        assert.ok(!verdict.valid && verdict.part !== '', one.name)
      }
    })
  }

  test('by removing any member is invalid, although the service sealed it again', async () => {
    for (const { name, file: changed } of removeMembers(file)) {
      const verdict = await verifiers.verify(seal(JSON.parse(changed.toString()), log))
      // Without an element, a list is another list, which may be in order: then the answers are others.
      const isMember = !/\.\d+$/.test(name) && name !== 'without seal'
      assert.ok(!isMember || !verdict.valid, name)
    }
  })
})
