import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'

/** Within so long after its end the same deed is not begun again: the second half of a double click. */
const REST_MS = 500

/**
 * A mutation for a button or a form: it is begun once, however fast somebody clicks. (What `isPending` says is drawn a
 * moment after the click, too late for a second one.)
 */
export function useAction<Data = unknown, Variables = void>(
  options: UseMutationOptions<Data, Error, Variables>,
): UseMutationResult<Data, Error, Variables> {
  const mutation = useMutation(options)
  const isTaken = useRef(false)
  const rests = useRef<{ readonly of: unknown } | null>(null)
  const { mutateAsync } = mutation
  const mutate = useCallback<typeof mutation.mutate>(
    (...order) => {
      const [of] = order
      if (isTaken.current || (rests.current !== null && isLike(rests.current.of, of))) return
      isTaken.current = true
      const free = () => {
        isTaken.current = false
      }
      const rest = () => {
        const done = { of }
        free()
        rests.current = done
        setTimeout(() => {
          if (rests.current === done) rests.current = null
        }, REST_MS)
      }
      // The mutation itself tells the error; here it only ends, and may be tried again at once.
      mutateAsync(...order).then(rest, free)
    },
    [mutateAsync],
  )
  return { ...mutation, mutate }
}

/** What a form gathers is put together anew each time, and taken to be the same. */
function isLike(before: unknown, now: unknown): boolean {
  return Object.is(before, now) || (typeof now === 'object' && now !== null)
}
