import { banInCode, isServer, isShipped, type Rule } from '../rule.ts'

// What a file may not take from its surroundings.

const CONFIG_FILES = ['server/src/config.ts', 'sandbox/src/config.ts', 'sandbox/src/enclave/config.ts']
const CLOCK_FILE = 'server/src/lib/clock.ts'
const MONEY_FILE = 'server/src/values/money.ts'
/** Files that work on amounts, where a floating-point number would be money (D19). */
const MONEY_PATTERN = /^server\/src\/(?:values\/money\.ts$|domain\/)/
const AMOUNT_WORDS = '(?:amount|micro|usdc|cap|spent|balance|allowance|maxPerTx)'

export const ENVIRONMENT: Rule = {
  name: 'the environment is read in config.ts only',
  check: (tree) => [
    ...banEnvironment(/\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[/, 'server/').check(tree),
    // To pass the whole environment on to a child is not to read it.
    ...banEnvironment(/(?<!\.\.\.)\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[/, 'sandbox/').check(tree),
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
    /\bDate\s*\.\s*now\b|\bnew\s+Date\b\s*(?:\(\s*\)|(?!\s*\())|\bperformance\s*\.\s*\w+|\bprocess\s*\.\s*(?:hrtime|uptime)\b/,
  instead: 'take `now` as an argument, or a Clock of lib/clock.ts from the context (D49)',
  holdsIn: (module) => isServer(module) && module.path !== CLOCK_FILE,
})

export const NO_MATH_RANDOM = banInCode({
  name: 'nothing is made of Math.random',
  pattern: /\bMath\s*\.\s*random\b/,
  instead: 'ids and secrets come from lib/ids.ts or randomBytes of node:crypto, jitter from randomInt',
  holdsIn: isShipped,
})

export const NO_FLOATS = banInCode({
  name: 'no floating-point number ever holds money',
  pattern: new RegExp(
    String.raw`\bparseFloat\b|\.toFixed\b|\b(?:Number|Number\.parseInt|parseInt)\s*\([^)\n]*${AMOUNT_WORDS}[^)\n]*\)`,
    'i',
  ),
  instead: 'amounts are bigint micro-USDC: parseAmount and formatAmount of values/money.ts, or BigInt (D19)',
  holdsIn: (module) => MONEY_PATTERN.test(module.path) && !module.isTest,
})

export const NO_NUMBERS = banInCode({
  name: 'values/money.ts makes no number at all',
  pattern: /\bNumber\s*\(|\bNumber\.parse\w+|\bparseInt\b/,
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
