import { after } from 'node:test'

interface Closable {
  close(): Promise<unknown>
}

/** The shared objects by name. The test files of a folder run in one process (`scripts/test.ts`), which has this map. */
const shared = new Map<string, Promise<Closable>>()
after(async () => {
  for (const opening of shared.values()) await (await opening.catch(() => null))?.close()
})

/**
 * Opens an object that all test files of a folder share, and closes it after the last test. Callers with the same
 * `name` must pass the same `open`.
 */
export function share<Shared extends Closable>(name: string, open: () => Promise<Shared>): Promise<Shared> {
  const opening = (shared.get(name) as Promise<Shared> | undefined) ?? open()
  shared.set(name, opening)
  return opening
}
