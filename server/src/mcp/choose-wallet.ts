import { getAgent } from '../domain/agents/queries.ts'
import { getNoSpendableReason } from '../domain/grants/queries.ts'
import type { SpendableWallet } from '../domain/agents/agent.ts'
import type { Context } from '../domain/context.ts'
import { parseAddress, type Address } from '../values/address.ts'
import type { AgentId } from '../values/agent-id.ts'
import { invalid } from './check-arguments.ts'
import { whyNotAddress } from './parse-input.ts'
import { GRANT_ADVICE, GRANT_FAULTS } from './grant-advice.ts'
import type { ToolCaller } from './tool.ts'
import { ToolFailure } from './tool-failure.ts'

const WALLETS_NAMED_MAX = 20

/**
 * Returns the wallet that pays: the one that the arguments name, or the only one from which the agent can spend. A
 * wallet's name is not accepted instead of its address, because names can change, and two wallets can have the same
 * name.
 */
export async function chooseWallet(
  ctx: Pick<Context, 'db' | 'clock'>,
  { caller, agentId, named }: { caller: ToolCaller; agentId: AgentId; named: string | undefined },
): Promise<Address> {
  const address = named === undefined ? null : parseAddress(named)
  if (address !== null) return address
  const { workspaceId, mode } = caller
  const { wallets } = await getAgent(ctx, { workspaceId, mode, id: agentId })
  if (named !== undefined) {
    const message = `must be the address of a wallet, not its name${whyNotAddress(named)}. You can pay from ${listAddresses(wallets)}`
    throw invalid([{ path: 'wallet', message }], 'address_invalid')
  }
  const [only, ...others] = wallets
  if (only === undefined) {
    const reason = await getNoSpendableReason(ctx, { workspaceId, mode, agentId })
    throw new ToolFailure({
      code: 'no_wallet',
      message: `There is no wallet from which you can pay now: ${GRANT_FAULTS[reason]}.`,
      next: GRANT_ADVICE[reason],
      details: { reason },
    })
  }
  if (others.length === 0) return only.address
  throw new ToolFailure({
    code: 'wallet_required',
    message: 'wallet is missing, and you can pay from more than one wallet.',
    next: `Call again with the address of the wallet that should pay: ${listAddresses(wallets)}.`,
  })
}

function listAddresses(wallets: readonly SpendableWallet[]): string {
  if (wallets.length === 0) return 'no wallet now'
  const named = wallets.slice(0, WALLETS_NAMED_MAX).map(({ address }) => address)
  return named.join(' or ') + (wallets.length > named.length ? ' and others' : '')
}
