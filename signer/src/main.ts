import { checkRequest, selectSigners } from './check-request.ts'
import { decodeRequest, type Decoded } from './decode/request.ts'
import { decodeResumption } from './decode/resumption.ts'
import { describe } from './describe/describe.ts'
import { listShownKeys } from './describe/describe-owners.ts'
import { formatFingerprint } from './describe/format.ts'
import { fromBase64, toBase64Url } from './bytes.ts'
import { findRecord, type Credential } from './find-record.ts'
import { createPasskey, signWithPasskey, type AssertionJson } from './passkeys.ts'
import { readMessage, type Claims, type Message } from './read-message.ts'
import { Refusal } from './refusal.ts'
import { isRememberedKey, rememberKey } from './remembered-keys.ts'
import { checkRemembered, rememberRecord, type Statement } from './remembered-records.ts'
import { findRemembered, rememberRequest } from './remembered-requests.ts'
import { ask, showRefusal, showStart, showWaiting } from './show.ts'
import { signResumption } from './sign-resumption.ts'
import { openStore } from './store.ts'
import { sha256, verifyAssertion } from './verify-assertion.ts'

type SignMessage = Extract<Message, { kind: 'sign' }>
type CreateMessage = Extract<Message, { kind: 'create' }>

/** What is sent back to the window that asked. */
type Reply =
  | { readonly bursar: 'signed'; readonly assertion: AssertionJson }
  | { readonly bursar: 'created'; readonly registration: object }
  | { readonly bursar: 'refused'; readonly code: string; readonly message: string }
  | { readonly bursar: 'canceled' }

/** The public keys (base64 SPKI) of the passkeys that were created since this page was opened. */
const created: string[] = []
const store = openStore(() => localStorage)
let isBusy = false

start()

/** Waits for requests of the window that opened this page. One request is handled at a time. */
function start(): void {
  const opener = window.opener as Window | null
  // In a frame, another site could cover parts of this page.
  if (opener === null || window.top !== window) {
    showStart()
    return
  }
  showWaiting()
  let asker: string | null = null
  addEventListener('message', (event: MessageEvent<unknown>) => {
    if (event.source !== opener || isBusy || !isPermitted(event.origin)) return
    // If the opener shows another site later, the messages of that site are ignored. It has to open a signer page of
    // its own.
    asker ??= event.origin
    if (event.origin !== asker) return
    isBusy = true
    void handle(event.data, event.origin)
      .then((reply) => {
        if (reply !== null) opener.postMessage(reply, event.origin)
      })
      .finally(() => {
        isBusy = false
      })
  })
  // Anybody may know that this page is ready. The reply to a request goes only to the site that sent the request.
  opener.postMessage({ bursar: 'ready' }, '*')
}

/** Without TLS, somebody on the network could pretend to be the site that asks. */
function isPermitted(origin: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && /(?:^|\.)localhost$/.test(url.hostname))
}

/** Handles one message. Returns the reply, or null if none is expected. */
async function handle(data: unknown, origin: string): Promise<Reply | null> {
  try {
    const message = readMessage(data)
    if (message.kind === 'done') {
      window.close()
      return null
    }
    const reply = message.kind === 'create' ? await create(message, origin) : await sign(message, origin)
    showWaiting()
    return reply
  } catch (error) {
    const refusal =
      error instanceof Refusal
        ? error
        : new Refusal('passkey_invalid', `The passkey could not be used: ${String(error)}`)
    showRefusal({ origin, message: refusal.message })
    return { bursar: 'refused', code: refusal.code, message: refusal.message }
  }
}

async function create({ options, claims }: CreateMessage, origin: string): Promise<Reply> {
  const agreed = await ask({
    origin,
    claims,
    description: {
      title: 'Create a wallet passkey',
      summary:
        'Creates a passkey that can own wallets. It works on this page only, and it cannot sign you in anywhere.',
      facts: [{ label: 'Works on', lines: [{ text: location.host }] }],
      warnings: [],
      button: 'Create the passkey',
    },
  })
  const made = agreed ? await createPasskey(options) : null
  if (made === null) return { bursar: 'canceled' }
  created.push(made.publicKey)
  rememberKey(store, made.publicKey)
  return { bursar: 'created', registration: made.registration }
}

/**
 * Shows what the request does, asks the passkey, and hands back its assertion. The assertion is verified first, with
 * the public key that confirmed the wallet: a signature of another passkey is never sent.
 */
async function sign(message: SignMessage, origin: string): Promise<Reply> {
  const { payload, claims } = message
  const rpId = location.hostname
  const resumption = decodeResumption(payload)
  if (resumption !== null) {
    const signed = await signResumption(resumption, { ...message, origin })
    return signed === null ? { bursar: 'canceled' } : { bursar: 'signed', assertion: signed }
  }
  const decoded = decodeRequest(payload)
  const { credentials: confirmed, ...statement } = await findStatement(message, decoded)
  const { record } = statement
  checkRemembered(store, statement)
  if (decoded.kind !== 'record') checkRequest(decoded, record, new Date())
  const credentials = selectSigners(decoded, confirmed)
  const remembered = findRemembered(store, decoded)
  const named = decoded.kind === 'owners' ? listShownKeys(decoded.publicKeys, { claims, remembered }) : []
  const keys = {
    fingerprints: await fingerprint(named),
    signing: credentials.length === 1 ? (credentials[0]?.publicKey ?? null) : null,
    created,
    remembered: named.filter((key) => isRememberedKey(store, key)),
  }
  const description = describe(decoded, { record, claims, keys, remembered })
  const expiresAt = decoded.kind === 'record' ? null : decoded.expiresAt
  const shown = selectClaims(decoded, claims)
  if (!(await ask({ origin, claims: shown, description, expiresAt }))) return { bursar: 'canceled' }

  if (decoded.kind !== 'record') checkRequest(decoded, record, new Date())
  const assertion = await signWithPasskey(payload, credentials)
  if (assertion === null) return { bursar: 'canceled' }
  const publicKey = credentials.find(({ id }) => id === assertion.id)?.publicKey
  if (publicKey === undefined || !(await verifyAssertion(assertion.response, { payload, publicKey, rpId }))) {
    throw new Refusal(
      'passkey_invalid',
      'The passkey that you used does not own this wallet, so the signature was not sent.',
    )
  }
  rememberRecord(store, statement)
  rememberKey(store, publicKey)
  rememberRequest(store, { decoded, payload, signedAt: new Date() })
  return { bursar: 'signed', assertion }
}

/**
 * Returns the claims that are shown with a request. Only a grant concerns an agent. What the service says about the
 * 24-hour limit is shown only if the signed bytes do not contain the limit.
 */
function selectClaims(decoded: Decoded, claims: Claims): Claims {
  if (decoded.kind !== 'policy') return { ...claims, agentName: null }
  return decoded.terms?.dailyMax === null ? claims : { ...claims, dailyLimit: null }
}

/**
 * Returns the wallet record, and the passkeys that may sign. If the request is the record itself, any passkey may sign
 * it, because a signed record is used only for later requests that the same passkey signs.
 */
async function findStatement(
  { payload, record: signed, credentials }: SignMessage,
  decoded: Decoded,
): Promise<Statement & { credentials: readonly Credential[] }> {
  if (decoded.kind === 'record') return { record: decoded.record, statement: toBase64Url(payload), credentials }
  const { record, statement, signers } = await findRecord(signed, { credentials, rpId: location.hostname })
  return { record, statement, credentials: signers }
}

async function fingerprint(publicKeys: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const entries = publicKeys.map(async (key) => {
    const spki = fromBase64(key)
    return [key, spki === null ? '' : formatFingerprint(await sha256(spki))] as const
  })
  return new Map(await Promise.all(entries))
}
