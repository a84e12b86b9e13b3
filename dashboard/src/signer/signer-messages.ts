import type { SigningRequest } from '@bursar/server/src/console/contract/grants.ts'
import type { WalletRecord } from '@bursar/server/src/console/contract/owners.ts'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'

/**
 * The messages between this page and the signer page, which is another site in another window (D60). The signer page
 * decodes `payload` itself. It shows the claims as statements of the service.
 */
export type SignerMessage =
  | {
      readonly bursar: 'sign'
      /** base64url of the exact bytes that are signed. */
      readonly payload: string
      /** The wallet passkeys that may sign. `publicKey` is base64 SPKI. */
      readonly credentials: readonly { readonly id: string; readonly publicKey: string; readonly name: string }[]
      /** The wallet's signed record. Null if the payload itself is the record to sign. */
      readonly record: Pick<WalletRecord, 'statement' | 'assertions'> | null
      readonly claims: Claims
    }
  | {
      readonly bursar: 'create'
      readonly options: PublicKeyCredentialCreationOptionsJSON
      readonly claims: Claims
    }

/** What the service says about a request. */
export interface Claims {
  readonly workspace?: string
  readonly walletName?: string
  readonly agentName?: string | null
  /**
   * The grant's 24-hour limit as a text, and the limit that is in force now. The signer page shows them where the signed
   * bytes do not contain the limit.
   */
  readonly dailyLimit?: string
  readonly dailyLimitBefore?: string | null
  /** The labels of recipients, by address in lower case. */
  readonly addressNames?: Readonly<Record<string, string>>
  /** The names of wallet passkeys, by public key (base64 SPKI). */
  readonly keyNames?: Readonly<Record<string, string>>
  /** The rules that are in force now. */
  readonly before?: SigningRequest['before']
}

export type SignerReply =
  | { readonly bursar: 'ready' }
  | { readonly bursar: 'signed'; readonly assertion: AuthenticationResponseJSON }
  | { readonly bursar: 'created'; readonly registration: RegistrationResponseJSON }
  | { readonly bursar: 'refused'; readonly code: string; readonly message: string }
  | { readonly bursar: 'canceled' }

/** Parses a message of the signer window. Returns null if it is not a message of the signer page. */
export function parseReply(data: unknown): SignerReply | null {
  if (typeof data !== 'object' || data === null || !('bursar' in data)) return null
  // The members of a signed response are checked by the server, which verifies the signature.
  const isComplete =
    data.bursar === 'ready' ||
    data.bursar === 'canceled' ||
    (data.bursar === 'signed' && 'assertion' in data) ||
    (data.bursar === 'created' && 'registration' in data) ||
    (data.bursar === 'refused' && 'message' in data && typeof data.message === 'string')
  return isComplete ? (data as SignerReply) : null
}
