/** The parts of Eleventy that the build uses. The package declares no types. */
declare module '@11ty/eleventy' {
  /** A part of a Markdown document, as markdown-it describes it. */
  export interface Token {
    type: string
    tag: string
    content: string
    info: string
    children: readonly Token[] | null
    attrGet(name: string): string | null
    attrSet(name: string, value: string): void
  }

  export interface Markdown {
    readonly core: { readonly ruler: { push(name: string, rule: (state: { tokens: readonly Token[] }) => void): void } }
    readonly renderer: {
      readonly rules: Record<string, (tokens: readonly Token[], index: number) => string>
    }
    set(options: { html: boolean; linkify: boolean; typographer: boolean }): void
  }

  export interface UserConfig {
    addGlobalData(name: string, value: unknown): void
    addTemplate(path: string, content: string): void
    addTransform(name: string, transform: (this: { page: { url: string } }, content: string) => string): void
    amendLibrary(extension: string, amend: (markdown: Markdown) => void): void
    setLayoutsDirectory(path: string): void
    setTemplateFormats(formats: readonly string[]): void
  }

  interface Options {
    readonly quietMode: boolean
    readonly config: (config: UserConfig) => void
  }

  export class Eleventy {
    constructor(input: string, output: string, options: Options)
    write(): Promise<unknown>
  }
}
