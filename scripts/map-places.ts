import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Returns a function that replaces places in bundles with places in the sources. A place is `<file>:<line>:<column>`,
 * as in a stack trace. `folder` is the absolute path of the folder with the bundles.
 *
 * Node itself can do this with `--enable-source-maps`. However, each process then parses the source maps of all its
 * modules, although only failures need them.
 */
export function createPlaceMapper(folder: string): (text: string) => string {
  const maps = new Map<string, SourceMap>()
  const names = [pathToFileURL(folder).href, folder, relative(process.cwd(), folder)].map(escapePattern)
  const places = new RegExp(`(?:${names.join('|')})/([\\w./-]+\\.mjs):(\\d+):(\\d+)`, 'g')

  const readMap = (name: string): SourceMap => {
    const map = maps.get(name) ?? new SourceMap(JSON.parse(readFileSync(join(folder, `${name}.map`), 'utf8')))
    maps.set(name, map)
    return map
  }

  const findSource = (place: string, name: string, line: string, column: string): string => {
    const entry = readMap(name).findEntry(Number(line) - 1, Number(column) - 1)
    if (!('originalSource' in entry)) return place
    const source = fileURLToPath(new URL(entry.originalSource, pathToFileURL(join(folder, name))))
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  }

  return (text) => text.replaceAll(places, findSource)
}

function escapePattern(text: string): string {
  return text.replaceAll(/[^\w/]/g, String.raw`\$&`)
}
