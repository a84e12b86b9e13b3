import type { Hash, Hex } from 'viem'
import { encodeFunctionData, recoverAddress } from 'viem/utils'
import type { Address } from '../values/address.ts'
import {
  hashAuthorization,
  type SignatureForm,
  type TransferAuthorization,
  type UsdcDomain,
} from '../values/transfer-authorization.ts'
import { CallReverted, NodeFault } from './errors.ts'
import type { RpcNodes } from './rpc-nodes.ts'

export const ERC1271_ABI = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ name: '', type: 'bytes4' }],
  },
] as const
/** What `isValidSignature` returns for a valid signature (ERC-1271). */
export const ERC1271_VALID = '0x1626ba7e'
/** The same, padded to a word. */
const VALID = `${ERC1271_VALID}${'0'.repeat(56)}`
const CODE_PATTERN = /^0x(?:[0-9a-f]{2})*$/i

export interface SignedAuthorization {
  readonly domain: UsdcDomain
  readonly authorization: TransferAuthorization
  readonly signature: Hex
  readonly form: SignatureForm
}

/** Makes functions that read the code of wallets, and check their signatures. */
export function createAccountReader(nodes: RpcNodes) {
  /**
   * Reads an address's code in the newest block. It is `0x` for a wallet without code. A wallet gets code with its
   * first sponsored transaction (EIP-7702). @throws ChainUnavailable
   */
  async function readCode(address: Address): Promise<Hex> {
    return await nodes.run(async (batch) => {
      const [code] = await batch([{ method: 'eth_getCode', params: [address, 'latest'] }])
      if (typeof code !== 'string' || !CODE_PATTERN.test(code)) throw new NodeFault('returned malformed code')
      return code as Hex
    })
  }

  /**
   * Asks the wallet's own code whether a signature of a digest is valid (ERC-1271). A wallet without code has no valid
   * signatures in this sense. @throws ChainUnavailable
   */
  async function isValidSignature(wallet: Address, digest: Hash, signature: Hex): Promise<boolean> {
    const data = encodeFunctionData({ abi: ERC1271_ABI, functionName: 'isValidSignature', args: [digest, signature] })
    return await nodes.run(async (batch) => {
      try {
        const [result] = await batch([{ method: 'eth_call', params: [{ to: wallet, data }, 'latest'] }])
        if (typeof result !== 'string' || !CODE_PATTERN.test(result)) throw new NodeFault('returned a malformed result')
        return result.toLowerCase() === VALID
      } catch (error) {
        // The wallet's code has rejected the signature by reverting the call. The node is not at fault.
        if (!(error instanceof CallReverted)) throw error
        // We believe the node only if it has returned the right chain id. If it has not done so yet, this empty batch
        // asks for the chain id.
        await batch([])
        return false
      }
    })
  }

  /**
   * Checks that the chain will accept a signature as the wallet's. Every authorization that leaves the service must
   * pass this check. The result is not final: if the wallet's code changes, the chain may reject a signature that this
   * check accepted.
   * @throws ChainUnavailable for the form `erc1271`. The form `ecdsa` is checked without the chain.
   */
  async function isValidAuthorization(signed: SignedAuthorization): Promise<boolean> {
    const { domain, authorization, signature, form } = signed
    const digest = hashAuthorization(domain, authorization)
    if (form === 'erc1271') return await isValidSignature(authorization.from, digest, signature)
    return await isSignedBy(authorization.from, digest, signature)
  }

  return { readCode, isValidSignature, isValidAuthorization }
}

/** USDC accepts only signatures of 65 bytes with a low `s`, and 27 or 28 as their last byte. */
async function isSignedBy(signer: Address, hash: Hash, signature: Hex): Promise<boolean> {
  if (signature.length !== SIGNATURE_CHARS || !/1[bc]$/i.test(signature)) return false
  if (BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return false
  try {
    return (await recoverAddress({ hash, signature })) === signer
  } catch {
    // No public key belongs to the signature.
    return false
  }
}

const SIGNATURE_CHARS = 2 + 65 * 2
/** Half of the order of secp256k1. Of the two valid values of `s`, only the lower one is accepted (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
