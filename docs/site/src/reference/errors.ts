import {
  PROBLEM_CODES,
  PROBLEM_STATUS,
  type ProblemCode,
  type ProblemType,
} from '../../../../server/src/values/problem.ts'
import { CODE_ADVICE, TYPE_ADVICE } from './error-advice.ts'
import { tableRow } from './describe-schema.ts'

const INTRODUCTION = `Every error has the same body:

\`\`\`json
{
  "error": {
    "type": "forbidden",
    "message": "The amount is over the grant's per-payment limit.",
    "code": "amount_too_large",
    "details": { "max_per_tx_usdc": "10", "requested": "11" }
  }
}
\`\`\`

- \`type\` decides the HTTP status.
- \`code\` says exactly what happened. Some errors have only a type.
- \`details\` has values for a program, such as the limit. The [reference](payments.md) says which codes each request can return, and \`openapi.json\` has the exact members.
- \`message\` is for people. Its wording can change, so do not compare it.
- Ignore types, codes and members that you do not know. New ones can be added.

The header \`Request-Id\` is in every response. The operator finds the request in the log by this id.

**If the outcome of a payment is unknown** (status 500 or more, or no response at all), send the same request with the same \`idempotency_key\` again. It never pays twice. See [Retries](../retries.md).
`

/** Writes the page with all errors, from the registry that the service itself uses. */
export function writeErrorReference() {
  const codes = Object.keys(PROBLEM_CODES) as ProblemCode[]
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
      `## Codes\n\n${codes.map(writeCode).join('\n')}`,
      `## Errors without a code\n\n${anchors.join('\n')}`,
    ].join('\n'),
  }
}

function writeCode(code: ProblemCode): string {
  const [type, message] = PROBLEM_CODES[code]
  return `### \`${code}\`\n\nStatus ${PROBLEM_STATUS[type]}, type \`${type}\`. ${message}\n\n**What to do:** ${CODE_ADVICE[code]}\n`
}
