import { BatchRefusal, NodeBehind, NodeFault } from './errors.ts'

/**
 * What nodes say when they refuse a call or a batch. No code is reserved for any of it, and each implementation chose its
 * own, so that the words decide where codes mean several things. They only decide how a node is asked again: whatever
 * is not recognised is a plain fault.
 */

/**
 * The whole batch is refused with these:
 * - -32600, invalid request: geth and Besu, for more than 1,000 calls
 * - -32005, limit exceeded: Nethermind
 * - -32010: nodes on jsonrpsee (reth)
 * - -32014: proxyd, in front of most public nodes of the OP stack, for more than 10 calls
 */
const BATCH_CODES: ReadonlySet<unknown> = new Set([-32600, -32005, -32010, -32014])
const BATCH_WORDS = /\bbatch\b|too (?:large|big)|too many (?:rpc )?(?:calls|requests in)/i
/** geth, when the answers of a batch have grown too long: those that are left are refused with it. */
const ANSWER_WORDS = /response too large|\bbatch (?:request )?(?:limit|size|too)|\bbatch of more than\b/i
/** A rate is not a size: smaller batches would only make more requests of it. */
const RATE_WORDS = /\brate\b|per (?:second|minute|hour|day)|daily|quota|capacity|compute units|throttl|credits/i
/** geth and Erigon: header not found, block range extends beyond current head block. reth: unknown block number. */
const BEHIND_WORDS =
  /header not found|header for hash not found|unknown block|block (?:number |height )?(?:\S+ )?(?:is )?not (?:found|available)|beyond (?:the )?(?:current )?head|block ?out ?of ?range|future block/i

type RpcError = { readonly code: unknown; readonly words: string }

/** `refused` is the error with which a node refused one call of a batch that it otherwise answered. */
export function readCallRefusal(refused: Readonly<Record<string, unknown>>, { calls }: { calls: number }): NodeFault {
  const { code, words } = readError(refused)
  const told = `refused the call with code ${formatCode(code)}`
  if (calls > 1 && ANSWER_WORDS.test(words) && !RATE_WORDS.test(words)) return new BatchRefusal(told)
  return BEHIND_WORDS.test(words) ? new NodeBehind(told) : new NodeFault(told)
}

/** `refused` is the only error with which a node refused a whole batch; null when it gave none, or none that reads as one. */
export function readBatchRefusal(refused: Readonly<Record<string, unknown>>, { calls }: { calls: number }): NodeFault {
  const { code, words } = readError(refused)
  const told = `refused the batch with code ${formatCode(code)}`
  const isSize = (BATCH_CODES.has(code) || BATCH_WORDS.test(words)) && !RATE_WORDS.test(words)
  return calls > 1 && isSize ? new BatchRefusal(told) : new NodeFault(told)
}

function readError(refused: Readonly<Record<string, unknown>>): RpcError {
  const message = refused['message']
  return { code: refused['code'], words: typeof message === 'string' ? message : '' }
}

/** The words stay out of messages: they are the node's, and may repeat an address with its key. */
function formatCode(code: unknown): string {
  return typeof code === 'number' ? String(code) : 'unknown'
}
