import type { Decoded, Envelope } from './decode/request.ts'
import type { Credential } from './find-record.ts'
import type { WalletRecord } from './decode/record.ts'
import { Refusal } from './refusal.ts'

/**
 * The longest time until a request expires. It is limited because a request can be replayed at the enclave until it
 * expires. Bursar always asks for less time.
 */
const EXPIRY_MS_MAX = 15 * 60_000

type EnclaveRequest = Exclude<Decoded, { kind: 'record' }>

/**
 * Checks that a request has not expired and concerns the wallet of the record, and nothing else. The record was signed by the passkey that
 * is about to sign, so the record shows to which wallet the ids in the request belong.
 */
export function checkRequest(request: EnclaveRequest, record: WalletRecord, now: Date): void {
  checkExpiry(request, now)
  checkWallet(request, record)
}

/** Checks that a request concerns the wallet of the record, and nothing else. */
export function checkWallet(request: EnclaveRequest, record: WalletRecord): void {
  if (request.enclaveUrl !== record.enclaveUrl || request.appId !== record.appId) throw otherWallet('enclave')
  switch (request.kind) {
    case 'policy':
      if (!record.policies.includes(request.policyId)) throw otherWallet('policy')
      return
    case 'owners':
      if (request.quorumId !== record.quorumId) throw otherWallet('list of owners')
      return
    case 'transfer':
      if (request.walletId !== record.walletId || request.transfer.from !== record.address) throw otherWallet('wallet')
      return
    case 'authorization':
      if (request.walletId !== record.walletId || request.authorization.from !== record.address) {
        throw otherWallet('wallet')
      }
      return
    case 'signers': {
      if (request.walletId !== record.walletId) throw otherWallet('wallet')
      const isOwn = ({ signerId, policyId }: { signerId: string; policyId: string }): boolean =>
        record.signers.indexOf(signerId) !== -1 && record.policies[record.signers.indexOf(signerId)] === policyId
      if (!request.slots.every(isOwn)) throw otherWallet('signer or policy')
    }
  }
}

/** Returns the passkeys that may sign. A passkey that a change of the owners removes may not sign this change. */
export function selectSigners(decoded: Decoded, credentials: readonly Credential[]): readonly Credential[] {
  if (decoded.kind !== 'owners') return credentials
  const staying = credentials.filter(({ publicKey }) => decoded.publicKeys.includes(publicKey))
  if (staying.length > 0) return staying
  throw new Refusal(
    'request_unknown',
    'This request removes the passkey with which you would sign it, so this page signs nothing. Use another passkey of the wallet.',
  )
}

/** Refuses a request that has expired, or could be used for too long. */
export function checkExpiry({ expiresAt }: Pick<Envelope, 'expiresAt'>, now: Date): void {
  const leftMs = expiresAt.getTime() - now.getTime()
  if (leftMs <= 0) {
    throw new Refusal('request_expired', 'The request has expired. Start again on the page that sent you here.')
  }
  if (leftMs > EXPIRY_MS_MAX) {
    throw new Refusal(
      'request_unknown',
      'The request could be used for longer than 15 minutes, so this page signs nothing.',
    )
  }
}

function otherWallet(what: string): Refusal {
  return new Refusal(
    'request_not_of_wallet',
    `The request names a ${what} that does not belong to this wallet, so this page signs nothing.`,
  )
}
