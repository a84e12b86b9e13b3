import { toHex } from 'viem/utils'
import type { Hex, TypedData as ViemTypes, TypedDataDomain } from 'viem'
import { sign, signTypedData as signWithKey } from 'viem/accounts'
import { hashTypedData as hashNested, wrapTypedDataSignature } from 'viem/experimental/erc7739'
import { getChain } from './context.ts'
import type { EnclaveContext } from './context.ts'
import { invalidData } from './errors.ts'
import type { KeepAnswer } from './idempotency.ts'
import { checkPolicies, parseChainId } from './prepare-send.ts'
import type { SendingParty } from './prepare-send.ts'
import type { WalletRecord } from './records.ts'
import type { SignTypedDataBody } from './schemas.ts'

export interface TypedDataOrder {
  readonly party: SendingParty
  readonly body: SignTypedDataBody
  readonly keep: KeepAnswer
  readonly checkExpiry: () => void
}

interface TypedDataAnswer {
  readonly method: 'eth_signTypedData_v4'
  readonly data: { readonly signature: Hex; readonly encoding: 'hex' }
}

/**
 * The EIP-712 domain of the delegate account (`contracts/DelegateAccount.sol`). ERC-7739 includes it in the signed
 * data.
 */
const ACCOUNT_DOMAIN = { name: 'Bursar Sandbox Account', version: '1', salt: toHex(0, { size: 32 }) } as const

/**
 * Signs EIP-712 typed data if the policy allows it. By default, the result is an ECDSA signature of the wallet's key.
 * For `signature_options` of type `erc1271`, it is in the wrapped form of ERC-7739. The wallet's own code accepts this
 * form after the wallet's first sponsored send.
 *
 * Throws 400 `policy_violation`, and 400 `invalid_data` if the data does not match its types.
 */
export async function signTypedData(
  context: EnclaveContext,
  wallet: WalletRecord,
  { party, body, keep, checkExpiry }: TypedDataOrder,
): Promise<TypedDataAnswer> {
  const typedData = body.params.typed_data
  const caip2 = findSmartAccountChain(context, body)
  checkPolicies(context, party, { method: 'eth_signTypedData_v4', typedData })
  checkExpiry()
  const signature = await signData(context, wallet, { body, caip2 })
  const answer: TypedDataAnswer = { method: 'eth_signTypedData_v4', data: { signature, encoding: 'hex' } }
  keep(answer)
  return answer
}

/** Returns the chain whose smart account will check the signature. Returns null for a plain signature. */
function findSmartAccountChain(
  context: EnclaveContext,
  { caip2, signature_options }: SignTypedDataBody,
): string | null {
  if (signature_options?.type !== 'erc1271') return null
  if (caip2 === undefined) throw invalidData('caip2 is required for signatures of type erc1271')
  getChain(context, caip2)
  return caip2
}

async function signData(
  { store, vault }: EnclaveContext,
  wallet: WalletRecord,
  { body, caip2 }: { body: SignTypedDataBody; caip2: string | null },
): Promise<Hex> {
  const { domain, types, primary_type: primaryType, message } = body.params.typed_data
  const data = { domain: domain as TypedDataDomain, types: types as ViemTypes, primaryType, message }
  const privateKey = vault.open(wallet.id, store.getSealedKey(wallet.id))
  try {
    if (caip2 === null) return await signWithKey({ ...data, privateKey })
    const verifierDomain = { ...ACCOUNT_DOMAIN, chainId: parseChainId(caip2), verifyingContract: wallet.address }
    const signature = await sign({ hash: hashNested({ ...data, verifierDomain }), privateKey, to: 'hex' })
    return wrapTypedDataSignature({ ...data, signature })
  } catch (error) {
    throw invalidData(`Invalid typed data: ${error instanceof Error ? error.message.split('\n')[0] : ''}`)
  }
}
