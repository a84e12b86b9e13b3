import { hexToBytes } from 'viem/utils'
import type { Hex } from 'viem'

const TRANSACTION_GAS = 21_000n
/**
 * The minimum cost of a transaction per token of calldata (EIP-7623). A zero byte is one token, any other byte is four.
 */
const FLOOR_GAS_PER_TOKEN = 10n
const TOKENS_PER_NONZERO_BYTE = 4
/** This is enough gas to enter a contract, but not enough for the contract's first storage write. */
const FAILING_GAS = 1_000n
/**
 * The limit is a quarter above the estimate, because another transfer may be mined first and make a write more
 * expensive.
 */
const MARGIN_DIVISOR = 4n
/**
 * The gas limit for an account's own code, which runs between the EntryPoint and the account's call. The code uses
 * 10,000.
 */
const ACCOUNT_GAS = 30_000n
/** This is enough gas to enter an account, but not enough for the call that the account should make. */
const FAILING_CALL_GAS = 5_000n

/**
 * Returns the gas limit of a transaction. A `failing` transaction is valid, so it is mined. It then runs out of gas as
 * soon as a contract does any work. Such failures are requested through the control endpoint.
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
 * Returns the gas limit for the call of a user operation. A `failing` operation passes validation, so it is mined. Its
 * call then runs out of gas.
 */
export function measureCallGas({ gasEstimated, failing }: { gasEstimated: bigint; failing: boolean }): bigint {
  return failing ? FAILING_CALL_GAS : gasEstimated + gasEstimated / MARGIN_DIVISOR + ACCOUNT_GAS
}
