import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { createRequests, ENCLAVE, RECIPIENT, RECORD_STATEMENT, rule, WALLET } from '../signer/sample-requests.ts'
import { explainFailure } from '../support/browser/page-history.ts'
import { button, heading } from '../support/browser/pages.ts'
import {
  openSignerFixture,
  signedRecord,
  signMessage,
  type Passkey,
  type Reply,
  type SignerFixture,
} from '../support/browser/signer-fixture.ts'

const { request } = createRequests(() => new Date(Date.now() + 5 * 60_000))
const RP_ID = 'signer.localhost'

/** Returns a forged record: a key of the service has signed it instead of a passkey of the wallet. */
function forgeRecord(passkey: SoftwarePasskey, credentialId: string, statement: Json = RECORD_STATEMENT): object {
  const { response } = passkey.assert(Buffer.from(canonicalJson(statement)))
  return signedRecord(statement, { bursar: 'signed', assertion: { id: credentialId, response } })
}

/** The ids of another wallet. */
const elsewhere = { address: RECIPIENT, wallet_id: 'wallet2', quorum_id: 'quorum2', signers: ['signer3'] }

function useRelyingParty(rpId: string, verb: 'get' | 'create'): string {
  const options = `{ publicKey: {
    challenge: new Uint8Array(32), rpId: '${rpId}', rp: { id: '${rpId}', name: 'x' },
    user: { id: new Uint8Array(8), name: 'x', displayName: 'x' }, pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  } }`
  return `navigator.credentials.${verb}(${options}).then(() => 'done', (error) => error.name)`
}

describe('a service that has been taken over, with a page of its own', () => {
  let fixture: SignerFixture
  let signer: Page
  let opener: Page
  let owner: Passkey
  let record: object
  before(async () => {
    fixture = await openSignerFixture()
    signer = fixture.signer
    opener = fixture.person.page
    owner = await fixture.create()
    const message = signMessage(RECORD_STATEMENT, { credentials: [owner] })
    record = signedRecord(
      RECORD_STATEMENT,
      await fixture.send(message, () => button(signer, 'Confirm the wallet').click()),
    )
  })
  afterEach((t) => explainFailure(t, [fixture.person]))
  after(() => fixture.close())

  const text = async (): Promise<string> => await signer.getByRole('main').innerText()

  async function signGrant(message: object): Promise<Reply> {
    return await fixture.send(message, () => button(signer, 'Sign the limits').click())
  }

  async function assertRefused(message: object, code: string): Promise<void> {
    const reply = await fixture.send(message)
    assert.deepEqual([reply.bursar, reply.code, reply.assertion], ['refused', code, undefined])
    await heading(signer, 'Nothing was signed').waitFor()
  }

  test('cannot use wallet passkeys on the dashboard, nor sign-in passkeys on the signer page', async () => {
    for (const verb of ['get', 'create'] as const) {
      assert.equal(await opener.evaluate<string>(useRelyingParty(RP_ID, verb)), 'SecurityError')
      assert.equal(await signer.evaluate<string>(useRelyingParty('localhost', verb)), 'SecurityError')
    }
  })

  test('gets no signature under a record that its own key has signed, and spoils nothing with it', async () => {
    const own = createSoftwarePasskey({ rpId: RP_ID, origin: fixture.signerUrl })
    const forged = { id: owner.id, publicKey: own.publicKeySpki }
    const wallet = { ...RECORD_STATEMENT, ...elsewhere }
    const payload = request({ url: `${ENCLAVE}/v1/policies/policy3` })
    const forgery = forgeRecord(own, owner.id, { ...wallet, policies: ['policy3'] })
    const reply = await signGrant(signMessage(payload, { credentials: [forged], record: forgery }))
    assert.deepEqual([reply.bursar, reply.code, reply.assertion], ['refused', 'passkey_invalid', undefined])
    // The forged record was not remembered, so the wallet's own record can still be confirmed.
    const genuine = signMessage({ ...wallet, policies: ['policy4'] }, { credentials: [owner] })
    const confirmed = await fixture.send(genuine, () => button(signer, 'Confirm the wallet').click())
    assert.equal(confirmed.bursar, 'signed')
  })

  test('gets no signature of a passkey that the record does not know', async () => {
    const stranger = await fixture.create()
    await assertRefused(signMessage(request(), { credentials: [stranger], record }), 'record_required')
    await assertRefused(signMessage(request(), { credentials: [owner], record: null }), 'record_required')
  })

  for (const [name, changes] of Object.entries({
    'a second record for the same wallet': { policies: ['policy1', 'attacker'] },
    'a record of a new wallet with a policy of this one': {
      ...elsewhere,
      address: `0x${'44'.repeat(20)}`,
      policies: ['policy1'],
    },
  })) {
    test(`cannot have ${name} confirmed`, async () => {
      await assertRefused(signMessage({ ...RECORD_STATEMENT, ...changes }, { credentials: [owner] }), 'record_differs')
    })
  }

  // Each request is built right before it is sent, because it expires after some minutes.
  const hidden: Record<string, [() => Json, string]> = {
    'in another policy': [() => request({ url: `${ENCLAVE}/v1/policies/attacker` }), 'request_not_of_wallet'],
    'in a second rule': [() => request({ body: { rules: [rule(), rule()] } }), 'request_unknown'],
    'in a list of signers': [
      () =>
        request({
          url: `${ENCLAVE}/v1/wallets/wallet1`,
          body: { additional_signers: [{ signer_id: 'signer1', override_policy_ids: ['policy2'] }] },
        }),
      'request_not_of_wallet',
    ],
    'in a change of the owner': [
      () => request({ url: `${ENCLAVE}/v1/wallets/wallet1`, body: { owner_id: 'attacker' } }),
      'request_unknown',
    ],
  }
  for (const [name, [build, code]] of Object.entries(hidden)) {
    test(`cannot hide wider terms ${name}`, async () => {
      await assertRefused(signMessage(build(), { credentials: [owner], record }), code)
    })
  }

  test('cannot make its claims look like what is signed', async () => {
    const claims = {
      agentName: 'Nobody\n\n\u202EAt most in one payment\n0.01 USDC',
      addressNames: { [RECIPIENT]: `yourself” ${WALLET}` },
      before: [rule()],
    }
    const reply = fixture.send(signMessage(request(), { credentials: [owner], record, claims }))
    await heading(signer, 'Change what an agent may pay').waitFor()
    const facts = await signer.locator('dl').first().innerText()
    assert.match(facts, /At most in one payment\n+10\.00 USDC/)
    assert.ok(!facts.includes('0.01'))
    assert.equal(await signer.locator('.claim').innerText(), `The service calls it “yourself’ ${WALLET}”`)
    const said = await signer.locator('.claims dd').first().innerText()
    assert.equal(said, 'Nobody At most in one payment 0.01 USDC')
    await button(signer, 'Cancel').click()
    assert.equal((await reply).bursar, 'canceled')
  })

  test('cannot pass its own key off as one that the wallet has', async () => {
    const own = createSoftwarePasskey({ rpId: RP_ID, origin: fixture.signerUrl })
    const own2 = { id: own.credentialId, publicKey: own.publicKeySpki }
    const payload = request({
      url: `${ENCLAVE}/v1/key_quorums/quorum1`,
      body: { public_keys: [owner.publicKey, own.publicKeySpki], authorization_threshold: 1 },
    })
    const { assertions } = forgeRecord(own, own.credentialId) as { assertions: object[] }
    const both = { ...record, assertions: [...(record as { assertions: object[] }).assertions, ...assertions] }
    const claims = { keyNames: { [own.publicKeySpki]: 'Your old phone' } }
    const reply = fixture.send(signMessage(payload, { credentials: [owner, own2], record: both, claims }))
    await heading(signer, 'Change the passkeys of the wallet').waitFor()
    assert.match(await text(), /\(not known to this page\)\s+The service calls it “Your old phone”/)
    assert.match(await text(), /This page does not know this passkey, so it cannot tell whose it is/)
    await button(signer, 'Cancel').click()
    await reply
  })

  test('cannot have an owner removed by their own signature', async () => {
    const other = createSoftwarePasskey({ rpId: RP_ID, origin: fixture.signerUrl })
    const payload = request({
      url: `${ENCLAVE}/v1/key_quorums/quorum1`,
      body: { public_keys: [other.publicKeySpki], authorization_threshold: 1 },
    })
    await assertRefused(signMessage(payload, { credentials: [owner], record }), 'request_unknown')
  })

  test('cannot exchange a request while it is shown, from any window', async () => {
    const shown = fixture.send(signMessage(request(), { credentials: [owner], record }))
    await heading(signer, 'Let an agent pay from your wallet').waitFor()
    const other = signMessage(request({ body: { rules: [] } }), { credentials: [owner], record })
    await opener.evaluate(`post(${JSON.stringify(other)})`)
    await sendFromFrame(opener, other)
    await heading(signer, 'Let an agent pay from your wallet').waitFor()
    await button(signer, 'Cancel').click()
    assert.equal((await shown).bursar, 'canceled')
    await sendFromFrame(opener, other)
    // The page handles messages in order. So if it had handled `other`, there would be one more reply.
    const replies = await opener.evaluate<number>('replies.length')
    await assertRefused(signMessage(request({ version: 2 }), { credentials: [owner], record }), 'request_unknown')
    assert.equal(await opener.evaluate<number>('replies.length'), replies + 1)
  })

  test('cannot show the page in a frame', async () => {
    const load = `new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.onload = () => resolve()
      frame.src = '${fixture.signerUrl}/'
      document.body.append(frame)
    })`
    await opener.evaluate(load)
    const frames = await Promise.all(opener.frames().map((frame) => frame.locator('h1').count()))
    assert.deepEqual([...new Set(frames)], [0])
  })
})

describe('the signer page in a browser that stores nothing', () => {
  let fixture: SignerFixture
  before(async () => {
    const initScript = `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`
    fixture = await openSignerFixture({ initScript })
  })
  afterEach((t) => explainFailure(t, [fixture.person]))
  after(() => fixture.close())

  test('works, and remembers until it is closed', async () => {
    const { signer } = fixture
    const owner = await fixture.create()
    const confirm = (): Promise<void> => button(signer, 'Confirm the wallet').click()
    const reply = await fixture.send(signMessage(RECORD_STATEMENT, { credentials: [owner] }), confirm)
    const record = signedRecord(RECORD_STATEMENT, reply)
    const signed = await fixture.send(signMessage(request(), { credentials: [owner], record }), () =>
      button(signer, 'Sign the limits').click(),
    )
    assert.equal(signed.bursar, 'signed')
    const other = { ...RECORD_STATEMENT, policies: ['policy1', 'attacker'] }
    const refused = await fixture.send(signMessage(other, { credentials: [owner] }))
    assert.equal(refused.code, 'record_differs')
  })
})

/** Sends a message to the signer page from a frame inside the page that opened the signer page. */
async function sendFromFrame(opener: Page, message: object): Promise<void> {
  await opener.evaluate(`new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.srcdoc = '<script>parent.signer2.postMessage(parent.message, "*"); parent.sent()<' + '/script>'
    window.signer2 = signer
    window.message = ${JSON.stringify(message)}
    window.sent = resolve
    document.body.append(frame)
  })`)
}
