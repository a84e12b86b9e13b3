import { Type } from 'typebox'
import { LEDGER_ENTRY_TYPES, LEDGER_PAGE_DEFAULT, LEDGER_PAGE_MAX } from '../domain/reports/ledger/ledger-entry.ts'
import type { LedgerRequest } from '../domain/reports/ledger/list-ledger.ts'
import { parseAddress } from '../values/address.ts'
import { parseAgentId } from '../values/agent-id.ts'
import { isId } from '../values/ids.ts'
import { isoTime } from '../values/schema-fields.ts'
import { createQueryReader, parseNames } from './read-query.ts'

/** Only describes the query of `GET /v1/ledger` in `openapi.json`. `parseLedgerQuery` parses the query. */
export const LedgerQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LEDGER_PAGE_MAX,
      default: LEDGER_PAGE_DEFAULT,
      description: 'Entries per page.',
    }),
  ),
  starting_after: Type.Optional(
    Type.String({ description: 'The id of the last entry of the previous page. The page starts after that entry.' }),
  ),
  agent_id: Type.Optional(
    Type.String({
      description: 'Only payments of this agent. Deposits and withdrawals have no agent, so they are left out.',
    }),
  ),
  wallet: Type.Optional(Type.String({ description: 'Only entries of the wallet with this EVM address.' })),
  type: Type.Optional(
    Type.String({
      description: `Types of entries, separated by commas: ${LEDGER_ENTRY_TYPES.join(', ')}. The default is all of them.`,
      examples: ['payment,deposit'],
    }),
  ),
  created_after: Type.Optional(isoTime('Entries at or after this time, which must have a UTC offset.')),
  created_before: Type.Optional(isoTime('Entries before this time, which must have a UTC offset.')),
})

type ParsedQuery = Pick<LedgerRequest, 'filter' | 'startingAfter' | 'limit'>

/** Parses the query of `GET /v1/ledger`. Throws a 400 that lists every invalid or unknown parameter. */
export function parseLedgerQuery(query: unknown): ParsedQuery {
  const { read, readTime, readLimit, checkAll } = createQueryReader(query)
  const parsed = {
    filter: {
      agentId: read('agent_id', parseAgentId, 'must be the id of an agent'),
      wallet: read('wallet', parseAddress, 'must be the EVM address of a wallet'),
      types: read(
        'type',
        (text) => parseNames(text, LEDGER_ENTRY_TYPES),
        `must be one or more of ${LEDGER_ENTRY_TYPES.join(', ')}, separated by commas`,
      ),
      createdAfter: readTime('created_after'),
      createdBefore: readTime('created_before'),
    },
    startingAfter: read('starting_after', parseEntryId, 'must be the id of an entry'),
    limit: readLimit('limit', { max: LEDGER_PAGE_MAX, byDefault: LEDGER_PAGE_DEFAULT }),
  }
  checkAll()
  return parsed
}

function parseEntryId(text: string): string | null {
  return isId('payment', text) || isId('deposit', text) ? text : null
}
