import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Belongings } from '../../server/src/console/contract/members.ts'
import type { Wallet } from '../../server/src/console/contract/wallets.ts'
import { insertOwner } from '../../server/src/domain/wallets/wallet-owners-store.ts'
import { openSandboxEnclave } from '../support/context/enclave-context.ts'
import { addWalletOwner } from '../support/context/people.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { GrantFixture, TERMS, type WireGrant } from './grant-fixture.ts'
import type { Visitor } from './person.ts'

/** What a member who leaves has begun, and how the others go on with it. */
describe('handing over', () => {
  let server: ConsoleServer
  let fixture: GrantFixture
  let grace: Visitor
  before(async () => {
    const { use } = await openSandboxEnclave()
    server = await openConsoleServer(use)
  })
  beforeEach(async () => {
    fixture = await GrantFixture.open(server)
    grace = await fixture.join('admin')
  })
  after(() => server.close())

  test('lists a member’s grants that wait for a signature, their wallets and their invitations', async () => {
    const { id } = await prepare(grace)
    const invitation = await grace.browser.ask<{ invitation: { id: string; expires_at: string } }>(
      'POST',
      fixture.at('invitations'),
      { role: 'viewer' },
      201,
    )
    const ofGrace = await belongings(grace)
    const grant = { id, mode: 'test', agent_id: fixture.agentId, wallet_name: 'Treasury' }
    assert.deepEqual(ofGrace.grants, [{ ...grant, is_prepared: true, other_signers: ['Ada'] }])
    assert.deepEqual(ofGrace.wallets, [])
    const { id: invitationId, expires_at } = invitation.invitation
    assert.deepEqual(ofGrace.invitations, [{ id: invitationId, role: 'viewer', expires_at }])

    const wallet = { mode: 'test', address: fixture.wallet, name: 'Treasury', passkeys: ['Wallet passkey'] }
    const ofOwner = await belongings(fixture.person)
    assert.deepEqual(ofOwner.grants, [{ ...grant, is_prepared: false, other_signers: [] }])
    assert.deepEqual(ofOwner.wallets, [{ ...wallet, other_signers: [] }])
    assert.deepEqual(ofOwner.invitations, [])

    await own(grace)
    assert.deepEqual((await belongings(fixture.person)).wallets, [{ ...wallet, other_signers: ['Grace'] }])
    await changeRole(grace, 'viewer')
    assert.deepEqual((await belongings(fixture.person)).wallets, [{ ...wallet, other_signers: [] }])
  })

  test('says who prepared a grant and who can sign it, also after this person has left', async () => {
    const { id } = await prepare(grace)
    await own(grace)
    const shown = async (visitor: Visitor) => {
      const { created_by, by_former_member, is_mine_to_sign, other_signers } = await fixture.show(id, visitor)
      return { created_by, by_former_member, is_mine_to_sign, other_signers }
    }
    const prepared = { created_by: 'Grace', by_former_member: false, is_mine_to_sign: true }
    assert.deepEqual(await shown(fixture.person), { ...prepared, other_signers: ['Grace'] })
    assert.deepEqual(await shown(grace), { ...prepared, other_signers: ['Ada'] })
    await fixture.person.browser.ask('DELETE', fixture.at(`members/${grace.userId}`))
    assert.deepEqual(await shown(fixture.person), { ...prepared, by_former_member: true, other_signers: [] })
    const path = fixture.at(`wallets/${fixture.wallet}?mode=test`)
    const { wallet } = await fixture.person.browser.ask<{ wallet: Wallet }>('GET', path)
    assert.deepEqual(
      wallet.owners.map(({ user_name, is_member }) => [user_name, is_member]),
      [
        ['Ada', true],
        ['Grace', false],
      ],
    )
  })

  test('lets an owner of the wallet sign what a former member prepared, and any admin discard it', async () => {
    const { id } = await prepare(grace)
    await fixture.requestSignature(id, 'activate')
    await fixture.person.browser.ask('DELETE', fixture.at(`members/${grace.userId}`))
    assert.equal((await fixture.sign(id, 'activate')).state, 'active')
    const hank = await fixture.join('admin')
    const replacement = await prepare(hank, `grants/${id}/replacement`, TERMS)
    await changeRole(hank, 'viewer')
    const ivy = await fixture.join('admin')
    const asked = fixture.at(`grants/${replacement.id}/signing-request`)
    const { grant } = await ivy.browser.ask<{ grant: WireGrant }>('POST', asked, { change: 'revoke' })
    assert.equal(grant.state, 'revoked')
    assert.equal((await fixture.show(id)).state, 'active')
  })

  async function prepare(
    { browser }: Visitor,
    path = 'grants',
    body: object = { mode: 'test', agent_id: fixture.agentId, wallet: fixture.wallet, ...TERMS },
  ): Promise<WireGrant> {
    return (await browser.ask<{ grant: WireGrant }>('POST', fixture.at(path), body, 201)).grant
  }

  async function belongings({ userId }: Visitor): Promise<Belongings> {
    return await fixture.person.browser.ask<Belongings>('GET', fixture.at(`members/${userId}/belongings`))
  }

  async function changeRole({ userId }: Visitor, role: string): Promise<void> {
    await fixture.person.browser.ask('PATCH', fixture.at(`members/${userId}`), { role })
  }

  /** Makes a passkey of the person another owner of the wallet. */
  async function own({ userId }: Visitor): Promise<void> {
    const { credentialId } = await addWalletOwner(server.context, userId, 'Second passkey')
    const place = { workspaceId: fixture.workspace.id, mode: 'test', address: fixture.wallet } as const
    await server.context.db.write(insertOwner(place, { credentialId, addedAt: server.clock.now() }))
  }
})
