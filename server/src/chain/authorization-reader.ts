import { encodeFunctionData, parseAbi } from 'viem/utils'
import type { Address } from '../values/address.ts'
import type { AuthorizationKey } from './authorization-event.ts'
import { readHeader } from './block-header.ts'
import { NodeFault } from './errors.ts'
import { HEAD_CALL } from './head-reader.ts'
import type { RpcCall } from './json-rpc.ts'
import { formatQuantity, parseQuantity } from './quantity.ts'
import type { RpcNodes } from './rpc-nodes.ts'

export type TimedAuthorization = AuthorizationKey & {
  /** Unix seconds. The authorization can only be used in a block whose time is before this time. */
  readonly validBeforeSeconds: bigint
}

/**
 * What the block at the configured depth shows about an authorization:
 * - `open`: the block's time is before `validBeforeSeconds`, so the authorization may still be used in a later block.
 * - `ended`: it was used or canceled in this block or before.
 * - `expired`: it was neither used nor canceled, and the block's time is `validBeforeSeconds` or later. A block's time
 *   is never before that of its parent, so no later block can use the authorization.
 */
export type AuthorizationState = 'open' | 'ended' | 'expired'

const abi = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const STATES: Readonly<Record<string, AuthorizationState>> = {
  [`0x${'0'.repeat(64)}`]: 'expired',
  [`0x${'0'.repeat(63)}1`]: 'ended',
}

/** Makes a function that reads whether authorizations can no longer be used. */
export function createAuthorizationReader(
  nodes: RpcNodes,
  { usdc, confirmations }: { usdc: Address; confirmations: number },
) {
  /**
   * Reads the states of authorizations at the block of the configured depth, in the order of `authorizations`. The
   * head, that block's time and the states come from one node. @throws ChainUnavailable, also if the node does not have
   * that block any more.
   */
  async function readAuthorizationStates(
    authorizations: readonly TimedAuthorization[],
  ): Promise<readonly AuthorizationState[]> {
    return await nodes.run(async (batch) => {
      const [head] = await batch([HEAD_CALL])
      const number = parseQuantity(head) - BigInt(confirmations) + 1n
      if (number < 0n) return authorizations.map(() => 'open' as const)
      const block = await readHeader(batch, number)
      const due = authorizations.filter(({ validBeforeSeconds }) => validBeforeSeconds <= block.seconds)
      if (due.length === 0) return authorizations.map(() => 'open' as const)
      const words = await batch(due.map((one) => stateCall(usdc, one, number)))
      // If a reorganization has replaced the block whose time we read, the states may be those of another block.
      if ((await readHeader(batch, number)).hash !== block.hash) throw new NodeFault('reorganized below the depth')
      const states = new Map(due.map((one, index) => [one, parseState(words[index])]))
      return authorizations.map((one) => states.get(one) ?? 'open')
    })
  }

  return { readAuthorizationStates }
}

function stateCall(usdc: Address, { authorizer, nonce }: AuthorizationKey, block: bigint): RpcCall {
  const data = encodeFunctionData({ abi, functionName: 'authorizationState', args: [authorizer, nonce] })
  return { method: 'eth_call', params: [{ to: usdc, data }, formatQuantity(block)] }
}

/** If there is no contract at the address, a node returns `0x`, which must not count as unused. */
function parseState(word: unknown): AuthorizationState {
  const state = typeof word === 'string' ? STATES[word.toLowerCase()] : undefined
  if (state === undefined) throw new NodeFault('has no USDC contract at the configured address')
  return state
}
