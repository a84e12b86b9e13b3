import { after } from 'node:test'

interface Closable {
  close(): Promise<unknown>
}

/** The shared objects by name. All files of a process import the same instance of this module. */
const shared = new Map<string, Promise<Closable>>()
after(async () => {
  for (const opening of shared.values()) await (await opening.catch(() => null))?.close()
})

/**
 * Opens an object once for all test files in this process, and closes it when the last of them has ended. Calls with
 * the same name must pass the same `open`.
 */
export function share<Shared extends Closable>(name: string, open: () => Promise<Shared>): Promise<Shared> {
  const opening = (shared.get(name) as Promise<Shared> | undefined) ?? open()
  shared.set(name, opening)
  return opening
}
