import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { WalletRecord } from '../../server/src/console/contract/owners.ts'
import type { SigningRequest } from '../../server/src/console/contract/grants.ts'
import type { WalletPasskey } from '../../server/src/console/contract/wallet-passkeys.ts'
import type { Wallet } from '../../server/src/console/contract/wallets.ts'
import type { Mode } from '../../server/src/values/mode.ts'
import { openSandboxEnclave, type SandboxEnclave } from '../support/context/enclave-context.ts'
import { toBytes } from '../support/context/people.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

const TOO_LOW = { type: 'forbidden', code: 'role_insufficient' } as const
const NO_PASSKEY = { type: 'not_found', code: 'passkey_not_found' } as const
const NO_WALLET = { type: 'not_found', code: 'wallet_not_found' } as const
const NO_REQUEST = { type: 'not_found', code: 'owner_request_not_found' } as const
/** A fault is switched on for this many reads of a quorum. The test makes fewer reads. */
const READS = 100
const SECRETS = /PrivateKey|private_key|signer_private|sealed/i

interface OpenedChange {
  readonly request_id: string
  readonly request: SigningRequest
}

/** These tests do over HTTP what the dashboard and the signer page do together. */
describe('wallet passkeys and owners in the dashboard', () => {
  let enclave: SandboxEnclave
  let server: ConsoleServer
  before(async () => {
    enclave = await openSandboxEnclave()
    server = await openConsoleServer(enclave.use)
  })
  after(() => server.close())

  test('a person creates, names and removes a wallet passkey', async () => {
    const fixture = await openConsoleFixture(server)
    const passkey = await registerPasskey(fixture, 'Laptop')
    const [listed] = await listPasskeys(fixture)
    assert.deepEqual(
      { ...listed, created_at: '' },
      { credential_id: passkey.credentialId, name: 'Laptop', created_at: '', wallets: 0 },
    )
    const path = `/console/wallet-passkeys/${passkey.credentialId}`
    await fixture.browser.ask('PATCH', path, { name: ' Phone ' })
    assert.deepEqual(
      (await listPasskeys(fixture)).map(({ name }) => name),
      ['Phone'],
    )
    const stranger = await openConsoleFixture(server)
    await stranger.browser.refuse('PATCH', path, NO_PASSKEY, { name: 'X' })
    await stranger.browser.refuse('DELETE', path, NO_PASSKEY)
    await fixture.browser.refuse('DELETE', '/console/wallet-passkeys/a%2Fb', NO_PASSKEY)
    await fixture.browser.ask('DELETE', path)
    assert.deepEqual(await listPasskeys(fixture), [])
  })

  test('a live wallet is at risk until it has a second owner, and each owner signs its record', async () => {
    const fixture = await openConsoleFixture(server)
    const first = await registerPasskey(fixture, 'Laptop')
    const wallet = await createWallet(fixture, first, 'live')
    const owner = {
      credential_id: first.credentialId,
      name: 'Laptop',
      user_name: 'Ada',
      is_mine: true,
      is_member: true,
    }
    assert.deepEqual(wallet.owners, [{ ...owner, has_record: false, added_at: wallet.created_at }])
    assert.equal(wallet.is_at_risk, true)
    assert.deepEqual(
      (await listPasskeys(fixture)).map(({ wallets }) => wallets),
      [1],
    )
    const owns = { type: 'conflict', code: 'passkey_owns_wallets' } as const
    await fixture.browser.refuse('DELETE', `/console/wallet-passkeys/${first.credentialId}`, owns)
    assert.equal((await signRecord(fixture, wallet, first)).owners[0]?.has_record, true)

    const second = await registerPasskey(fixture, 'Key in the safe')
    const changed = await change(fixture, wallet, { change: 'add', passkey: second, by: first })
    assert.deepEqual(
      changed.owners.map(({ has_record: hasRecord }) => hasRecord),
      [true, false],
    )
    assert.equal(changed.is_at_risk, false)
    await signRecord(fixture, wallet, second)
    const record = await readRecord(fixture, wallet)
    assert.deepEqual(
      record.assertions.map(({ credentialId }) => credentialId),
      [first.credentialId, second.credentialId],
    )
    assert.deepEqual(record.public_keys, [
      { credential_id: first.credentialId, public_key: first.publicKeySpki, name: 'Laptop' },
      { credential_id: second.credentialId, public_key: second.publicKeySpki, name: 'Key in the safe' },
    ])
    const lost = await change(fixture, wallet, { change: 'remove', passkey: first, by: second })
    assert.deepEqual([lost.owners.length, lost.is_at_risk], [1, true])
    const [listed] = await list(fixture, 'live')
    assert.deepEqual(listed?.owners, lost.owners)
  })

  test('owners can be changed if the enclave writes the keys of a quorum in another form', async () => {
    const fixture = await openConsoleFixture(server)
    const [first, second] = [await registerPasskey(fixture, 'Laptop'), await registerPasskey(fixture, 'Phone')]
    const wallet = await createWallet(fixture, first, 'test')
    await enclave.orderFault('keys_as_pem', READS)
    const added = await change(fixture, wallet, { change: 'add', passkey: second, by: first })
    assert.equal(added.owners.length, 2)
    const removed = await change(fixture, wallet, { change: 'remove', passkey: first, by: second })
    assert.equal(removed.owners.length, 1)
    const left = await enclave.countFaults()
    assert.ok(left > 0 && left < READS, 'the quorum was always read in the other form')
    await enclave.clearFaults()
  })

  test('a test wallet with one owner is not at risk', async () => {
    const fixture = await openConsoleFixture(server)
    const wallet = await createWallet(fixture, await registerPasskey(fixture, 'Laptop'), 'test')
    assert.equal(wallet.is_at_risk, false)
  })

  test('viewers read records and change nothing, and other workspaces see nothing', async () => {
    const fixture = await openConsoleFixture(server)
    const passkey = await registerPasskey(fixture, 'Laptop')
    const wallet = await createWallet(fixture, passkey, 'test')
    const viewer = await openConsoleFixture(server, { workspace: fixture.workspace, role: 'viewer' })
    const own = await registerPasskey(viewer, 'Mine')
    const { statement } = await readRecord(viewer, wallet)
    const asked = { mode: 'test', change: 'add', credential_id: own.credentialId } as const
    const at = `wallets/${wallet.address}`
    await viewer.browser.refuse('POST', viewer.at(`${at}/owner-requests`), TOO_LOW, asked)
    const assertion = passkey.assert(toBytes(statement))
    await viewer.browser.refuse('POST', viewer.at(`${at}/record`), TOO_LOW, { mode: 'test', assertion })

    const { browser } = fixture
    await browser.refuse('POST', fixture.at(`${at}/owner-requests`), NO_PASSKEY, asked)
    await browser.refuse('POST', fixture.at(`${at}/owner-requests`), NO_WALLET, { ...asked, mode: 'live' })
    await browser.refuse('POST', fixture.at('wallets/x/owner-requests'), NO_WALLET, asked)
    await browser.refuse('GET', fixture.at(`${at}/record?mode=live`), NO_WALLET)
    const stranger = await openConsoleFixture(server)
    await stranger.browser.refuse('GET', stranger.at(`${at}/record?mode=test`), NO_WALLET)
    await stranger.browser.refuse('GET', fixture.at(`${at}/record?mode=test`), { type: 'not_found' })
    const second = await registerPasskey(fixture, 'Second')
    const opened = await openChange(fixture, wallet, { change: 'add', passkey: second })
    const signed = { assertion: passkey.assert(toBytes(opened.request.payload)) }
    const path = `owner-requests/${opened.request_id}/signature`
    await stranger.browser.refuse('POST', stranger.at(path), NO_REQUEST, signed)
    await viewer.browser.refuse('POST', fixture.at(path), TOO_LOW, signed)
    assert.equal((await get(fixture, wallet)).owners.length, 1)
  })

  test('no answer contains a signer’s key', async () => {
    const fixture = await openConsoleFixture(server)
    const passkey = await registerPasskey(fixture, 'Laptop')
    const wallet = await createWallet(fixture, passkey, 'test')
    const texts = [wallet, await readRecord(fixture, wallet), await list(fixture, 'test')]
    assert.doesNotMatch(JSON.stringify(texts), SECRETS)
  })

  async function registerPasskey({ browser }: ConsoleFixture, name: string): Promise<SoftwarePasskey> {
    const { signer } = server.context
    assert.ok(signer !== null)
    const path = '/console/wallet-passkeys'
    const { options } = await browser.ask<{ options: { challenge: string; rp: { id: string } } }>(
      'POST',
      `${path}/options`,
      {},
    )
    assert.equal(options.rp.id, signer.id)
    const passkey = createSoftwarePasskey({ rpId: signer.id, origin: signer.origin })
    const body = { response: passkey.register(toBytes(options.challenge)), name }
    await browser.ask('POST', path, body, 201)
    return passkey
  }

  async function listPasskeys({ browser }: ConsoleFixture): Promise<readonly WalletPasskey[]> {
    return (await browser.ask<{ passkeys: readonly WalletPasskey[] }>('GET', '/console/wallet-passkeys')).passkeys
  }

  async function createWallet(fixture: ConsoleFixture, passkey: SoftwarePasskey, mode: Mode): Promise<Wallet> {
    const body = { mode, name: 'Treasury', credential_id: passkey.credentialId }
    return (await fixture.browser.ask<{ wallet: Wallet }>('POST', fixture.at('wallets'), body, 201)).wallet
  }

  async function list(fixture: ConsoleFixture, mode: Mode): Promise<readonly Wallet[]> {
    return (await fixture.browser.ask<{ wallets: readonly Wallet[] }>('GET', `${fixture.at('wallets')}?mode=${mode}`))
      .wallets
  }

  async function get(fixture: ConsoleFixture, { address, mode }: Wallet): Promise<Wallet> {
    const path = `${fixture.at(`wallets/${address}`)}?mode=${mode}`
    return (await fixture.browser.ask<{ wallet: Wallet }>('GET', path)).wallet
  }

  async function readRecord(fixture: ConsoleFixture, { address, mode }: Wallet): Promise<WalletRecord> {
    return await fixture.browser.ask<WalletRecord>('GET', `${fixture.at(`wallets/${address}/record`)}?mode=${mode}`)
  }

  async function signRecord(fixture: ConsoleFixture, wallet: Wallet, by: SoftwarePasskey): Promise<Wallet> {
    const { statement } = await readRecord(fixture, wallet)
    const body = { mode: wallet.mode, assertion: by.assert(toBytes(statement)) }
    const path = fixture.at(`wallets/${wallet.address}/record`)
    return (await fixture.browser.ask<{ wallet: Wallet }>('POST', path, body)).wallet
  }

  async function openChange(
    fixture: ConsoleFixture,
    { address, mode }: Wallet,
    wanted: { change: 'add' | 'remove'; passkey: SoftwarePasskey },
  ): Promise<OpenedChange> {
    const body = { mode, change: wanted.change, credential_id: wanted.passkey.credentialId }
    return await fixture.browser.ask<OpenedChange>('POST', fixture.at(`wallets/${address}/owner-requests`), body)
  }

  async function change(
    fixture: ConsoleFixture,
    wallet: Wallet,
    { by, ...wanted }: { change: 'add' | 'remove'; passkey: SoftwarePasskey; by: SoftwarePasskey },
  ): Promise<Wallet> {
    const { request_id: requestId, request } = await openChange(fixture, wallet, wanted)
    assert.equal(request.before, null)
    assert.ok(request.credentials.some(({ id, public_key: key }) => id === by.credentialId && key === by.publicKeySpki))
    return await submit(fixture, requestId, by.assert(toBytes(request.payload)))
  }

  async function submit(fixture: ConsoleFixture, requestId: string, assertion: object): Promise<Wallet> {
    const path = fixture.at(`owner-requests/${requestId}/signature`)
    return (await fixture.browser.ask<{ wallet: Wallet }>('POST', path, { assertion })).wallet
  }
})
