import { Type } from 'typebox'
import { findPurchasesOf } from '../../domain/purchases/find-earlier-purchase.ts'
import type { Purchase } from '../../domain/purchases/purchase.ts'
import { formatLedgerEntry } from '../../domain/reports/ledger/format-ledger-entry.ts'
import { LEDGER_PAGE_MAX, type LedgerEntry } from '../../domain/reports/ledger/ledger-entry.ts'
import { LedgerEntrySchema } from '../../domain/reports/ledger/ledger-schema.ts'
import { listLedger } from '../../domain/reports/ledger/list-ledger.ts'
import { checkWalletVisible } from '../../domain/reports/wallets/queries.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import { list, orNull } from '../../values/schema-fields.ts'
import { invalid } from '../check-arguments.ts'
import { checkAgentExists, chooseAgent } from '../choose-agent.ts'
import { BoughtSchema, formatBought } from '../describe-bought.ts'
import { PURCHASE_ID_DESCRIPTION } from '../format-payment-answer.ts'
import { AgentIdInput, defineTool, inputOf, outputOf, READ_HINTS } from '../tool.ts'
import { markUntrusted, UntrustedTextSchema } from '../untrusted-text.ts'

/** By default, a page is short, because a model has to read all of it. */
const PAGE_DEFAULT = 20

/** An entry of the ledger, as `/v1/ledger` shows it, with its memo marked as untrusted. */
const EntrySchema = Type.Object({
  ...Type.Omit(LedgerEntrySchema, ['memo', 'idempotency_key']).properties,
  purchase_id: orNull(Type.String({ description: PURCHASE_ID_DESCRIPTION })),
  memo: orNull(UntrustedTextSchema),
  purchase: orNull(BoughtSchema),
})

export const LIST_LEDGER = defineTool({
  name: 'list_ledger',
  title: 'List payments and deposits',
  description:
    'Returns your payments, what each of them bought, and the deposits to your wallets, newest first. Use it to find out whether you have paid something already.',
  input: inputOf({
    wallet: Type.Optional(Type.String({ description: 'Only entries of the wallet with this address.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LEDGER_PAGE_MAX,
        description: `How many entries to return. By default ${PAGE_DEFAULT}.`,
      }),
    ),
    starting_after: Type.Optional(
      Type.String({ description: 'The id of the last entry of the previous page, to read the next page.' }),
    ),
    agent_id: AgentIdInput,
  }),
  output: outputOf({
    entries: list(EntrySchema, { description: 'The entries, newest first.' }),
    has_more: Type.Boolean({ description: 'Whether there are older entries.' }),
  }),
  annotations: READ_HINTS,
  requirements: { bucket: 'default' },
  async run(ctx, { caller, args }) {
    const wallet = parseWallet(args.wallet)
    const boundAgentId = await chooseAgent(ctx, caller, args.agent_id)
    const { workspaceId, mode } = caller
    const page = await listLedger(ctx, {
      ...{ workspaceId, mode, boundAgentId },
      filter: { agentId: null, wallet, types: null, createdAfter: null, createdBefore: null },
      startingAfter: args.starting_after ?? null,
      limit: args.limit ?? PAGE_DEFAULT,
    })
    if (page.entries.length === 0) await checkAgentExists(ctx, caller, boundAgentId)
    // Without this check, a model that has mistyped the address would believe that it has paid nothing.
    if (wallet !== null && args.starting_after === undefined && page.entries.length === 0) {
      await checkWalletVisible(ctx, { workspaceId, mode, boundAgentId, address: wallet })
    }
    const payments = page.entries.filter((entry) => 'kind' in entry)
    const purchases = await findPurchasesOf(ctx, workspaceId, payments)
    const entries = page.entries.map((entry) => formatEntry(entry, purchases.get(entry.id)))
    const older = page.hasMore ? ' There are older ones.' : ''
    const summary = `Entries in this list, newest first: ${page.entries.length}.${older}`
    return { summary, members: { entries, has_more: page.hasMore } }
  },
})

function formatEntry(entry: LedgerEntry, purchase: Purchase | undefined) {
  const { idempotency_key: purchaseId, memo, ...rest } = formatLedgerEntry(entry)
  const bought = purchase === undefined ? null : formatBought(purchase)
  return { ...rest, purchase_id: purchaseId, memo: markUntrusted(memo), purchase: bought }
}

function parseWallet(text: string | undefined): Address | null {
  const address = text === undefined ? null : parseAddress(text)
  if (text === undefined || address !== null) return address
  throw invalid([{ path: 'wallet', message: 'must be the address of a wallet: 0x and 40 hexadecimal digits' }])
}
