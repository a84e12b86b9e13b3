import type { SlotIds, WalletIds } from '../enclave.ts'
import type { EnclaveAddress } from './request-to-sign.ts'

const VERSION = 1

/**
 * Builds the statement by which an owner confirms what belongs to a wallet at the enclave (D60): its quorum of owners,
 * and the policies and signers of its slots. The result is canonical JSON (RFC 8785). The enclave accepts no request
 * with these JSON members, so the signature allows nothing. From this statement, the signer page knows to which wallet
 * an id in a later request belongs.
 */
export function describeWallet(
  { apiUrl, appId }: EnclaveAddress,
  wallet: WalletIds,
  slots: readonly (SlotIds & { readonly slot: number })[],
): Uint8Array {
  const inOrder = slots.toSorted((left, right) => left.slot - right.slot)
  // The members are in the order of canonical JSON. No value is a number that canonical JSON would format differently.
  const statement = {
    address: wallet.address,
    app_id: appId,
    bursar: 'wallet-record',
    enclave_url: apiUrl,
    policies: inOrder.map(({ enclaveRulesId }) => enclaveRulesId),
    quorum_id: wallet.enclaveOwnersId,
    signers: inOrder.map(({ signerId }) => signerId),
    version: VERSION,
    wallet_id: wallet.enclaveWalletId,
  }
  return Buffer.from(JSON.stringify(statement))
}
