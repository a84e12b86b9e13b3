import { banInCode, isServer } from '../rule.ts'

// Rules about texts and JSON that somebody else wrote.

/** Files that may cut a text by its code units, or that cut a list of characters. Each has its reason. */
const CUTTING_FILES: ReadonlyMap<string, string> = new Map([
  ['server/src/lib/cut-text.ts', 'it is the helper'],
  ['server/src/lib/ids.ts', 'an id is ASCII'],
  ['server/src/domain/sessions/session.ts', 'a hash is ASCII'],
  ['server/src/domain/workspaces/workspace.ts', 'a slug is ASCII'],
  ['server/src/provider-check/check-signatures.ts', 'the code of a contract is ASCII'],
  ['server/src/provider-check/run-provider-check.ts', 'a random id is ASCII'],
  ['sandbox/src/enclave/decide-policy.ts', 'calldata is ASCII'],
  ['sandbox/src/demo/printer.ts', 'the demo prints answers of its own workspace'],
  ['dashboard/src/format/address.ts', 'an address is ASCII'],
  ['signer/src/clean-text.ts', 'it cuts a list of characters, because the signer page imports nothing'],
])

export const WHOLE_CHARACTERS = banInCode({
  name: 'no text is cut inside a character',
  pattern:
    /(?<!toISOString\(\))\.(?:slice|substring|substr)\s*\(\s*0\s*,(?!\s*-)\s*(?:\d[\d_]+|[^()]*(?:CHARS|CODE_POINTS)[^()]*)\)|\.(?:substring|substr)\s*\(/,
  instead: 'cutText or shortenText of lib/cut-text.ts, which count characters; or name the file in CUTTING_FILES',
  holdsIn: ({ path, isTest }) => /^\w+(?:\/site)?\/src\//.test(path) && !isTest && !CUTTING_FILES.has(path),
})

/** Files that parse JSON without a limit for its nesting. Each has its reason. */
const TRUSTING_FILES: ReadonlyMap<string, string> = new Map([
  ['server/src/lib/parse-json.ts', 'it is the helper'],
  ['server/src/domain/purchases/seal-purchase.ts', 'we wrote and sealed it, and its parts have limits'],
  ['server/src/mcp/describe-tool.ts', 'it copies a schema of ours'],
  ['server/src/api/routes/events.ts', 'we wrote the event'],
  ['server/src/console/routes/events.ts', 'we wrote the event'],
  ['server/src/enclave/privy/enclave-client.ts', 'bounded-fetch.ts has checked the response'],
  ['server/src/provider-check/provider-wire.ts', 'only an operator starts this program'],
])

export const BOUNDED_JSON = banInCode({
  name: 'JSON of others has a limit for its nesting',
  pattern: /\bJSON\s*\.\s*parse\b|\}\s*=\s*JSON\b|\.json\s*\(\s*\)/,
  instead: 'parseJson of lib/parse-json.ts; or name the file in TRUSTING_FILES, if we wrote the JSON',
  holdsIn: (module) => isServer(module) && !TRUSTING_FILES.has(module.path),
})

export const ARRIVED_BODIES = banInCode({
  name: 'a parser reads the body that has arrived',
  pattern: /\bparseAs\b/,
  instead: 'readArrivedBody of http/arriving-bodies.ts: Fastify would wait for a body that was read already',
  holdsIn: ({ path }) => /^(?:server|sandbox)\/src\//.test(path),
})
