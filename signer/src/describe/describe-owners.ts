import type { WalletRecord } from '../decode/record.ts'
import type { Claims } from '../read-message.ts'
import type { Remembered } from '../remembered-requests.ts'
import type { Description, Line } from './description.ts'

/** Fingerprints of public keys (base64 SPKI), and which of the keys this page knows without asking the service. */
export interface KnownKeys {
  readonly fingerprints: ReadonlyMap<string, string>
  /** The key of the passkey that must sign this request. Null if any of several passkeys may sign it. */
  readonly signing: string | null
  /** The keys of passkeys that were created on this page since it was opened. */
  readonly created: readonly string[]
  /** The keys of passkeys that were created or used in this browser before. */
  readonly remembered: readonly string[]
}

/** Describes the complete list of passkeys that own the wallet after the change. */
export function describeOwners(
  publicKeys: readonly string[],
  {
    record,
    claims,
    keys,
    remembered,
  }: { record: WalletRecord; claims: Claims; keys: KnownKeys; remembered: Remembered | null },
): Description {
  const removed = listShownKeys(publicKeys, { claims, remembered }).slice(publicKeys.length)
  const hasUnknown = publicKeys.some((key) => nameKnownKey(key, keys) === null)
  return {
    title: 'Change the passkeys of the wallet',
    summary:
      publicKeys.length === 1
        ? 'After this, one passkey alone controls the wallet and everything in it.'
        : `After this, any one of these ${publicKeys.length} passkeys is enough to control the wallet and everything in it.`,
    facts: [
      ...publicKeys.map((key, index) => ({
        label: `Passkey ${index + 1}`,
        lines: [describeKey(key, { claims, keys })],
      })),
      ...(removed.length === 0
        ? []
        : [{ label: 'Not an owner after this', lines: removed.map((key) => describeKey(key, { claims, keys })) }]),
      { label: 'Wallet', lines: [{ text: record.address }] },
    ],
    warnings: hasUnknown
      ? [
          'This page does not know this passkey, so it cannot tell whose it is. Sign only if you recognize the fingerprint of its key.',
        ]
      : [],
    button: 'Sign the change',
  }
}

/**
 * Lists the passkeys that are shown: first the new owners, then those that may have owned the wallet until now. These
 * are the owners that were signed last in this browser, and those that the service names. They are shown only to say
 * which of them is removed.
 */
export function listShownKeys(
  publicKeys: readonly string[],
  { claims, remembered }: { claims: Claims; remembered: Remembered | null },
): readonly string[] {
  return [...new Set([...publicKeys, ...(remembered?.publicKeys ?? []), ...claims.keyNames.keys()])]
}

function describeKey(key: string, { claims, keys }: { claims: Claims; keys: KnownKeys }): Line {
  const text = `Fingerprint ${keys.fingerprints.get(key) ?? ''} (${nameKnownKey(key, keys) ?? 'not known to this page'})`
  const claim = claims.keyNames.get(key)
  return claim === undefined ? { text } : { text, claim }
}

/**
 * Says how this page knows a key. Returns null for an unknown key. What the service says about a key does not count,
 * because an attacker who controls the service could send keys of their own.
 */
function nameKnownKey(key: string, { signing, created, remembered }: KnownKeys): string | null {
  if (signing === key) return 'the passkey that you sign with'
  if (created.includes(key)) return 'created on this page just now'
  return remembered.includes(key) ? 'used in this browser before' : null
}
