import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A piece of code from a docstring or from the README. */
export interface Example {
  /** Where it is, such as `payments.ts, line 34`. */
  readonly title: string
  readonly code: string
}

const SOURCES = new URL('../src/', import.meta.url)
const README = new URL('../README.md', import.meta.url)
const BLOCK_PATTERN = /^( *(?:\* )?)```ts\n([\s\S]*?)^\1```$/gm

/** Reads every example of the public members, and every piece of TypeScript in the README. */
export function readExamples(): readonly Example[] {
  const sources = readdirSync(SOURCES)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => new URL(name, SOURCES))
  return [...sources, README].flatMap(readBlocks)
}

function readBlocks(file: URL): Example[] {
  const text = readFileSync(file, 'utf8')
  const name = fileURLToPath(file).replace(/.*[/\\]/, '')
  return [...text.matchAll(BLOCK_PATTERN)].map(({ 1: indent = '', 2: block = '', index }) => ({
    title: `${name}, line ${text.slice(0, index).split('\n').length}`,
    code: block
      .split('\n')
      .map((line) => line.slice(Math.min(indent.length, line.length)))
      .join('\n'),
  }))
}
