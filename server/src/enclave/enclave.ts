import type { Hash, Hex } from 'viem'
import type { Address } from '../values/address.ts'
import type { MicroUsdc } from '../values/money.ts'
import type { SignatureForm, TransferAuthorization, UsdcDomain } from '../values/transfer-authorization.ts'
import type { EnclaveUnavailable } from './errors.ts'

/**
 * The door to the enclave, which holds the wallets' keys: everything that the service asks of it, in our own words. The
 * words and formats of its provider are only in the folder beside this file.
 *
 * | limit                                              | enforced by                                     |
 * | -------------------------------------------------- | ----------------------------------------------- |
 * | per-payment limit, recipients, contracts, end date | the enclave, by the slot's rules                |
 * | only an owner changes rules or owners              | the enclave, which verifies the owner's passkey |
 * | 24-hour limit, suspension                          | the service                                     |
 *
 * The owner signs the 24-hour limit in the name of the rules, and the enclave returns the name unchanged (D79).
 *
 * The service relies on this:
 * - For 24 hours, a request with a known `attemptKey` and an equal body gets the stored response again, even a failure,
 *   and is not carried out a second time (D22).
 * - A transfer that was accepted is found by its `referenceId` (D23). The provider also treats these as unique,
 *   which is one more guard: fences and the chain keep a payment from being made twice (D24).
 * - A request is rejected from its `expiresAt` on, by the enclave's own clock.
 * - An owner's signature covers one complete request and allows nothing else. Until that request expires, it could be
 *   sent again.
 * - The enclave's record shows a change at most a few seconds after the response to it.
 *
 * No request is repeated, except those of `createWallet` that a rate limit rejects, and the look-ups of `awaitTxHash`.
 * Calls that send or sign return their outcome. All other asynchronous calls throw `EnclaveRefused` if certainly nothing
 * was done, and `EnclaveUnavailable` if it is unknown whether something was done.
 */
export interface Enclave {
  /**
   * Creates a wallet with its owners, and with all slots that it will ever have. Each slot denies everything until an
   * owner signs rules for it. Makes two requests for each slot, and two more. @throws Error if the new wallet has other
   * owners or signers than those that were asked for, because somebody else could then spend its money.
   */
  createWallet(wallet: NewWallet): Promise<WalletIds & { readonly slots: readonly NewSlot[] }>
  /** Returns the public keys of the wallet's owners, in no particular order. Null if the enclave has no such list. */
  readOwners(wallet: Pick<WalletIds, 'enclaveOwnersId'>): Promise<readonly PublicKey[] | null>
  /** Returns the rules that the slot has now. */
  readRules(slot: Pick<SlotIds, 'enclaveRulesId'>): Promise<SlotRules>
  /**
   * Reads the wallet and the rules of one of its slots, and compares them with what they should be: the rules, the
   * owners of the wallet and of the rules, and that each of the wallet's signers is limited by its own slot only.
   */
  compareRecord(expected: ExpectedRecord): Promise<RecordComparison>
  /**
   * Returns the statement by which an owner confirms what belongs to a wallet at the enclave (D60). The signer page
   * reads it. It is no request, so its signature allows nothing. Equal input gives equal bytes.
   */
  describeWallet(wallet: WalletIds, slots: readonly (SlotIds & { readonly slot: number })[]): Uint8Array

  /**
   * Returns the rules that enforce the terms. All have the name `ruleName`.
   * @throws RangeError for terms that cannot be enforced, or that would allow nothing or everything, and for a name that
   * is too long.
   */
  toRules(terms: Terms): SlotRules
  /** Returns whether both lists allow the same, and have the same names. */
  sameRules(left: SlotRules, right: SlotRules): boolean

  /** Prepares the change of all rules of a slot. The result of sending it must be read back. */
  prepareRules(change: RulesChange): RequestToSign<void>
  /** Prepares the change of a wallet's owners. The result must be read back. @throws TypeError if no owner is left. */
  prepareOwners(change: OwnersChange): RequestToSign<void>
  /** Prepares a transfer that no rules limit. @throws RangeError for an amount that is not positive. */
  prepareTransfer(transfer: OwnerTransfer): RequestToSign<TransferOutcome>

  /**
   * Asks the enclave to sign and broadcast one USDC transfer. If the outcome is `unknown`, the caller must look up the
   * transfer by its reference id (D23).
   * @throws RangeError for an amount that is not positive; TypeError for a malformed signer key.
   */
  sendTransfer(order: TransferOrder): Promise<TransferOutcome>
  /**
   * Asks the enclave to sign one EIP-3009 authorization. The caller may ask again with the same order: the chain accepts
   * only one signature of an authorization, however many exist. The caller must check the signature before it leaves
   * the service.
   * @throws RangeError for an amount that is not positive; TypeError for a malformed signer key.
   */
  signAuthorization(order: AuthorizationOrder): Promise<SigningAnswer>
  /**
   * Looks up the transfer that the enclave accepted under a payment's reference id (D23). `transfer` is null only if the
   * enclave says that there is none. Callers then send the payment again, so any doubtful response throws instead. The
   * workspaces of the payments take turns, here and in `awaitTxHash`.
   * @throws EnclaveUnavailable
   */
  findTransfer(referenceId: string, workspaceId: string): Promise<TransferLookup>
  /**
   * Waits until an accepted transfer has a hash, for at most `timeoutMs` (D24). Returns null if it has no hash by then.
   * A failed look-up is no error, because the enclave has already accepted the transfer.
   */
  awaitTxHash(
    transactionId: string,
    wait: { readonly timeoutMs: number; readonly workspaceId: string },
  ): Promise<Hash | null>

  /** Converts a time of our clock to the enclave's clock, which decides when a request expires. */
  toEnclaveTime(time: Date): Date
  /**
   * Throws `EnclaveOutOfReach` if no call of this process has reached the enclave for some seconds. New payments are then
   * turned away before anything is recorded.
   */
  requireInReach(): Promise<void>
  /** Checks, for the readiness endpoint, that the enclave responds and accepts our credentials. */
  checkReachable(): Promise<void>
  /** Closes the connections, so that calls in progress fail. */
  close(): void
}

/** Base64 SPKI DER of a P-256 key. */
export type PublicKey = string

/** A wallet, and the ids that the enclave has given to it and to its list of owners. */
export interface WalletIds {
  readonly address: Address
  readonly enclaveWalletId: string
  /** The id of the list of owners, each of whom may sign alone. */
  readonly enclaveOwnersId: string
}

/** The ids that the enclave has given to the two parts of a slot: its rules, and the signer that they limit. */
export interface SlotIds {
  readonly enclaveRulesId: string
  readonly signerId: string
}

export interface NewWallet {
  /** The workspace to which the wallet will belong. Workspaces take turns while they create wallets. */
  readonly workspaceId: string
  /** Shown to people at the provider only. Cut to the length that the provider accepts. */
  readonly name: string
  readonly owners: readonly PublicKey[]
  /** How many slots the wallet gets. */
  readonly slots: number
}

/** A slot that was created with its wallet. */
export interface NewSlot extends SlotIds {
  /** From 1, in the order of the wallet's signers. */
  readonly slot: number
  /** Base64 PKCS8 DER of the signer's key. Secret. */
  readonly privateKey: string
}

/** The terms of a grant that the enclave can enforce on the agent's signer. */
export interface Terms {
  /** The name of every rule, at most `RULE_NAME_CHARS_MAX` characters of ASCII. It is part of what the owner signs. */
  readonly ruleName: string
  readonly chainId: number
  readonly maxPerTxMicro: MicroUsdc
  /** The only allowed recipients. If the list is empty, any recipient is allowed (D14). */
  readonly recipientAllowlist: readonly Address[]
  readonly contractAllowlist: readonly Address[]
  /** Rounded down to the second. */
  readonly expiresAt: Date | null
  /** Whether the signer may also sign EIP-3009 authorizations (D67). */
  readonly x402: boolean
  /** The chain's USDC contract. Authorizations of other contracts cannot be signed. */
  readonly usdc: Address
}

/**
 * All rules of a slot, as JSON in the provider's form. An empty list denies everything. The service stores the rules and
 * passes them to the signer page, but reads only their names.
 */
export type SlotRules = readonly SlotRule[]
export interface SlotRule {
  /** If the service has made the rule: the id of the grant that it enforces, and the 24-hour limit (D79). */
  readonly name: string
}

export interface ExpectedRecord {
  readonly wallet: WalletIds
  /** All slots of the wallet. */
  readonly slots: readonly SlotIds[]
  /** The slot whose rules are read. */
  readonly slot: SlotIds
  readonly rules: SlotRules
}

/** How the enclave's record differs from what it should be. Both lists have names of members, never values. */
export interface RecordComparison {
  /** Empty if the record allows exactly what it should. */
  readonly differences: readonly string[]
  /** Members that this version does not know, but that do not change what is allowed. */
  readonly ignored: readonly string[]
}

/**
 * A request that an owner's passkey signs. Preparing it again from equal input gives equal bytes, so it need not be
 * stored while the owner signs.
 */
export interface RequestToSign<Result> {
  /** The exact request, which the signer page shows. It is the challenge of the passkey (D15). */
  readonly payload: Uint8Array
  /**
   * Sends the request with its signature. Apart from the outcomes of `Result`:
   * @throws EnclaveRefused if it certainly had no effect; TypeError, before anything is sent, for an assertion that is
   * not base64url; EnclaveUnavailable if it may have had an effect, or may still have one until it expires.
   */
  submit(assertion: OwnerAssertion): Promise<Result>
}

/** The three parts of a WebAuthn assertion, in base64url as the browser returns them. */
export interface OwnerAssertion {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

export interface RulesChange {
  readonly slot: Pick<SlotIds, 'enclaveRulesId'>
  /** All rules of the slot after the change. */
  readonly rules: SlotRules
  readonly expiresAt: Date
}

export interface OwnersChange {
  readonly wallet: Pick<WalletIds, 'enclaveOwnersId'>
  /** All owners after the change, each of whom may then sign alone. */
  readonly owners: readonly PublicKey[]
  readonly expiresAt: Date
}

export interface TransferDetails {
  readonly enclaveWalletId: string
  readonly chainId: number
  readonly contract: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** Whether the enclave's provider pays the gas. Otherwise the wallet pays it in the chain's native coin. */
  readonly sponsored: boolean
  /** The payment's id. It must be unique at the enclave and have at most 64 characters (D23). */
  readonly referenceId: string
  /** The idempotency key of this attempt (D22). */
  readonly attemptKey: string
  /**
   * From this time on, by the enclave's clock, the enclave rejects the request, so that a delayed request cannot send
   * the transfer later.
   */
  readonly expiresAt: Date
}

/** A transfer that a signer of the wallet signs, within the rules of its slot. */
export interface TransferOrder extends TransferDetails {
  /** Base64 PKCS8 DER of the signer's key. Secret. */
  readonly signerPrivateKey: string
}

/** A transfer that an owner of the wallet signs. No rules limit it. */
export interface OwnerTransfer extends TransferDetails {
  /** The wallet's address. The signer page shows it to the owner, so it is part of what the owner signs. */
  readonly from: Address
}

/** Why the enclave did nothing: its HTTP status, or null if no request was made, its code and its message. */
export interface Rejection {
  readonly status: number | null
  readonly code: string
  readonly reason: string
}

/** The `code` of a rejection if the request had expired by the enclave's clock, or by our estimate of it. */
export const REQUEST_EXPIRED = 'request_expired'

export type TransferOutcome =
  /**
   * The enclave has signed the transfer and will broadcast it. The hash of a sponsored transfer is not known yet (D24).
   */
  | ({ readonly kind: 'accepted' } & AcceptedTransfer)
  /** The enclave rejected this transfer, signed nothing, and would reject it again. */
  | ({ readonly kind: 'refused' } & Rejection)
  /** The enclave certainly did not send the transfer. It can be retried. */
  | ({ readonly kind: 'not_sent' } & Rejection)
  /** The enclave may have sent the transfer, or may still send it. `error` says what happened. */
  | { readonly kind: 'unknown'; readonly error: EnclaveUnavailable }

export interface AcceptedTransfer {
  readonly transactionId: string
  readonly txHash: Hash | null
  /** The hash of the ERC-4337 user operation that contains a sponsored transfer; null if it is not known. */
  readonly userOperationHash: Hash | null
}

/** A transfer that the enclave has accepted, as it reports it. */
export interface EnclaveTransfer extends AcceptedTransfer {
  /** The end that the enclave reports, which is no proof (D24a). Null if it reports none, or success. */
  readonly failure: 'failed' | 'replaced' | 'reverted' | null
}

export interface TransferLookup {
  /** Null if the enclave says that no transfer has this reference id. */
  readonly transfer: EnclaveTransfer | null
  /** The time of the enclave's clock when it responded, in whole seconds, but never later than our estimate of it. */
  readonly providerTime: Date
}

/** An EIP-3009 authorization that a signer of the wallet signs, within the rules of its slot. */
export interface AuthorizationOrder {
  readonly enclaveWalletId: string
  /** Base64 PKCS8 DER of the signer's key. Secret. */
  readonly signerPrivateKey: string
  readonly domain: UsdcDomain
  readonly authorization: TransferAuthorization
  readonly form: SignatureForm
  /**
   * The idempotency key of the request. The same authorization in the same form must have the same key. Another form is
   * another request, and needs another key.
   */
  readonly attemptKey: string
  /** From this time of the enclave's clock on, the enclave rejects the request. */
  readonly expiresAt: Date
}

export type SigningAnswer =
  /** Secret: anyone who has the authorization and this signature can move the amount to the payee. */
  | { readonly kind: 'signed'; readonly signature: Hex }
  /** The enclave rejected this authorization, signed nothing, and would reject it again. */
  | ({ readonly kind: 'refused' } & Rejection)
  /** The enclave certainly signed nothing. It can be asked again. */
  | ({ readonly kind: 'not_signed' } & Rejection)
  /** The enclave may have signed the authorization. It can be asked again, for the same authorization. */
  | { readonly kind: 'unknown'; readonly error: EnclaveUnavailable }
