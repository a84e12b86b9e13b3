import { CITATIONS_RESOLVE, NAMED_FILES_EXIST, NO_BARE_CITATIONS } from './citations.ts'
import { broken, file } from './sample.ts'

/** Joined from two parts, so that this file itself contains no citation. */
const UNKNOWN_RULE = ['D', '999'].join('')
const RULE_22 = ['D', '22'].join('')
const RFC = ['RFC', '6749'].join(' ')
const DECISION_12 = ['decision', '0012'].join(' ')
const PART_7 = ['Specification', 'part 7'].join(', ')
const UNKNOWN_DECISION = ['decision', '9999'].join(' ')
const UNKNOWN_PART = ['specification', 'part 99'].join(', ')
const DEFINED = { 'docs/specification.md': '## 1. What\n<a id="d22"></a>', 'docs/decisions/0012-attempts.md': '' }

const STORED = 'server/src/domain/grants/policy.ts'

/** Samples for the rules about the citations in comments and documents. */
export const CITATION_SAMPLES = [
  {
    rule: CITATIONS_RESOLVE,
    fails: [
      broken('server/src/lib/a.ts', `// Reserve first (${UNKNOWN_RULE}).`),
      broken('docs/a.md', `See ${UNKNOWN_RULE}a.`),
      broken('server/migrations/0001_core.sql', `-- Why: ${UNKNOWN_DECISION}.`),
      broken('dashboard/src/a.tsx', `/** What a plan gives (${UNKNOWN_PART}). */`),
      broken('docs/specification.md', '<a id="d22"></a> <a id="d23"></a> <a id="d22"></a>'),
    ],
    passes: [
      { ...DEFINED, 'server/src/lib/a.ts': '// D22, decision 0012, specification, part 1\nconst address = "0xAD22"' },
      file('openapi.json', UNKNOWN_RULE),
    ],
  },
  {
    rule: NO_BARE_CITATIONS,
    fails: [
      broken('server/src/lib/a.ts', `/** ${RULE_22}. */`),
      broken('server/src/lib/a.ts', `  // ${RULE_22}, ${RULE_22}a.`),
      broken('server/src/lib/a.ts', `const a = 1; // ${DECISION_12}`),
      broken('server/src/lib/a.ts', `/**\n * ${PART_7}.\n */`),
      broken('server/src/lib/a.ts', `/** ${RFC}, sections 4.1.2.1 and 5.2. */`),
      broken('server/migrations/0001_core.sql', `-- ${RULE_22}`),
    ],
    passes: [
      file(
        'server/src/lib/a.ts',
        '/** Reserves before it signs (D22). */\n// The key is sent once (RFC 6749, section 5.2).',
      ),
      file('server/src/lib/a.ts', "// What follows is\n// (D22).\nget('http://a/D22')"),
      file('docs/a.md', '-- D22'),
    ],
  },
  {
    rule: NAMED_FILES_EXIST,
    fails: [
      broken('docs/a.md', 'See `grants/gone.ts`.'),
      broken('docs/a.md', 'See `gone.ts`.'),
      broken('README.md', 'See `server/src/gone/`.'),
      broken('CONTRIBUTING.md', 'Edit `grants/gone.ts`.'),
    ],
    passes: [
      {
        'docs/a.md': '`grants/policy.ts`, `server/src/`, `0001_….sql`, `policy.ts`, `text/plain`',
        [STORED]: '',
      },
      file('CONTRIBUTING.md', 'Write the verb in a file such as `find-grant.ts`.'),
    ],
  },
]
