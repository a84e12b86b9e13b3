import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { canonicalJson, type Json } from '../../../signer/src/canonical-json.ts'
import { openBrowser } from './browser-fixture.ts'
import { openPerson, type Person } from './launch-browser.ts'
import { button } from './pages.ts'
import { openSignerSite, type SignerSite } from './signer-site.ts'
import { listWalletPasskeys, withSigner } from './signer.ts'

export interface Passkey {
  /** The passkey's credential id, in base64url. */
  readonly id: string
  /** The SPKI of the passkey's public key, in base64. */
  readonly publicKey: string
}

export interface Assertion {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

export interface Reply {
  readonly bursar: string
  readonly code?: string
  readonly assertion?: { readonly id: string; readonly response: Assertion }
  readonly registration?: { readonly id: string }
}

/** A person with the signer page open, and the page that opened it. */
export interface SignerFixture extends SignerSite {
  readonly person: Person
  readonly signer: Page
  /** The addresses that the signer page has requested. */
  readonly requests: readonly string[]
  /** Sends a message to the signer page, does what the person does there, and returns the reply. */
  send(message: object, act?: () => Promise<void>): Promise<Reply>
  /** Creates a wallet passkey. */
  create(): Promise<Passkey>
}

const ID_BYTES = 32

/** Opens the signer page from a page of another site. `initScript` runs in each page before the page's own scripts. */
export async function openSignerFixture({ initScript }: { initScript?: string } = {}): Promise<SignerFixture> {
  const [browser, site] = await Promise.all([openBrowser(), openSignerSite()])
  const person = await openPerson(browser, { baseURL: site.openerUrl })
  if (initScript !== undefined) await person.context.addInitScript(initScript)
  const requests: string[] = []
  person.context.on('request', (request) => {
    if (!request.url().startsWith(site.openerUrl)) requests.push(request.url())
  })
  const { page } = person
  await page.goto('/')
  await page.evaluate(`openSigner(${JSON.stringify(`${site.signerUrl}/`)})`)
  const signer = await withSigner(page, person, async (opened) => opened)
  const send: SignerFixture['send'] = async (message, act = async () => undefined) => {
    const [reply] = await Promise.all([page.evaluate<Reply>(`ask(${JSON.stringify(message)})`), act()])
    return reply
  }
  return {
    ...site,
    person,
    signer,
    requests,
    send,
    async create() {
      const reply = await send(createMessage(), () => button(signer, 'Create the passkey').click())
      assert.equal(reply.bursar, 'created')
      const id = reply.registration?.id ?? ''
      return { id, publicKey: publicKeyOf(person, id) }
    },
    async close() {
      await person.close()
      await site.close()
    },
  }
}

/** Returns a message that asks for a new passkey. */
export function createMessage(changes: object = {}): object {
  return {
    bursar: 'create',
    options: {
      rp: { id: 'signer.localhost', name: 'Bursar' },
      user: { id: randomId(), name: 'Ada', displayName: 'Ada' },
      challenge: randomId(),
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      ...changes,
    },
    claims: { workspace: 'Acme' },
  }
}

/** Returns a message that asks for a signature. */
export function signMessage(
  payload: Json,
  {
    credentials,
    record = null,
    claims = {},
  }: { credentials: readonly Passkey[]; record?: object | null; claims?: object },
): object {
  return {
    bursar: 'sign',
    payload: Buffer.from(canonicalJson(payload)).toString('base64url'),
    credentials: credentials.map((one) => ({ ...one, name: 'Phone' })),
    record,
    claims: { workspace: 'Acme', walletName: 'Treasury', agentName: 'buyer', ...claims },
  }
}

/** Returns a record with its signatures, in the form of a message. */
export function signedRecord(statement: Json, ...replies: readonly Reply[]): object {
  return {
    statement: Buffer.from(canonicalJson(statement)).toString('base64url'),
    assertions: replies.map(({ assertion }) => ({ credentialId: assertion?.id, ...assertion?.response })),
  }
}

function publicKeyOf(person: Person, id: string): string {
  const found = listWalletPasskeys(person).find(({ credentialId }) => toBase64Url(credentialId) === id)
  assert.ok(found !== undefined)
  const key = createPrivateKey({ key: Buffer.from(found.privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')
}

function toBase64Url(base64: string): string {
  return Buffer.from(base64, 'base64').toString('base64url')
}

function randomId(): string {
  return randomBytes(ID_BYTES).toString('base64url')
}
