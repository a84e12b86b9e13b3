import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { signUpPerson } from '../../../../test/support/context/people.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { getGrantSummary } from './queries.ts'

describe('which user can sign a grant', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('only the user whose passkey owns the wallet; the passkey must match by its id and its public key', async () => {
    const { db } = given.context
    const { account, grant } = await seed(given.context)
    const [{ userId, passkey }, other] = [await signUpPerson(given.context), await signUpPerson(given.context)]
    const isMine = async (user = userId) => {
      const request = { accountId: account.id, grantId: grant.id, userId: user }
      return (await getGrantSummary(given.context, request)).isMineToSign
    }
    const own = `update wallets set owner_credential_id = $2, owner_public_key = $3 where account_id = $1`
    await readRows(db, own, [account.id, passkey.credentialId, Buffer.from([1])])
    assert.equal(await isMine(), false)
    const [kept] = await readRows(db, 'select public_key_cose from passkeys where user_id = $1', [userId])
    await readRows(db, own, [account.id, passkey.credentialId, kept?.['public_key_cose']])
    assert.equal(await isMine(), true)
    assert.equal(await isMine(other.userId), false)
  })
})
