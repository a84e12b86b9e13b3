/** The part of `localStorage` that this page uses. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/**
 * Returns the storage for what the page remembers between visits. If the browser lets this page store nothing, for
 * example in a private window, the page remembers only until it is closed. It then works, but with fewer checks.
 */
export function openStore(openStorage: () => Store): Store {
  const own = new Map<string, string>()
  const memory: Store = {
    getItem: (name) => own.get(name) ?? null,
    setItem: (name, value) => void own.set(name, value),
    removeItem: (name) => void own.delete(name),
    key: (index) => [...own.keys()][index] ?? null,
    get length() {
      return own.size
    },
  }
  try {
    const storage = openStorage()
    storage.setItem('probe', '')
    return storage
  } catch {
    return memory
  }
}
