import type { CDPSession, Page } from 'playwright-core'
import { addAuthenticator, type Authenticator, type Person, type readCredentials } from './launch-browser.ts'

/** A passkey as Chromium's authenticator exports it, with its private key. */
export type StoredCredential = Awaited<ReturnType<typeof readCredentials>>[number]

/** The wallet passkeys of each person, by the person's browser and the passkey's id. */
const walletPasskeys = new WeakMap<Person['context'], Map<string, StoredCredential>>()

/**
 * Waits for the signer page that `page` opens, and calls `act` with it. The signer page has an authenticator with the
 * person's wallet passkeys. Passkeys that are created there are kept for the person's later signer pages.
 */
export async function withSigner<Result>(
  page: Page,
  person: Pick<Person, 'context'>,
  act: (signer: Page, authenticator: Authenticator) => Promise<Result>,
): Promise<Result> {
  const signer = await findPopup(page)
  await signer.waitForLoadState()
  const kept = keptBy(person)
  const authenticator = await addAuthenticator(signer)
  const { session, id: authenticatorId } = authenticator
  for (const credential of kept.values()) await session.send('WebAuthn.addCredential', { authenticatorId, credential })
  keepCredentials(session, kept)
  return await act(signer, authenticator)
}

/**
 * Creates a passkey on another device, such as a security key. A device does not create a second passkey for a person,
 * so the person's passkeys are removed from the authenticator while `create` runs.
 */
export async function onOtherDevice(
  { session, id: authenticatorId }: Authenticator,
  person: Pick<Person, 'context'>,
  create: () => Promise<void>,
): Promise<void> {
  const known = listWalletPasskeys(person)
  for (const { credentialId } of known)
    await session.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
  await create()
  for (const credential of known) await session.send('WebAuthn.addCredential', { authenticatorId, credential })
}

/** Returns the wallet passkeys that a person has created. */
export function listWalletPasskeys(person: Pick<Person, 'context'>): readonly StoredCredential[] {
  return [...keptBy(person).values()]
}

/** Takes a wallet passkey away from a person, as if its device was lost. */
export function loseWalletPasskey(person: Pick<Person, 'context'>, { credentialId }: StoredCredential): void {
  keptBy(person).delete(credentialId)
}

/** Takes all wallet passkeys away from a person who leaves, because another person may enter their browser next. */
export function forgetWalletPasskeys({ context }: Pick<Person, 'context'>): void {
  walletPasskeys.delete(context)
}

function keptBy({ context }: Pick<Person, 'context'>): Map<string, StoredCredential> {
  const kept = walletPasskeys.get(context) ?? new Map<string, StoredCredential>()
  walletPasskeys.set(context, kept)
  return kept
}

/**
 * Keeps each passkey as soon as Chromium reports that it was created or used. Later, the passkey might no longer be
 * readable, because the signer page may close itself.
 */
function keepCredentials(session: CDPSession, kept: Map<string, StoredCredential>): void {
  const keep = ({ credential }: { credential: StoredCredential }): void => {
    kept.set(credential.credentialId, credential)
  }
  session.on('WebAuthn.credentialAdded', keep)
  session.on('WebAuthn.credentialAsserted', keep)
}

async function findPopup(page: Page): Promise<Page> {
  const coming = page.waitForEvent('popup')
  coming.catch(() => undefined)
  for (const other of page.context().pages()) {
    if (!other.isClosed() && (await other.opener()) === page) return other
  }
  return await coming
}
