import { useState } from 'react'
import { useLocation } from 'react-router'

/** A link with this hash opens the form of a page. */
const NEW = '#new'

/** Whether the form of a page is open. A link with the hash `#new` opens it, also while the page is shown. */
export function useNewForm(): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const { hash, key } = useLocation()
  const [isOpen, setOpen] = useState(hash === NEW)
  const [seen, setSeen] = useState(key)
  if (key !== seen) {
    setSeen(key)
    if (hash === NEW) setOpen(true)
  }
  return [isOpen, setOpen]
}
