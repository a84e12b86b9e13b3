import type { OutputOptions } from 'rolldown'

/**
 * What a bundle's text looks like: without comments, and with escapes for all characters that are not ASCII. V8 stores
 * a text with other characters in twice the memory, and takes longer to load it. Names and lines stay as they are, so
 * that people can read stack traces.
 */
export const SMALL_OUTPUT = {
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
} as const satisfies OutputOptions
