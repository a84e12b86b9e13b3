import { banInCode, isServer, isShipped, type Rule } from '../rule.ts'

// Rules about what a file may read from its surroundings: the environment, the clock, random numbers.

const CONFIG_FILES = [
  'server/src/config.ts',
  'sandbox/src/config.ts',
  'sandbox/src/enclave/config.ts',
  'sandbox/src/seller/config.ts',
]
const CLOCK_FILE = 'server/src/lib/clock.ts'
const MONEY_FILE = 'server/src/values/money.ts'
/**
 * The files of the server that handle no amounts of money. In all others, a floating-point number could be an amount
 * (D19).
 */
const MONEY_FREE_PATTERN = /^server\/src\/doctor\//
const AMOUNT_WORDS = '(?:amount|micro|usdc|cap|spent|balance|allowance|maxPerTx)'

/**
 * Matches any use of `process` except a property with a fixed name. After `const p = process`, we could not find out
 * which properties are read.
 */
const BARE_PROCESS = String.raw`(?<![.\w$])process\b(?!\s*(?:\?\.|\.)\s*\w|\s*:)`
const READS_ENVIRONMENT = String.raw`\bprocess\s*(?:\?\.|\.)\s*(?:env|loadEnvFile)\b|\bimport\s*\.\s*meta\s*\.\s*env\b`

export const ENVIRONMENT: Rule = {
  name: 'the environment is read in config.ts only',
  check: (tree) => [
    ...banEnvironment(new RegExp(`${READS_ENVIRONMENT}|${BARE_PROCESS}`), 'server/').check(tree),
    // The sandbox may pass its whole environment on to a child process without reading it.
    ...banEnvironment(new RegExp(`(?<!\\.\\.\\.)(?:${READS_ENVIRONMENT})|${BARE_PROCESS}`), 'sandbox/').check(tree),
  ],
}

export const NO_PROCESS_IMPORT: Rule = {
  name: 'nothing imports node:process, where the environment would escape the rule above',
  check: (tree) =>
    tree.modules
      .filter(isShipped)
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier }) => /^(?:node:)?process$/.test(specifier))
          .map(({ line }) => ({ path, line, message: 'an import of node:process: use the global `process`' })),
      ),
}

export const ONE_CLOCK = banInCode({
  name: 'the server reads the clock in lib/clock.ts only',
  pattern:
    /\bDate\s*(?:\.\s*now\b|\[\s*['"`])|\bnew\s+Date\b\s*(?:\(\s*\)|(?!\s*\())|(?<!new\s+|[.\w$])Date\s*\(|\}\s*=\s*Date\b|\bTemporal\s*\.\s*Now\b|\bperformance\s*\.\s*\w+|\}\s*=\s*performance\b|\bprocess\s*\.\s*(?:hrtime|uptime)\b/,
  instead: 'take `now` as an argument, or a Clock of lib/clock.ts from the context (D49)',
  holdsIn: (module) => isServer(module) && module.path !== CLOCK_FILE,
})

export const NAMED_IMPORTS = banInCode({
  name: 'every import names its file, so that the rules can see it',
  pattern: /\bcreateRequire\b|(?<![.\w$])require\s*\(|(?<![.\w$])import\s*\(\s*(?!['"\s])/,
  instead: 'import the file by a specifier that is written out',
  holdsIn: isServer,
})

export const NO_MATH_RANDOM = banInCode({
  name: 'nothing is made of Math.random',
  pattern: /\bMath\s*\.\s*random\b|\bMath\s*\[|\}\s*=\s*Math\b/,
  instead: 'ids and secrets come from lib/ids.ts or randomBytes of node:crypto, jitter from randomInt',
  holdsIn: isShipped,
})

export const NO_FLOATS = banInCode({
  name: 'no floating-point number ever holds money',
  pattern: new RegExp(
    String.raw`\bparseFloat\b|\.toFixed\b|\b(?:Number|Number\.parseInt|parseInt)\s*\([^\n]*${AMOUNT_WORDS}[^\n]*\)`,
    'i',
  ),
  instead: 'amounts are bigint micro-USDC: parseAmount and formatAmount of values/money.ts, or BigInt (D19)',
  holdsIn: (module) => isServer(module) && !MONEY_FREE_PATTERN.test(module.path),
})

export const NO_NUMBERS = banInCode({
  name: 'values/money.ts makes no number at all',
  pattern: /\bNumber\s*\(|\bNumber\.parse\w+|\bparseInt\b|(?<=[=(,:?&|]\s*)\+\s*[\w(]/,
  instead: 'BigInt (D19)',
  holdsIn: (module) => module.path === MONEY_FILE,
})

function banEnvironment(pattern: RegExp, workspace: string): Rule {
  return banInCode({
    name: `the environment in ${workspace}`,
    pattern,
    instead: `read it once in ${CONFIG_FILES.join(' or ')} and hand the typed value over`,
    holdsIn: (module) => isShipped(module) && module.path.startsWith(workspace) && !CONFIG_FILES.includes(module.path),
  })
}
