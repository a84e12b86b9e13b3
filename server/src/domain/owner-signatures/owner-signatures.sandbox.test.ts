import assert from 'node:assert/strict'
import { createPrivateKey, hash, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  openActive,
  openNext,
  openOwned,
  openPending,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { readSignatures, verifyOffline, type KeptSignature } from '../../../../test/support/context/kept-signatures.ts'
import { logAll, readLeaves } from '../../../../test/support/context/log-leaves.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { changeOwners, resume, signRecord, withdrawOne } from '../../../../test/support/context/owner-fixture.ts'
import { addWalletOwner, justProved } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { Context } from '../context.ts'
import type { Grant } from '../grants/grant.ts'
import { formatRuleName } from '../grants/rule-name.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { getWalletRecord } from '../owners/get-wallet-record.ts'
import { signWalletRecord } from '../owners/sign-wallet-record.ts'
import { stopAgents } from '../stops/stop-agents.ts'
import { removeUnusedWalletPasskey } from '../wallets/remove-unused-wallet-passkey.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { formatSignatureEntry } from './evidence-entry.ts'
import { listSignaturesOf, type StoredSignature } from './owner-signatures-store.ts'

const FENCE_MS = SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS
/** What a request to the enclave contains, and which of its parts the passkey signs. */
interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly rules?: readonly { readonly name: string }[]; readonly public_keys?: readonly string[] }
}

describe('the signatures of owners', () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    ctx = given.context
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  test('are kept for everything that an owner can sign: encrypted at first, and then anybody can verify them', async () => {
    const { owned, old, next, stopId, paymentId, second } = await signEverything()
    const { wallet, actor } = owned
    const sealed = await read(owned)
    assert.deepEqual(
      sealed.map(({ kind, subject }) => [kind, subject]),
      [
        ['grant', old.id],
        ['grant', next.id],
        ['resume', next.id],
        ['resume', stopId],
        ['withdrawal', paymentId],
        ['owners', wallet.address],
        ['record', wallet.address],
        ['owners', wallet.address],
        ['revocation', next.id],
      ],
    )
    for (const { kind, assertion, assertion_sealed: bytes, received_from: from } of sealed) {
      assert.deepEqual([assertion !== null, bytes === null, from], [kind === 'record', kind === 'record', actor])
      assert.ok(bytes === null || !bytes.includes('signature'))
    }
    assert.equal(await cleanUpOnce(later(ctx, FENCE_MS - 60_000), 'ownerSignatures'), 0)
    assert.deepEqual(await read(owned), sealed)

    // The passkey that signed the record is deleted. Its signature needs only its own row.
    const session = { userId: actor.id, ...justProved(ctx) }
    await removeUnusedWalletPasskey(ctx, { session, credentialId: second.credentialId })
    assert.equal(await cleanUpOnce(later(ctx, FENCE_MS), 'ownerSignatures'), 8)
    const kept = await read(owned)
    const signed = kept.map((row) => JSON.parse(verifyOffline(row).toString()) as SignedRequest)
    const nameOf = (grant: Grant) => formatRuleName({ ...grant, grantId: grant.id })
    const rules = signed.map(({ body }) => body?.rules?.map(({ name }) => name))
    assert.deepEqual([rules[0], rules[1], rules[8]], [[nameOf(old)], [nameOf(next)], []])
    assert.ok(JSON.stringify(signed[2]).includes(next.id) && JSON.stringify(signed[3]).includes(stopId))
    assert.ok(JSON.stringify(signed[4]).includes(paymentId) && JSON.stringify(signed[6]).includes(wallet.address))
    const keys = [owned.owner.publicKeySpki, second.publicKeySpki]
    assert.deepEqual(signed[5]?.body.public_keys?.toSorted(), keys.toSorted())
    assert.deepEqual(signed[7]?.body.public_keys, [owned.owner.publicKeySpki])
    for (const [number, { registration, public_key: key, credential_id: id }] of kept.entries()) {
      const passkey = number === 6 ? second : owned.owner
      assert.deepEqual([id, key.toString('base64')], [passkey.credentialId, passkey.publicKeySpki])
      const attested = Buffer.from(registration?.attestationObject ?? '', 'base64url')
      assert.ok(attested.includes(Buffer.from(id, 'base64url')) && attested.includes(key.subarray(-32)))
    }
  })

  test('give nothing to somebody who has a copy of the database and the credentials of the service', async () => {
    const { owned } = await signEverything()
    await enclave.moveClock(FENCE_MS)
    try {
      await cleanUpOnce(later(ctx, FENCE_MS), 'ownerSignatures')
      const requests = (await read(owned)).filter(({ kind }) => kind !== 'record' && kind !== 'resume')
      assert.equal(requests.length, 6)
      for (const row of requests) assert.deepEqual(await present(row), [401, 'request_expired'], row.kind)
    } finally {
      await enclave.moveClock(0)
    }
    // Before they have expired, the enclave accepts them. So they are encrypted until then.
    const [grant = assert.fail()] = await read(owned)
    assert.deepEqual(await present(grant), [200, undefined])
  })

  test('are kept although the response of the enclave is lost, once for each request and passkey', async () => {
    const owned = await openOwned(ctx)
    const { id: grantId } = await openPending(ctx, owned)
    const lost = enclave.proxy.loseChange()
    await assert.rejects(signChange(ctx, owned, { grantId, change: 'activate' }), EnclaveUnavailable)
    const [kept, ...others] = await read(owned)
    assert.deepEqual([kept?.kind, kept?.subject, others], ['grant', grantId, []])
    await signChange(ctx, owned, { grantId, change: 'activate' })
    assert.deepEqual(await read(owned), [kept])
    assert.equal((await leavesOf(owned)).length, 1)
    await lost.arrive()
  })

  test('are not opened before the clock of the enclave has passed the time too', async () => {
    const owned = await openOwned(ctx)
    await openActive(ctx, owned)
    const behind = { ...ctx.enclave, toEnclaveTime: (time: Date) => new Date(time.getTime() - 60_000) }
    const isOpen = async () => (await read(owned))[0]?.assertion !== null
    await cleanUpOnce({ ...later(ctx, FENCE_MS), enclave: behind }, 'ownerSignatures')
    assert.equal(await isOpen(), false)
    await cleanUpOnce({ ...later(ctx, FENCE_MS + 60_000), enclave: behind }, 'ownerSignatures')
    assert.equal(await isOpen(), true)
  })

  test('have a leaf from the beginning, with the hash of what evidence contains when they are open', async () => {
    const { owned, old, next, stopId, paymentId, second } = await signEverything()
    const { workspaceId, mode, wallet, actor } = owned
    const leaves = await leavesOf(owned)
    const subjects = [old.id, next.id, stopId, paymentId, wallet.address]
    const list = async (rowsMax = 9) => await ctx.db.read(listSignaturesOf({ workspaceId, mode }, subjects, rowsMax))
    const sealed = await list()
    assert.deepEqual(
      sealed.map(({ kind, assertion, isLost }) => [kind, assertion !== null, isLost]),
      sealed.map(({ kind }) => [kind, kind === 'record', false]),
    )
    await cleanUpOnce(later(ctx, FENCE_MS), 'ownerSignatures')
    const rows = await list()
    assert.equal(rows.length, 9)
    assert.deepEqual(
      leaves.map(({ members: { salt, ...members } }) => ({ ...members, saltChars: String(salt).length })),
      rows.map((row) => ({
        ...{ v: 1, type: 'signature', workspace: workspaceId, mode, at: row.receivedAt.toISOString(), kind: row.kind },
        subject: `${row.credentialId} ${row.challengeSha256.toString('base64url')}`,
        ...{ object: row.subject, credential: row.credentialId, signature_sha256: hashEntry(row), saltChars: 22 },
      })),
    )
    const record = rows.find(({ kind }) => kind === 'record') ?? assert.fail()
    const { registration } = entryOf(record)
    const { authenticatorData, clientDataJSON, signature } = record.assertion ?? assert.fail()
    assert.deepEqual(
      { ...entryOf(record), registration: Object.keys(registration ?? {}) },
      {
        ...{ workspace: workspaceId, mode, kind: 'record', subject: wallet.address, statement: null },
        ...{ credential: second.credentialId, user: actor.id, actor: { id: actor.id, kind: 'user' } },
        public_key: Buffer.from(second.publicKeySpki, 'base64').toString('base64url'),
        registration: ['attestation_object', 'client_data_json'],
        registered_at: record.registeredAt.toISOString(),
        received_at: record.receivedAt.toISOString(),
        ...{ relying_party: ctx.signer?.id, origin: ctx.signer?.origin },
        assertion: { authenticator_data: authenticatorData, client_data_json: clientDataJSON, signature },
      },
    )
    // A browser's registration is stored as it was sent.
    const padded = Object.entries(record.registration ?? {}).map(([name, text]) => [name, `${String(text)}==`])
    const sent = { ...record, registration: Object.fromEntries(padded) as StoredSignature['registration'] }
    assert.deepEqual(entryOf(sent), entryOf(record))
    const one = await list(1)
    assert.deepEqual(
      one.map(({ subject, kind }) => [subject, kind]),
      [
        ...[
          [old.id, 'grant'],
          [next.id, 'grant'],
          [stopId, 'resume'],
          [paymentId, 'withdrawal'],
        ],
        [wallet.address, 'owners'],
      ],
    )
  })

  test('have a leaf that says so if the row was deleted by hand, or has no hash', async () => {
    const owned = await openOwned(ctx)
    const { id: grantId } = await openActive(ctx, owned)
    await readRows(ctx.db, 'update owner_signatures set entry_sha256 = null where subject = $1', [grantId])
    await signChange(ctx, owned, { grantId, change: 'revoke' })
    await readRows(ctx.db, `delete from owner_signatures where subject = $1 and kind = 'revocation'`, [grantId])
    const leaves = await leavesOf(owned)
    assert.deepEqual(
      leaves.map(({ type, members: { type: says, of } }) => [type, says, of]),
      leaves.map(() => ['signature', 'unavailable', 'signature']),
    )
    assert.equal(leaves.length, 2)
  })

  describe('are rejected if others could not verify them, or would read something else in them:', () => {
    const change = (name: 'signature' | 'clientDataJSON', edit: (text: string) => string) => (assertion: Assertion) => {
      const response = { ...assertion.response, [name]: edit(assertion.response[name]) }
      return { ...assertion, response }
    }
    const append = (part: string) => (text: string) => text.replace(/\}$/, `${part}}`)
    for (const [about, edit] of Object.entries({
      'no DER': change('signature', (text) => {
        return Buffer.concat([Buffer.from(text, 'base64url'), Buffer.alloc(1)]).toString('base64url')
      }),
      'client data with a member twice': signAnother(append(',"type":"webauthn.get"')),
      'client data of a page within another one': signAnother((text) => text.replace('false', 'true')),
      'base64url with padding': change('clientDataJSON', (text) => `${text}=`),
      'base64url with bits after the last byte': (assertion: Assertion, owned: Owned) => {
        // A text of 3 n + 1 bytes ends with a character of which only two bits count.
        const short = signAnother((text) => text.padEnd(Math.ceil(text.length / 3) * 3 + 1))(assertion, owned)
        return change('clientDataJSON', (text) => text.replace(/.$/, nextCharacter))(short)
      },
    })) {
      test(about, async () => {
        const owned = await openOwned(ctx)
        const place = { workspaceId: owned.workspaceId, mode: owned.mode, address: owned.wallet.address }
        const { statement } = await getWalletRecord(ctx, place)
        const assertion = edit(owned.owner.assert(statement), owned)
        const signed = signWalletRecord(ctx, { ...place, assertion, actor: owned.actor })
        await assert.rejects(signed, { status: 400, code: 'signature_invalid' })
        assert.deepEqual(await read(owned), [])
      })
    }

    test('but not if only an unknown member was added', async () => {
      const owned = await openOwned(ctx)
      const place = { workspaceId: owned.workspaceId, mode: owned.mode, address: owned.wallet.address }
      const { statement } = await getWalletRecord(ctx, place)
      const assertion = signAnother(append(',"new":":"'))(owned.owner.assert(statement), owned)
      await signWalletRecord(ctx, { ...place, assertion, actor: owned.actor })
      assert.equal((await read(owned)).length, 1)
    })
  })

  /** Signs each kind of request and statement once, those of owners and grants twice. */
  async function signEverything() {
    const owned = await openOwned(ctx)
    const { workspaceId, mode, owner, actor } = owned
    const old = await openActive(ctx, owned)
    const next = await openNext(ctx, owned, old)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    await suspendGrant(ctx, { workspaceId, grantId: next.id, actor })
    await resume(ctx, owned, { grantId: next.id })
    const { stop } = await stopAgents(ctx, { workspaceId, mode, agentId: null, walletAddress: null, actor })
    const stopId = stop?.id ?? assert.fail()
    await resume(ctx, owned, { stopId })
    const payment = await withdrawOne(ctx, owned)
    const second = await addWalletOwner(ctx, actor.id)
    const { credentialId } = second
    await changeOwners(ctx, owned, { kind: 'add_owner', credentialId })
    await signRecord(ctx, owned, second)
    await changeOwners(ctx, owned, { kind: 'remove_owner', credentialId, by: owner })
    await signChange(ctx, owned, { grantId: next.id, change: 'revoke' })
    return { owned, old, next, stopId, paymentId: payment.id, second }
  }

  /** Makes leaves of everything, and returns those of the workspace's signatures. */
  async function leavesOf({ workspaceId }: Owned) {
    await logAll(ctx)
    return (await readLeaves(ctx.db)).filter(({ logId, type }) => logId === workspaceId && type === 'signature')
  }

  function read({ workspaceId }: Owned): Promise<KeptSignature[]> {
    return readSignatures(ctx.db, workspaceId)
  }

  /** Sends a kept signature to the enclave again, with the request that its challenge contains. */
  async function present(row: KeptSignature): Promise<readonly [status: number, code: string | undefined]> {
    const { method, url, headers, body } = JSON.parse(verifyOffline(row).toString()) as SignedRequest
    const { authenticatorData, clientDataJSON, signature } = row.assertion ?? assert.fail()
    const { appId, appSecret } = given.config.enclave
    const response = await fetch(url, {
      method,
      headers: {
        ...headers,
        authorization: `Basic ${Buffer.from(`${appId}:${appSecret}`).toString('base64')}`,
        'content-type': 'application/json',
        'privy-authorization-signature': `webauthn:${authenticatorData}:${clientDataJSON}:${signature}`,
      },
      body: JSON.stringify(body),
    })
    const { code } = (await response.json()) as { code?: string }
    return [response.status, code]
  }
})

type Assertion = ReturnType<Owned['owner']['assert']>

/** Returns the same assertion with other client data, signed with the owner's key. */
function signAnother(edit: (clientData: string) => string) {
  return ({ response, ...assertion }: Assertion, { owner }: Owned): Assertion => {
    const clientData = Buffer.from(edit(Buffer.from(response.clientDataJSON, 'base64url').toString()))
    const signed = Buffer.concat([
      Buffer.from(response.authenticatorData, 'base64url'),
      hash('sha256', clientData, 'buffer'),
    ])
    const key = createPrivateKey({ key: owner.export().privateKeyJwk, format: 'jwk' })
    const signature = sign('sha256', signed, key).toString('base64url')
    return { ...assertion, response: { ...response, clientDataJSON: clientData.toString('base64url'), signature } }
  }
}

/** Returns the next character of the alphabet of base64url, of which only the last bit differs. */
function nextCharacter(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(character) + 1] ?? assert.fail()
}

function entryOf(row: StoredSignature) {
  return formatSignatureEntry({ ...row, assertion: row.assertion ?? assert.fail('it is encrypted') })
}

function hashEntry(row: StoredSignature): string {
  return hash('sha256', canonicalJson(entryOf(row)), 'buffer').toString('base64url')
}
