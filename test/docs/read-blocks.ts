/** A block of code on a page of the documentation. */
export interface Block {
  readonly language: string
  readonly code: string
  /** Why the tests cannot run the block, or null if they run it. */
  readonly notRun: string | null
  /** The error statuses that the block's requests are expected to get. */
  readonly errors: readonly number[]
  /** The name under which the reader saves the block, or null. */
  readonly file: string | null
}

const BLOCK = /^```(?<info>\S.*)\n(?<code>[^]*?)^```$/gm

/**
 * Reads the blocks of code of a page in their order. In the first line of a block, the text after the language is for
 * the test.
 */
export function readBlocks(markdown: string): readonly Block[] {
  return [...markdown.matchAll(BLOCK)].map(({ groups }) => {
    const { info = '', code = '' } = groups ?? {}
    const settings = new Map([...info.matchAll(/(\S+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))
    return {
      language: info.split(/\s/)[0] ?? '',
      code,
      notRun: settings.get('not-run') ?? null,
      errors: (settings.get('errors') ?? '').split(' ').filter(Boolean).map(Number),
      file: settings.get('file') ?? null,
    }
  })
}
