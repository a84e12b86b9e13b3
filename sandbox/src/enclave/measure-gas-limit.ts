import { hexToBytes } from 'viem'
import type { Hex } from 'viem'

const TRANSACTION_GAS = 21_000n
/**
 * EIP-7623: the minimum cost of a transaction, by tokens of calldata (a zero byte is one token, any other byte four).
 */
const FLOOR_GAS_PER_TOKEN = 10n
const TOKENS_PER_NONZERO_BYTE = 4
/** Enough gas to enter a contract, too little for its first storage write. */
const FAILING_GAS = 1_000n
/** A quarter above the estimate, because another transfer may be mined first and change the cost of a write. */
const MARGIN_DIVISOR = 4n
/** What an account spends between the EntryPoint and the call it makes. It uses 10,000. */
const ACCOUNT_GAS = 30_000n
/** Enough gas to enter an account, too little for the call it should make. */
const FAILING_CALL_GAS = 5_000n

/**
 * The gas limit of a transaction. A `failing` one is valid, so it is mined, but runs out of gas as soon as a contract
 * does any work. It is ordered through the control endpoint.
 */
export function measureGasLimit(
  data: Hex,
  { gasEstimated, failing }: { gasEstimated: bigint; failing: boolean },
): bigint {
  if (!failing) return gasEstimated + gasEstimated / MARGIN_DIVISOR
  const tokens = hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? 1 : TOKENS_PER_NONZERO_BYTE), 0)
  return TRANSACTION_GAS + BigInt(tokens) * FLOOR_GAS_PER_TOKEN + FAILING_GAS
}

/**
 * The gas that a user operation's call may use. A `failing` one passes validation, so it is mined, and then runs out of
 * gas.
 */
export function measureCallGas({ gasEstimated, failing }: { gasEstimated: bigint; failing: boolean }): bigint {
  return failing ? FAILING_CALL_GAS : gasEstimated + gasEstimated / MARGIN_DIVISOR + ACCOUNT_GAS
}
