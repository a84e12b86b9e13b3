import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { loadPublicKey } from '../../sandbox/src/enclave/public-key.ts'
import { verifySignature } from '../../sandbox/src/enclave/verify-signature.ts'
import { parseAddress } from '../../server/src/values/address.ts'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import {
  createRequests,
  ENCLAVE,
  onCall,
  CONDITIONS,
  RECIPIENT,
  RECORD_STATEMENT,
  rule,
  RULE_NAME,
  WALLET,
} from '../signer/sample-requests.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { explainFailure } from '../support/browser/page-history.ts'
import { button, heading } from '../support/browser/pages.ts'
import {
  createMessage,
  openSignerFixture,
  signedRecord,
  signMessage,
  type Passkey,
  type Reply,
  type SignerFixture,
} from '../support/browser/signer-fixture.ts'

const { request, transfer } = createRequests(() => new Date(Date.now() + 5 * 60_000))
const DAILY = '50.00 USDC, until now 20.00 USDC (not signed)'
const SMALL_PHONE = { width: 360, height: 640 }
const FILES = readFileSync(new URL('../../signer/SHA256SUMS', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => `/${line.slice(66)}`)

function owners(...passkeys: readonly Passkey[]): Json {
  const body = { public_keys: passkeys.map(({ publicKey }) => publicKey), authorization_threshold: 1 }
  return request({ url: `${ENCLAVE}/v1/key_quorums/quorum1`, body })
}

/** Checks that the enclave would accept the signature for exactly the request that the person has seen. */
function assertAccepted({ bursar, assertion }: Reply, payload: Json, { publicKey }: Passkey): void {
  assert.equal(bursar, 'signed')
  assert.ok(assertion !== undefined)
  const { authenticatorData, clientDataJSON, signature } = assertion.response
  const header = `webauthn:${authenticatorData}:${clientDataJSON}:${signature}`
  assert.ok(verifySignature(header, Buffer.from(canonicalJson(payload)), loadPublicKey(publicKey)))
}

async function confirm(signer: Page, title: string, name: string): Promise<void> {
  await heading(signer, title).waitFor()
  await button(signer, name).click()
}

describe('the signer page', () => {
  let fixture: SignerFixture
  let signer: Page
  let passkey: Passkey
  let record: object
  before(async () => {
    fixture = await openSignerFixture()
    signer = fixture.signer
  })
  afterEach((t) => explainFailure(t, [fixture.person]))
  after(async () => {
    const { faults } = fixture.person
    await fixture.close()
    assert.deepEqual(faults, [])
  })

  /** Asks for a signature, checks the page, confirms, and checks that the enclave accepts the signature. */
  async function sign(
    payload: Json,
    {
      title,
      confirmLabel,
      name,
      look,
      claims = {},
      credentials = [passkey],
    }: {
      title: string
      confirmLabel: string
      name: string
      look?: () => Promise<void>
      claims?: object
      credentials?: readonly Passkey[]
    },
  ): Promise<Reply> {
    const reply = await fixture.send(signMessage(payload, { credentials, record, claims }), async () => {
      await heading(signer, title).waitFor()
      await button(signer, confirmLabel).waitFor()
      await look?.()
      await inspectPage(signer, `signer-${name}`)
      await assertInSight(confirmLabel)
      await confirm(signer, title, confirmLabel)
    })
    const used = credentials.find(({ id }) => id === reply.assertion?.id)
    assert.ok(used !== undefined, JSON.stringify(reply))
    assertAccepted(reply, payload, used)
    await heading(signer, 'Bursar signer').waitFor()
    return reply
  }

  /** Checks that a button of the request can be pressed on a small phone without scrolling. */
  async function assertInSight(name: string): Promise<void> {
    await signer.setViewportSize(SMALL_PHONE)
    const box = await button(signer, name).boundingBox()
    assert.ok(box !== null && box.y > 0 && box.y + box.height <= SMALL_PHONE.height, JSON.stringify(box))
  }

  const text = async (): Promise<string> => await signer.getByRole('main').innerText()

  test('creates a passkey, and says which site asks', async () => {
    await inspectPage(signer, 'signer-waiting')
    const reply = fixture.send(createMessage())
    await heading(signer, 'Create a wallet passkey').waitFor()
    assert.ok((await text()).includes(`The request comes from ${fixture.openerUrl}`))
    await inspectPage(signer, 'signer-create')
    await assertInSight('Create the passkey')
    await button(signer, 'Cancel').click()
    assert.equal((await reply).bursar, 'canceled')
    passkey = await fixture.create()
  })

  test('signs the record of a wallet', async () => {
    const reply = await sign(RECORD_STATEMENT, {
      title: 'Confirm a wallet',
      confirmLabel: 'Confirm the wallet',
      name: 'record',
    })
    record = signedRecord(RECORD_STATEMENT, reply)
  })

  test('signs a grant, and sets apart what only the service says', async () => {
    await sign(request(), {
      title: 'Let an agent pay from your wallet',
      confirmLabel: 'Sign the limits',
      name: 'grant',
      claims: {
        addressNames: { [RECIPIENT]: 'Office shop\nWallet 0x00' },
        dailyLimit: '50.00 USDC',
        dailyLimitBefore: '20.00 USDC',
      },
      look: async () => {
        const facts = await signer.locator('dl').first().innerText()
        for (const fact of [
          WALLET,
          '10.00 USDC',
          '50.50 USDC',
          RECIPIENT,
          'The service calls it “Office shop Wallet 0x00”',
        ]) {
          assert.ok(facts.includes(fact), `${fact} in ${facts}`)
        }
        const said = await signer.locator('.claims').innerText()
        for (const claim of ['The service says', 'Acme', 'Treasury', 'buyer']) assert.ok(said.includes(claim))
        assert.ok(!said.includes('24-hour limit'), said)
        assert.ok(!facts.includes('buyer'))
      },
    })
  })

  test('signs a change to a grant, and shows what it was', async () => {
    const { chain, token, native, time } = CONDITIONS
    const old = rule([chain, token, native, onCall('transfer.amount', 'lte', '5000000'), time])
    await sign(request(), {
      title: 'Change what an agent may pay',
      confirmLabel: 'Sign the limits',
      name: 'change',
      claims: { before: [old] },
      look: async () => {
        assert.match(await text(), /10\.00 USDC\s+Until now, according to the service:\s+5\.00 USDC/)
        assert.match(await text(), /Until now, according to the service:\s+anybody/)
        // The grant before was signed in this browser, so the page can say what it was without the service.
        assert.match(await text(), /The service says that other terms are in force than those signed last/)
      },
    })
  })

  test('signs a grant of an earlier version without its 24-hour limit, and a change that signs the limit', async () => {
    const old = rule(undefined, { name: RULE_NAME.split(' ')[0] ?? '' })
    const claims = { dailyLimit: '50.00 USDC', dailyLimitBefore: '20.00 USDC' }
    await sign(request({ body: { rules: [old] } }), {
      title: 'Let an agent pay from your wallet',
      confirmLabel: 'Sign the limits',
      name: 'unsigned-daily-limit',
      claims,
      look: async () => {
        assert.ok(!(await signer.locator('dl').first().innerText()).includes('24 hours'))
        assert.ok((await signer.locator('.claims').innerText()).includes(DAILY))
      },
    })
    await sign(request(), {
      title: 'Change what an agent may pay',
      confirmLabel: 'Sign the limits',
      name: 'signed-daily-limit',
      claims: { ...claims, before: [old] },
      look: async () => {
        const shown = await text()
        assert.match(shown, /At most in 24 hours\s+50\.50 USDC\s+Before:\s+not part of the signature/)
        assert.match(shown, /according to the service:\s+20\.00 USDC \(not part of the signature\)/)
      },
    })
  })

  test('signs the end of a grant, a withdrawal, and 100 recipients', async () => {
    const end = request({ body: { rules: [] } })
    await sign(end, { title: 'Revoke a grant', confirmLabel: 'Sign and revoke the grant', name: 'end' })
    await sign(transfer(), {
      title: 'Withdraw from the wallet',
      confirmLabel: 'Sign the withdrawal',
      name: 'withdrawal',
      look: async () => assert.match(await text(), /Sends 1\.25 USDC from the wallet now\./),
    })
    const { chain, token, native, amount } = CONDITIONS
    const recipients = Array.from({ length: 100 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    const many = rule([chain, token, native, amount, onCall('transfer.to', 'in', recipients)])
    await sign(request({ body: { rules: [many] } }), {
      title: 'Let an agent pay from your wallet',
      confirmLabel: 'Sign the limits',
      name: 'many-recipients',
      look: async () => {
        const shown = await text()
        for (const recipient of recipients) assert.ok(shown.includes(parseAddress(recipient) ?? ''), recipient)
      },
    })
  })

  test('adds an owner: a new passkey, the change of the owners, and the record', async () => {
    const second = await fixture.create()
    await sign(owners(passkey, second), {
      title: 'Change the passkeys of the wallet',
      confirmLabel: 'Sign the change',
      name: 'owners',
      look: async () => {
        assert.match(await text(), /the passkey that you sign with[\s\S]*created on this page just now/)
        assert.doesNotMatch(await text(), /cannot tell/)
      },
    })
    const look = async (): Promise<void> => assert.match(await text(), /just created or moved this wallet/)
    const labels = { title: 'Confirm a wallet', confirmLabel: 'Confirm the wallet', name: 'second-record' }
    const reply = await sign(RECORD_STATEMENT, { ...labels, look, credentials: [second] })
    assert.equal(reply.assertion?.id, second.id)
  })

  test('asks for nothing again after it was canceled, and says why it signs nothing', async () => {
    const message = signMessage(request(), { credentials: [passkey], record })
    const canceled = await fixture.send(message, () => button(signer, 'Cancel').click())
    assert.equal(canceled.bursar, 'canceled')
    const refused = await fixture.send(signMessage(request({ version: 2 }), { credentials: [passkey], record }))
    assert.deepEqual([refused.bursar, refused.code], ['refused', 'request_unknown'])
    await heading(signer, 'Nothing was signed').waitFor()
    await inspectPage(signer, 'signer-refused')
  })

  test('requests nothing but its own files, and its policy blocks everything else', async () => {
    const { signerUrl, requests, person } = fixture
    const paths = [...new Set(requests)].map((url) => url.replace(signerUrl, ''))
    assert.deepEqual(
      paths.filter((path) => path !== '/' && !FILES.includes(path)),
      [],
    )
    const faults = person.faults.length
    const blocked = await signer.evaluate<boolean>(`fetch('/main.js').then(() => false, () => true)`)
    assert.ok(blocked)
    const image = `new Promise((done) => { const image = new Image(); image.onerror = () => done(true); image.onload = () => done(false); image.src = '/x.png' })`
    assert.ok(await signer.evaluate<boolean>(image))
    assert.ok(
      await signer.evaluate<boolean>(
        `(() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } })()`,
      ),
    )
    // The browser has reported the blocked attempts as faults. They are expected, so they are removed.
    ;(person.faults as string[]).splice(faults)
  })

  test('closes itself when the page that opened it is done', async () => {
    const closed = signer.waitForEvent('close')
    await fixture.person.page.evaluate(`post({ bursar: 'done' })`)
    await closed
  })
})
