import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseAbiParameters,
  toHex,
} from 'viem/utils'
import type { Address, Hash, Hex } from 'viem'
import { entryPointAddress } from '../chain/account-contracts.ts'

/** A user operation for the EntryPoint of version 0.7, as it is stored. Quantities are hexadecimal. */
export interface UserOperation {
  readonly sender: Address
  readonly nonce: Hex
  readonly initCode: Hex
  readonly callData: Hex
  /** Two numbers of 16 bytes: the gas for the validation, and the gas for the call. */
  readonly accountGasLimits: Hex
  readonly preVerificationGas: Hex
  /** Two numbers of 16 bytes: the tip, and the maximum price. */
  readonly gasFees: Hex
  readonly paymasterAndData: Hex
  readonly signature: Hex
}

export interface OperationInput {
  readonly sender: Address
  /** The key of the nonce. Each operation has its own key, so that operations do not wait for each other. */
  readonly key: bigint
  readonly call: { readonly to: Address; readonly data: Hex; readonly value: bigint }
  readonly callGas: bigint
}

const SEQUENCE_BITS = 64n
const HALF_WORD = { size: 16 } as const
/** The gas limit for the validation, which uses 40,000. */
export const VERIFICATION_GAS = 120_000n
/** Events name this address as the paymaster. No contract exists there, because gas is free on a local chain. */
const PAYMASTER = '0x7702000000000000000000000000000000000099'
/** The mode of ERC-7821 for a batch of calls that all succeed or all fail. */
const BATCH_MODE = `0x01${'00'.repeat(31)}` as const
const accountAbi = parseAbi(['function execute(bytes32 mode, bytes executionData) payable'])
const entryPointAbi = parseAbi([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function handleOps(PackedUserOperation[] ops, address beneficiary)',
])
const callsType = parseAbiParameters(['Call[]', 'struct Call { address target; uint256 value; bytes data; }'])
const hashedType = parseAbiParameters('address, uint256, bytes32, bytes32, bytes32, uint256, bytes32, bytes32')

/** Builds the user operation that makes one call from the wallet. It is not signed yet. */
export function formatOperation({ sender, key, call, callGas }: OperationInput): UserOperation {
  const calls = encodeAbiParameters(callsType, [[{ target: call.to, value: call.value, data: call.data }]])
  return {
    sender,
    nonce: toHex(key << SEQUENCE_BITS),
    initCode: '0x',
    callData: encodeFunctionData({ abi: accountAbi, args: [BATCH_MODE, calls] }),
    accountGasLimits: concat([toHex(VERIFICATION_GAS, HALF_WORD), toHex(callGas, HALF_WORD)]),
    preVerificationGas: '0x0',
    gasFees: concat([toHex(0, HALF_WORD), toHex(0, HALF_WORD)]),
    paymasterAndData: concat([PAYMASTER, toHex(0, HALF_WORD), toHex(0, HALF_WORD)]),
    signature: '0x',
  }
}

/**
 * Returns the operation's hash, like `getUserOpHash` of the EntryPoint. The wallet's key signs it, and the operation's
 * event contains it.
 */
export function hashOperation(operation: UserOperation, chainId: number): Hash {
  const inner = encodeAbiParameters(hashedType, [
    operation.sender,
    BigInt(operation.nonce),
    keccak256(operation.initCode),
    keccak256(operation.callData),
    operation.accountGasLimits,
    BigInt(operation.preVerificationGas),
    operation.gasFees,
    keccak256(operation.paymasterAndData),
  ])
  return keccak256(
    encodeAbiParameters(parseAbiParameters('bytes32, address, uint256'), [
      keccak256(inner),
      entryPointAddress,
      BigInt(chainId),
    ]),
  )
}

/** Builds the call to the EntryPoint that executes the operations in order. */
export function encodeBundle(operations: readonly UserOperation[], beneficiary: Address): Hex {
  const packed = operations.map((operation) => ({
    ...operation,
    nonce: BigInt(operation.nonce),
    preVerificationGas: BigInt(operation.preVerificationGas),
  }))
  return encodeFunctionData({ abi: entryPointAbi, args: [packed, beneficiary] })
}

/** Returns the gas for the operation's validation and call together. */
export function sumGas({ accountGasLimits }: UserOperation): bigint {
  const halves = BigInt(accountGasLimits)
  return (halves >> 128n) + (halves & ((1n << 128n) - 1n))
}
