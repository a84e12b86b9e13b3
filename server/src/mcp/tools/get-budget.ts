import { Type } from 'typebox'
import type { SpendableWallet } from '../../domain/agents/agent.ts'
import { getAgent } from '../../domain/agents/queries.ts'
import type { Context } from '../../domain/context.ts'
import { remainingMicro } from '../../domain/grants/decide-limits.ts'
import { getNoSpendableReason } from '../../domain/grants/queries.ts'
import { readBalances } from '../../domain/wallets/read-balances.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { formatAmount, type MicroUsdc } from '../../values/money.ts'
import { isoTime, list, orNull, usdc } from '../../values/schema-fields.ts'
import { chooseAgent } from '../choose-agent.ts'
import { GRANT_ADVICE, GRANT_FAULTS } from '../grant-advice.ts'
import { AgentIdInput, defineTool, inputOf, outputOf, READ_HINTS } from '../tool.ts'

/** Balances may be this old, because models call this tool often. */
const BALANCE_AGE_MS_MAX = 15_000
/** The call waits at most this long for balances from the chain. */
const BALANCE_WAIT_MS_MAX = 2_000

const BudgetSchema = Type.Object({
  address: Type.String({ description: 'The address of the wallet: the `wallet` of send_payment.' }),
  max_per_tx_usdc: usdc('The most that one payment may have.'),
  daily_cap_usdc: usdc('The most that you may spend from this wallet in any 24 hours.'),
  spent_24h_usdc: usdc('What you have spent in the last 24 hours.'),
  remaining_24h_usdc: usdc('What is left of the 24-hour limit now.'),
  balance_usdc: orNull(
    usdc(
      'The USDC that the wallet has, up to 15 seconds ago. Payments that are not mined yet are not subtracted. Null if it could not be read.',
    ),
  ),
  expires_at: orNull(isoTime('When this permission ends. Null if it has no end.')),
})

/** A wallet from which the agent can pay, with its balance. The balance is null if it could not be read. */
type Budget = SpendableWallet & { readonly balanceMicro: MicroUsdc | null }

export const GET_BUDGET = defineTool({
  name: 'get_budget',
  title: 'What may I spend?',
  description:
    'Returns as which agent you act, and the wallets from which you can pay now, each with its limits, what is left of them, and its balance. Call it before you pay. list_wallets also shows allowed recipients.',
  input: inputOf({ agent_id: AgentIdInput }),
  output: outputOf({
    agent_id: Type.String({ description: 'The agent as which you act.' }),
    wallets: list(BudgetSchema, { description: 'The wallets from which you can pay now. Empty if there is none.' }),
  }),
  annotations: READ_HINTS,
  requirements: { bucket: 'default' },
  async run(ctx, { caller, args }) {
    const agentId = await chooseAgent(ctx, caller, args.agent_id)
    const { workspaceId, mode } = caller
    const { wallets } = await getAgent(ctx, { workspaceId, mode, id: agentId })
    const addresses = wallets.map(({ address }) => address)
    const balances = await readBalances(ctx, {
      ...{ mode, addresses, ageMsMax: BALANCE_AGE_MS_MAX, waitMsMax: BALANCE_WAIT_MS_MAX },
    })
    const budgets = wallets.map((wallet) => ({ ...wallet, balanceMicro: balances.get(wallet.address) ?? null }))
    const summary = budgets.length === 0 ? await explainNone(ctx, { workspaceId, mode, agentId }) : summarize(budgets)
    return { summary, members: { agent_id: agentId, wallets: budgets.map(formatBudget) } }
  },
})

function formatBudget(wallet: Budget) {
  return {
    address: wallet.address,
    max_per_tx_usdc: formatAmount(wallet.maxPerTxMicro),
    daily_cap_usdc: formatAmount(wallet.dailyCapMicro),
    spent_24h_usdc: formatAmount(wallet.spent24hMicro),
    remaining_24h_usdc: formatAmount(remainingMicro(wallet.dailyCapMicro, wallet.spent24hMicro)),
    balance_usdc: wallet.balanceMicro === null ? null : formatAmount(wallet.balanceMicro),
    expires_at: wallet.expiresAt?.toISOString() ?? null,
  }
}

async function explainNone(
  ctx: Pick<Context, 'db' | 'clock'>,
  agent: { readonly workspaceId: string; readonly mode: Mode; readonly agentId: AgentId },
): Promise<string> {
  const reason = await getNoSpendableReason(ctx, agent)
  return `You cannot pay now: ${GRANT_FAULTS[reason]}. ${GRANT_ADVICE[reason]}`
}

function summarize(wallets: readonly Budget[]): string {
  return wallets
    .map((wallet) => {
      const left = remainingMicro(wallet.dailyCapMicro, wallet.spent24hMicro)
      const most = left < wallet.maxPerTxMicro ? left : wallet.maxPerTxMicro
      const limits = `${wallet.address}: your limits allow ${formatAmount(most)} USDC in one payment now. ${formatAmount(left)} USDC of the 24-hour limit is left.`
      if (wallet.balanceMicro === null) return `${limits} The balance of the wallet could not be read.`
      const only = wallet.balanceMicro < most ? 'only ' : ''
      return `${limits} The wallet has ${only}${formatAmount(wallet.balanceMicro)} USDC.`
    })
    .join(' ')
}
