import { after } from 'node:test'

interface Closable {
  close(): Promise<unknown>
}

/** By name. The files of a process are imported together, so they meet in this module. */
const shared = new Map<string, Promise<Closable>>()
after(async () => {
  for (const opening of shared.values()) await (await opening.catch(() => null))?.close()
})

/**
 * Opens something once for all test files in this process, and closes it when the last of them has ended. The name says
 * what it is: the same name must always come with the same way to open it.
 */
export function share<Shared extends Closable>(name: string, open: () => Promise<Shared>): Promise<Shared> {
  const opening = (shared.get(name) as Promise<Shared> | undefined) ?? open()
  shared.set(name, opening)
  return opening
}
