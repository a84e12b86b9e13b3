import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { listAuditActions } from '../../../../test/support/context/audit.ts'
import { openConnections } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Account } from '../accounts/account.ts'
import { createAccount } from '../accounts/create-account.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Plan } from '../plans/plan.ts'
import { createWallet } from './create-wallet.ts'
import { countWallets, findWallet } from './wallets-store.ts'

describe('createWallet', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('a wallet is recorded as the enclave made it', async () => {
    const account = await open('developer')
    const wallet = await create(account, ' Treasury ')
    assert.equal(wallet.name, 'Treasury')
    const found = await given.context.db.runRelaxed(findWallet(account.id, 'test', wallet.address))
    assert.equal(found?.enclaveWalletId, wallet.enclaveWalletId)
    assert.equal(found.ownerQuorumId, 'quorum')
    assert.equal(found.owner.credentialId, 'credential')
  })

  test('of 10 parallel creations under a cap of 3, exactly 3 are recorded, in each mode by itself', async () => {
    const account = await open('developer')
    await openConnections(given.context.db)
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => create(account)))
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue
      const { status, code, details } = outcome.reason as { status: number; code: string; details: unknown }
      assert.deepEqual([status, code, details], [400, 'wallet_cap_reached', { wallets_max: 3 }])
    }
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
    assert.equal(await given.context.db.runRelaxed(countWallets(account.id, 'test')), 3)
    const actions = await listAuditActions(given.context.db, account.id)
    assert.equal(actions.filter((action) => action === 'wallet.created').length, 3)
    assert.equal((await create(account, 'Live', 'live')).mode, 'live')
  })

  test('a blank or too long name is rejected', async () => {
    const account = await open('scale')
    for (const name of ['', '   ', 'x'.repeat(101)]) await assert.rejects(create(account, name), { status: 400 })
  })

  test('a passkey that is not ES256 is rejected before the enclave is called', async () => {
    const account = await open('scale')
    const faults = [new Uint8Array(), new Uint8Array([0xff, 0x00]), coseKey(-8), coseKey(-257)]
    for (const publicKeyCose of faults) {
      const owner = { credentialId: 'credential', publicKeyCose }
      const asked = { accountId: account.id, mode: 'test', name: 'W', owner, actor: OPERATOR } as const
      await assert.rejects(createWallet(given.context, asked), { status: 400 })
    }
    assert.equal(await given.context.db.runRelaxed(countWallets(account.id, 'test')), 0)
  })

  function open(plan: Plan): Promise<Account> {
    return createAccount(given.context, { name: 'Wallets', plan, actor: OPERATOR })
  }

  function create(account: Account, name = 'Wallet', mode: 'test' | 'live' = 'test') {
    const owner = { credentialId: 'credential', publicKeyCose: coseKey(-7) }
    return createWallet(given.context, { accountId: account.id, mode, name, owner, actor: OPERATOR })
  }
})

/** A COSE key (RFC 9053, section 7.1.1): {1: 2, 3: algorithm, -1: 1, -2: x, -3: y}, on P-256. */
function coseKey(algorithm: -7 | -8 | -257): Uint8Array {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const bytes = (text: string): Buffer => Buffer.concat([Buffer.from('5820', 'hex'), Buffer.from(text, 'base64url')])
  const algorithms = { '-7': '26', '-8': '27', '-257': '390100' } as const
  const head = Buffer.from(`a5010203${algorithms[algorithm]}200121`, 'hex')
  return Uint8Array.from(Buffer.concat([head, bytes(x), Buffer.from('22', 'hex'), bytes(y)]))
}
