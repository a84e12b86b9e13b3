import type { Rule, Violation } from '../rule.ts'
import { lineAt, type SourceTree } from '../source-tree.ts'

const SPECIFICATION = 'docs/specification.md'
/** The files in which people write citations. Generated files and data contain none. */
const CITING_PATTERN = /\.(?:tsx?|mjs|sql|md|css|sol)$/

const RULE_NUMBER = /\bD[1-9]\d*[a-z]?\b/g
const DECISION_NUMBER = /\b[Dd]ecisions? (?<numbers>\d{4}(?:(?:, | and |, and | to )\d{4})*)/g
const PART_NUMBER = /\b[Ss]pecification, parts? (?<numbers>\d+(?:(?:, | and )\d+)*)/g

/** The definition of each citation must be in the project, because readers look for it there and nowhere else. */
export const CITATIONS_RESOLVE: Rule = {
  name: 'every cited decision, rule and part is defined in docs, once',
  check: (tree) => {
    const targets = readTargets(tree)
    const unresolved = tree.texts
      .filter(({ path }) => CITING_PATTERN.test(path))
      .flatMap(({ path, text }) =>
        listCitations(text)
          .filter(({ target }) => !targets.has(target))
          .map(({ target, index }) => ({ path, line: lineAt(text, index), message: notDefined(target) })),
      )
    return [...unresolved, ...listRepeatedRules(tree)]
  },
}

/** Readers learn nothing from a number alone. A comment states its reason in words, and a number may follow. */
export const NO_BARE_CITATIONS: Rule = {
  name: 'no comment consists of a citation only',
  check: (tree) => tree.texts.filter(({ path }) => CITING_PATTERN.test(path)).flatMap(listBareCitations),
}

/** Matches the name of a file or folder in a document. */
const NAMED_FILE = /`(?<name>(?:[a-z][\w.-]*\/)*(?:[a-z][\w.-]*\.(?:tsx?|mjs|sql)|[\w.-]+\.md|[a-z][\w.-]*\/))`/g
/** A document that may name missing files: its instructions tell readers to create them. */
const RECIPES = 'CONTRIBUTING.md'
/** The file that only the build makes, and that is published for others under this name. */
const PUBLISHED = 'bursar-verify.mjs'

/** Readers look for a file by the name that a document gives, so the file must exist. */
export const NAMED_FILES_EXIST: Rule = {
  name: 'every file that a document names exists',
  check: (tree) => {
    const paths = tree.texts.map(({ path }) => `/${path}`)
    const exists = (name: string): boolean =>
      name === PUBLISHED ||
      paths.some((path) => (name.endsWith('/') ? path.includes(`/${name}`) : path.endsWith(`/${name}`)))
    return tree.texts
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(NAMED_FILE)]
          .map((match) => ({ name: match.groups?.['name'] ?? '', index: match.index }))
          .filter(({ name }) => !exists(name) && (path !== RECIPES || name.slice(0, -1).includes('/')))
          .map(({ name, index }) => ({
            path,
            line: lineAt(text, index),
            message: `\`${name}\` does not exist: name the file where it is now`,
          })),
      )
  },
}

interface Citation {
  readonly target: string
  readonly index: number
}

function notDefined(target: string): string {
  return `\`${target}\` is not defined: correct it, or describe it in ${SPECIFICATION} or docs/decisions`
}

const RULE_ANCHOR = /<a id="d(\d+[a-z]?)"><\/a>/g

/** Lists rules that the specification defines a second time. Two definitions can contradict each other. */
function listRepeatedRules({ texts }: SourceTree): Violation[] {
  return texts
    .filter(({ path }) => path === SPECIFICATION)
    .flatMap(({ path, text }) =>
      [...text.matchAll(RULE_ANCHOR)]
        .filter(({ index, 0: anchor }) => text.indexOf(anchor) < index)
        .map(({ index, 1: number }) => ({
          path,
          line: lineAt(text, index),
          message: `D${number} is defined twice: keep one definition`,
        })),
    )
}

function readTargets({ texts }: SourceTree): Set<string> {
  const specification = texts.find(({ path }) => path === SPECIFICATION)?.text ?? ''
  const anchors = [...specification.matchAll(RULE_ANCHOR)].map(([, number]) => `D${number}`)
  const parts = [...specification.matchAll(/^## (\d+)\. /gm)].map(([, number]) => `part ${number}`)
  const pages = texts.map(({ path }) => /^docs\/decisions\/(\d{4})-/.exec(path)?.[1]).map((page) => `decision ${page}`)
  return new Set([...anchors, ...parts, ...pages])
}

function listCitations(text: string): Citation[] {
  const rules = [...text.matchAll(RULE_NUMBER)].map((match) => ({ target: match[0], index: match.index }))
  const decisions = [...text.matchAll(DECISION_NUMBER)].flatMap((match) => expand(match, 'decision'))
  const parts = [...text.matchAll(PART_NUMBER)].flatMap((match) => expand(match, 'part'))
  return [...rules, ...decisions, ...parts].toSorted((left, right) => left.index - right.index)
}

function expand(match: RegExpExecArray, kind: string): Citation[] {
  const numbers = match.groups?.['numbers']?.match(/\d+/g) ?? []
  return numbers.map((number) => ({ target: `${kind} ${number}`, index: match.index }))
}

/** Matches a block comment, consecutive line comments, or a comment after code. */
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^[ \t]*(?:\/\/|--).*\n?)+|(?<=[;,{})\]] +)(?:\/\/|-- ).*$/gm
const COMMENT_SIGNS = /\/\*+|\*+\/|^[ \t]*\*|\/\/|--/gm
const CITED =
  /\bD[1-9]\d*[a-z]?\b|\bdecisions? \d{4}\b|\b\d{4}\b|\bspecification, parts? \d+(?:, rule \d+)?|\bRFC \d+\b|\b(?:sections?|appendix|parts?|rules?|step) [A-Z]?[\d.]*\d?\b|\b(?:and|to|of|see)\b|\b\d+(?:\.\d+)*\b/gi

function listBareCitations({ path, text }: { path: string; text: string }): Violation[] {
  if (path.endsWith('.md')) return []
  return [...text.matchAll(COMMENT)].flatMap((match) => {
    const comment = match[0].replaceAll(COMMENT_SIGNS, ' ')
    const holdsCitation = /\bD[1-9]\d*[a-z]?\b|\bdecisions? \d{4}\b|\bspecification, part|\bRFC \d/i.test(comment)
    if (!holdsCitation || /\p{L}/u.test(comment.replaceAll(CITED, ' '))) return []
    const line = lineAt(text, match.index)
    const message = `\`${comment.trim().replaceAll(/\s+/g, ' ')}\` says no reason: write it in words, then cite`
    return [{ path, line, message }]
  })
}
