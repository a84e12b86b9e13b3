import { BatchRefusal, NodeBehind, NodeFault } from './errors.ts'

/**
 * How nodes refuse a call or a batch. JSON-RPC reserves no codes for this, and each implementation chose its own, so the
 * message decides if a code has several meanings. This only decides how a node is asked again: a refusal that is not
 * recognized counts as an ordinary fault.
 */

/**
 * Codes with which nodes refuse a whole batch:
 * - -32600, invalid request: geth and Besu, for more than 1,000 calls
 * - -32005, limit exceeded: Nethermind
 * - -32010: nodes on jsonrpsee (reth)
 * - -32014: proxyd, in front of most public nodes of the OP stack, for more than 10 calls
 */
const BATCH_CODES: ReadonlySet<unknown> = new Set([-32600, -32005, -32010, -32014])
const BATCH_WORDS = /\bbatch\b|too (?:large|big)|too many (?:rpc )?(?:calls|requests in)/i
/** How geth refuses the remaining calls of a batch whose responses have become too long. */
const RESPONSE_WORDS = /response too large|\bbatch (?:request )?(?:limit|size|too)|\bbatch of more than\b/i
/** A refusal because of the rate, not the size: smaller batches would only mean more requests. */
const RATE_WORDS = /\brate\b|per (?:second|minute|hour|day)|daily|quota|capacity|compute units|throttl|credits/i
/** How nodes refuse a block that they do not have yet. geth and Erigon: header not found, block range extends beyond current head block. reth: unknown block number. */
const BEHIND_WORDS =
  /header not found|header for hash not found|unknown block|block (?:number |height )?(?:\S+ )?(?:is )?not (?:found|available)|beyond (?:the )?(?:current )?head|block ?out ?of ?range|future block/i

type RpcError = { readonly code: unknown; readonly words: string }

/** Classifies the error of one call, in a batch that the node otherwise accepted. */
export function readCallRefusal(refused: Readonly<Record<string, unknown>>, { calls }: { calls: number }): NodeFault {
  const { code, words } = readError(refused)
  const message = `refused the call with code ${formatCode(code)}`
  if (calls > 1 && RESPONSE_WORDS.test(words) && !RATE_WORDS.test(words)) return new BatchRefusal(message)
  return BEHIND_WORDS.test(words) ? new NodeBehind(message) : new NodeFault(message)
}

/** Classifies the single error with which a node refused a whole batch. */
export function readBatchRefusal(refused: Readonly<Record<string, unknown>>, { calls }: { calls: number }): NodeFault {
  const { code, words } = readError(refused)
  const message = `refused the batch with code ${formatCode(code)}`
  const isSize = (BATCH_CODES.has(code) || BATCH_WORDS.test(words)) && !RATE_WORDS.test(words)
  return calls > 1 && isSize ? new BatchRefusal(message) : new NodeFault(message)
}

function readError(refused: Readonly<Record<string, unknown>>): RpcError {
  const message = refused['message']
  return { code: refused['code'], words: typeof message === 'string' ? message : '' }
}

/** Our messages do not include the node's message, because it may repeat an address with its key. */
function formatCode(code: unknown): string {
  return typeof code === 'number' ? String(code) : 'unknown'
}
