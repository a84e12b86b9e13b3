import { useState } from 'react'

/** The key under which the browser stores the choice for one wallet. */
function keyOf(address: string): string {
  return `bursar.shows-address.${address.toLowerCase()}`
}

/** Whether the user has chosen to see the deposit address of a wallet at risk. Remembered in this browser. */
export function useRiskChoice(address: string): { readonly isAccepted: boolean; readonly accept: () => void } {
  const [isAccepted, setAccepted] = useState(() => read(address))
  return {
    isAccepted,
    accept: () => {
      setAccepted(true)
      try {
        localStorage.setItem(keyOf(address), '1')
      } catch {
        // The browser stores nothing, so the page asks again next time.
      }
    },
  }
}

function read(address: string): boolean {
  try {
    return localStorage.getItem(keyOf(address)) !== null
  } catch {
    return false
  }
}
