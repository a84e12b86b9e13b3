import {
  PROBLEM_CODES,
  PROBLEM_STATUS,
  type ProblemCode,
  type ProblemType,
} from '../../../../server/src/values/problem.ts'
import { TOOL_CODES } from '../../../../server/src/mcp/tool-failure.ts'
import { codeOf, type Contract, type Schema } from './contract.ts'
import { listMembers, tableRow } from './describe-schema.ts'
import { CODE_ADVICE, TOOL_ADVICE, TYPE_ADVICE } from './error-advice.ts'

const INTRODUCTION = `Every error has the same body:

\`\`\`json
{
  "error": {
    "type": "forbidden",
    "message": "The amount is over the grant's per-payment limit. Pay less, or ask the owner of the wallet for a grant with a higher limit.",
    "code": "amount_too_large",
    "details": { "max_per_tx_usdc": "10", "requested": "11" }
  }
}
\`\`\`

- \`type\` decides the HTTP status.
- \`code\` says exactly what happened. Some errors have only a type.
- \`details\` has values for a program, such as the limit. The reference of the API says which codes each request can return, for example [of payments](payments.md) and [of purchases](purchases.md).
- \`message\` is for people. Its wording can change, so do not compare it.
- Ignore types, codes and members that you do not know. New ones can be added.

The header \`Request-Id\` is in every response. The operator finds the request in the log by this id.

**If the outcome of a payment is unknown** (status 500 or more, or no response at all), send the same request with the same \`idempotency_key\` again. It never pays twice. See [Retries](../retries.md).
`

/** Writes the page with all errors, from the registry that the service itself uses, and `openapi.json`. */
export function writeErrorReference(openapi: string) {
  const { components } = JSON.parse(openapi) as Contract
  const schemas = new Map(Object.entries(components.schemas).map(([name, schema]) => [codeOf(name), schema]))
  const codes = Object.keys(PROBLEM_CODES) as ProblemCode[]
  const [ofApi, others] = [codes.filter((code) => schemas.has(code)), codes.filter((code) => !schemas.has(code))]
  const types = Object.entries(PROBLEM_STATUS) as [ProblemType, number][]
  const rows = types.map(([type, status]) => tableRow([`\`${type}\``, String(status), TYPE_ADVICE[type]]))
  const anchors = types.map(([type]) => `### \`${type}\`\n\nStatus ${PROBLEM_STATUS[type]}. ${TYPE_ADVICE[type]}\n`)
  return {
    path: 'reference/errors',
    title: 'Errors',
    description: 'Every error code, with its HTTP status, its meaning, and what to do about it.',
    markdown: [
      INTRODUCTION,
      `## Types\n\n| type | status | what to do |\n| --- | --- | --- |\n${rows.join('\n')}\n`,
      `## Codes of the API\n\nAgents meet these codes, over \`/v1\` and through the MCP tools.\n\n${ofApi.map((code) => writeCode(code, schemas.get(code))).join('\n')}`,
      `## Codes of the MCP tools\n\nOnly the MCP tools return these codes. The member \`next\` of the error says the same to the model.\n\n${TOOL_CODES.map((code) => `### \`${code}\`\n\n${TOOL_ADVICE[code]}\n`).join('\n')}`,
      `## Codes of the dashboard and the authorization server\n\nPeople meet these codes, and the control API of the sandbox returns some of them.\n\n${others.map((code) => writeCode(code)).join('\n')}`,
      `## Errors without a code\n\n${anchors.join('\n')}`,
    ].join('\n'),
  }
}

function writeCode(code: ProblemCode, schema?: Schema): string {
  const [type, message] = PROBLEM_CODES[code]
  const members = listMembers(schema?.properties?.['details'] ?? {})
  const details =
    members.length === 0
      ? ''
      : `\n| member of \`details\` | type | meaning |\n| --- | --- | --- |\n${members.join('\n')}\n`
  return `### \`${code}\`\n\nStatus ${PROBLEM_STATUS[type]}, type \`${type}\`. ${message}\n\n**What to do:** ${CODE_ADVICE[code]}\n${details}`
}
