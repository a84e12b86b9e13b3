import type { Hash } from 'viem'
import { hashTypedData } from 'viem/utils'
import type { Address } from './address.ts'
import type { MicroUsdc } from './money.ts'
import { findChain } from './chains.ts'

/**
 * An EIP-3009 authorization: anyone who has it with a signature of `from` can have the USDC contract move the amount to
 * `to`, once, in a block whose time is after `validAfterSeconds` and before `validBeforeSeconds`.
 */
export interface TransferAuthorization {
  readonly from: Address
  readonly to: Address
  readonly valueMicro: MicroUsdc
  /** Unix seconds. */
  readonly validAfterSeconds: bigint
  /** Unix seconds. */
  readonly validBeforeSeconds: bigint
  /** 32 bytes, in lower-case hexadecimal digits. */
  readonly nonce: `0x${string}`
}

/**
 * The EIP-712 types of an EIP-3009 authorization, without `EIP712Domain`. The enclave compares them with the types in
 * the grant's rule, and the order of the members matters.
 */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export const AUTHORIZATION_PRIMARY_TYPE = 'TransferWithAuthorization'

/**
 * Who checks the signature of an authorization: the USDC contract itself, for a wallet without code (`ecdsa`), or else
 * the wallet's own code (`erc1271`). A sponsored wallet has code from its first sponsored transaction on (EIP-7702).
 */
export type SignatureForm = 'ecdsa' | 'erc1271'

/** The EIP-712 domain of a USDC contract. */
export interface UsdcDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Address
}

/** The `name` in the EIP-712 domain of Circle's USDC contract, on chains that we do not know. */
const USDC_NAME = 'USD Coin'
const USDC_VERSION = '2'

/**
 * Returns the EIP-712 domain of the USDC contract of a chain. We never use a domain that a seller names, because a
 * signature for another domain could move another token.
 */
export function usdcDomain(chainId: number, usdc: Address): UsdcDomain {
  return { name: findChain(chainId)?.usdcName ?? USDC_NAME, version: USDC_VERSION, chainId, verifyingContract: usdc }
}

/** Returns the EIP-712 digest that a signature of the authorization covers. */
export function hashAuthorization(domain: UsdcDomain, authorization: TransferAuthorization): Hash {
  const { from, to, valueMicro, validAfterSeconds, validBeforeSeconds, nonce } = authorization
  return hashTypedData({
    domain,
    types: AUTHORIZATION_TYPES,
    primaryType: AUTHORIZATION_PRIMARY_TYPE,
    message: {
      ...{ from, to, value: valueMicro, nonce },
      ...{ validAfter: validAfterSeconds, validBefore: validBeforeSeconds },
    },
  })
}
