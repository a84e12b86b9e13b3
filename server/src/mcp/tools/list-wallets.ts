import { Type } from 'typebox'
import { formatWalletBudget } from '../../domain/reports/wallets/format-wallet-budget.ts'
import { listWalletBudgets } from '../../domain/reports/wallets/queries.ts'
import { WALLETS_PAGE_DEFAULT, type WalletBudget } from '../../domain/reports/wallets/wallet-budget.ts'
import { WalletBudgetSchema } from '../../domain/reports/wallets/wallet-budget-schema.ts'
import { parseAddress } from '../../values/address.ts'
import { list, orNull } from '../../values/schema-fields.ts'
import { invalid } from '../check-arguments.ts'
import { checkAgentExists, chooseAgent } from '../choose-agent.ts'
import { AgentIdInput, defineTool, inputOf, outputOf, READ_HINTS } from '../tool.ts'
import { markUntrusted, UntrustedTextSchema } from '../untrusted-text.ts'

const { grants: GRANTS, address: ADDRESS, balance_usdc: BALANCE } = WalletBudgetSchema.properties

/** A wallet, as `/v1/wallets` shows it to a caller that is bound to an agent, with names marked as untrusted. */
const WalletSchema = Type.Object({
  address: ADDRESS,
  name: UntrustedTextSchema,
  balance_usdc: BALANCE,
  grants: list(
    Type.Object({
      ...Type.Omit(GRANTS.items, ['agent_id', 'recipients']).properties,
      recipients: list(Type.Object({ address: Type.String(), label: orNull(UntrustedTextSchema) }), {
        description: 'The recipients that you may pay. An empty list allows any recipient.',
      }),
    }),
    { description: 'Your permissions to pay from this wallet. You can pay only while the state is `active`.' },
  ),
})

export const LIST_WALLETS = defineTool({
  name: 'list_wallets',
  title: 'List wallets',
  description:
    'Returns the wallets on which you have a permission to pay, also one that is suspended or has expired, each with its balance, your limits, and the recipients that you may pay: an empty list allows any recipient. get_budget is shorter.',
  input: inputOf({
    starting_after: Type.Optional(
      Type.String({ description: 'The address of the last wallet of the previous page, to read the next page.' }),
    ),
    agent_id: AgentIdInput,
  }),
  output: outputOf({
    wallets: list(WalletSchema, { description: 'Wallets in the order of their addresses.' }),
    has_more: Type.Boolean({ description: 'Whether there are wallets after the last one.' }),
  }),
  annotations: READ_HINTS,
  requirements: { bucket: 'default' },
  async run(ctx, { caller, args }) {
    const startingAfter = args.starting_after === undefined ? null : parseAddress(args.starting_after)
    if (args.starting_after !== undefined && startingAfter === null) {
      throw invalid([{ path: 'starting_after', message: 'must be the address of a wallet' }])
    }
    const boundAgentId = await chooseAgent(ctx, caller, args.agent_id)
    const { workspaceId, mode } = caller
    const limit = WALLETS_PAGE_DEFAULT
    const page = await listWalletBudgets(ctx, { workspaceId, mode, boundAgentId, startingAfter, limit })
    if (page.wallets.length === 0) await checkAgentExists(ctx, caller, boundAgentId)
    return {
      summary: summarize(page.wallets),
      members: { wallets: page.wallets.map(formatWallet), has_more: page.hasMore },
    }
  },
})

function formatWallet(wallet: WalletBudget) {
  const { address, name, balance_usdc: balance, grants } = formatWalletBudget(wallet)
  return { address, name: markUntrusted(name), balance_usdc: balance, grants: grants.map(formatGrant) }
}

function formatGrant({ recipients, ...grant }: ReturnType<typeof formatWalletBudget>['grants'][number]) {
  const { agent_id: _agentId, ...rest } = grant
  return { ...rest, recipients: recipients.map(({ address, label }) => ({ address, label: markUntrusted(label) })) }
}

function summarize(wallets: readonly WalletBudget[]): string {
  const payable = wallets.filter(({ grants }) => grants.some(({ state }) => state === 'active'))
  return `Wallets in this list: ${wallets.length}. Wallets on which your grant is active: ${payable.length === 0 ? 'none' : payable.map(({ address: one }) => one).join(', ')}.`
}
